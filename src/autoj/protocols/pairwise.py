"""`pairwise`: the better of two responses, with a critique (paper, Table 16).

The class here also builds the Chinese prompt of the bilingual release and the verdict-only
variants, which force the answer's opening and score its possible continuations.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from autoj import critiques
from autoj.protocols._decisions import parse_decision
from autoj.protocols.base import AskedOnce, RequestBody, Subject, fill, load_text, whole_sentences
from autoj.records import (
    SHOWN,
    Case,
    Completion,
    Critique,
    Decision,
    Message,
    Reading,
    Shown,
    Unreadable,
    Verdict,
    Winner,
)


def choice_probabilities(logprobs: tuple[float, ...]) -> tuple[float, ...] | None:
    """Probabilities over the choices alone, from the log-probability of each whole string.

    None where they are undefined: a value is NaN, or no choice is possible.
    """
    top = max(logprobs)
    if any(math.isnan(logprob) for logprob in logprobs) or math.isinf(top):
        return None
    weights = [math.exp(logprob - top) for logprob in logprobs]
    total = sum(weights)
    return tuple(weight / total for weight in weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairwise(AskedOnce):
    """Compares two responses and writes a critique."""

    name: str
    aliases: tuple[str, ...] = ()
    language: Literal["en", "zh"] = "en"
    subject: Subject = "pair"
    gives_probabilities: bool = False
    reads_alone: bool = False

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The prompt of Table 16, byte for byte."""
        first, second = (case.responses[index].text for index in shown)
        values = {"query": case.query, "response_1": first, "response_2": second}
        content = fill(load_text(f"pairwise.{self.language}.txt"), values)
        return RequestBody(messages=(Message(role="user", content=content),))

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The last statement of a final decision."""
        return parse_decision(text, judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseVerdict(Pairwise):
    """Compares two responses without a critique: one prefill instead of hundreds of decoding steps.

    **Source:** section 6.4 of the paper, ablation (1): a judge that writes only the decision agrees
    with humans as often as one that writes a critique first (published: 55.0 against 54.8).
    """

    gives_probabilities: bool = True

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """Table 16 with the answer's opening forced and its continuations as choices."""
        # The opening ends before the space: tokenizers join a space to the word after it.
        names = critiques.decision_names(self.language)
        return RequestBody(
            messages=Pairwise.build(self, case, shown).messages,
            prefix=critiques.DECISION_OPENING[self.language],
            choices=tuple(names[page] for page in SHOWN),
        )

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The decision in a text that may lack the forced opening."""
        return parse_decision(text, judged, critiques.DECISION_OPENING[self.language])

    def read(self, completion: Completion, judged: Sequence[str] = ()) -> Reading:
        """The likeliest choice, with the probabilities of all three."""
        if completion.choice_logprobs is None:
            return self.parse(completion.text, judged)
        probabilities = choice_probabilities(completion.choice_logprobs)
        if probabilities is None:
            return Unreadable(reason="the choices have no probabilities")
        first, second, tie = probabilities
        return Decision(shown=_likeliest(first, second, tie), probabilities=(first, second, tie))

    def follow(self, case: Case, verdict: Verdict, shown: tuple[int, ...]) -> RequestBody | None:
        """A critique for the known verdict; None without a winner."""
        if verdict.winner is None:
            return None
        decision = critiques.decision_sentence(_on_page(verdict.winner, shown), self.language)
        first, second = (case.responses[index].text for index in shown)
        values = {
            "query": case.query,
            "response_1": first,
            "response_2": second,
            "decision": decision,
        }
        content = fill(load_text(f"follow_pairwise.{self.language}.txt"), values)
        return RequestBody(
            messages=(Message(role="user", content=content),),
            prefix=critiques.FACTORS_HEADING[self.language] + "\n\n-",
            # Where the judge begins to state a decision of its own, the verdict's replaces it.
            stop=("\n2.", critiques.DECISION_OPENING[self.language]),
        )

    def read_follow(
        self, verdict: Verdict, shown: tuple[int, ...], completion: Completion
    ) -> Reading:
        """The critique in the layout of Table 18, with the verdict's own decision at its end."""
        if verdict.winner is None:
            return Unreadable(reason="there is no verdict to write a critique for")
        written = completion.text
        if completion.finish == "length":
            written = whole_sentences(written)
        factors = critiques.parse_factors(_list_alone("- " + written.lstrip(" \t")))
        if not factors:
            return Unreadable(reason="the critique names no factor")
        return Critique(
            text=critiques.render(
                critiques.PairCritique(
                    factors=factors,
                    decision=_on_page(verdict.winner, shown),
                    language=self.language,
                )
            )
        )


def _on_page(winner: Winner, shown: tuple[int, ...]) -> Shown:
    """The page's name for a winner."""
    if winner == "tie":
        return "tie"
    return "1" if winner == ("a", "b")[shown[0]] else "2"


def _list_alone(text: str) -> str:
    """The list at the beginning of a text, without the paragraphs after it."""
    paragraphs = text.split("\n\n")
    listed = takewhile(lambda paragraph: paragraph.lstrip()[:1] in {"-", "*", "•"}, paragraphs)
    return "\n\n".join(listed)


def _likeliest(first: float, second: float, tie: float) -> Shown:
    if tie >= max(first, second) or first == second:
        return "tie"
    return "1" if first > second else "2"


PROTOCOL = Pairwise(name="pairwise", aliases=("pairwise_tie",))
