"""Critiques as they are shown: a loop or a contradiction of the verdict is cut and marked.

Answers are kept as they were written; this is derived from them each time they are shown.

- "repeats itself": one sentence stands there three times, or a few words follow each other four
  times; the critique is cut before the second time.
- "contradicts its verdict": prose that calls the response correct, helpful or excellent and finds
  no fault, beside a rating of at most 4; that claims an error and has no praise, beside one of at
  least 7, where one mistake that is named first contradicts nothing; or a critique of a pair
  that calls another response the better one than its verdict does. The prose is left out.
- "claims what was not found": claims of an error were left out of a critique by a judge that looks
  for mistakes and is trusted with no others, when its answer was read (`runs.proofreading`).
- "empty response": a critique of a response without a word says only that.

Nothing is cut for a quotation that does not stand in the response to which the critique gives it:
`marked_critiques` says so behind the text.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import and_, eq
from typing import Literal, TypeAlias

from autoj.corrections import beyond_finding
from autoj.critiques import strip_rating
from autoj.mistakes import beyond_mistake
from autoj.records import Case, CaseOutline, Verdict, Winner
from autoj.verdicts.claims import read_sentences
from autoj.verdicts.misquotations import Misquotation, misquotations
from autoj.verdicts.unfounded_claims import OMITTED

CritiqueFault: TypeAlias = Literal[
    "repeats itself", "contradicts its verdict", "claims what was not found", "empty response"
]

LOW, HIGH = 4.0, 7.0
"""Ratings of at most the one call a response bad, of at least the other good."""

_EMPTY = "The response is empty."
_MOST_NAMED = 5
"""Wrong quotations in a mark; a hostile response may have a judge make thousands."""
_MOST_SENTENCES, _MOST_UNITS = 3, 4
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*")
# A unit of up to 60 characters that follows itself; longer ones are sentences.
_UNITS = re.compile(rf"(?<!\w)(\S.{{1,59}}?)\1{{{_MOST_UNITS - 1},}}", re.S)
_SHORTEST = 8
"""Characters of a sentence that may not be repeated; "Yes." may."""
_BETTER = re.compile(
    r"response (?P<one>[12]) is (?:\w+ )?(?:better|superior|preferable)"
    r"(?: overall)?[ ]*(?:[.;!\n]|\Z)"
    r"|better (?:response|answer|one) is response (?P<two>[12])\b",
    re.IGNORECASE,
)
# "It is clear" may stand beside a low rating; "it is correct" alone may not.
_ACCLAIM = re.compile(
    r"\b(?:correct|accurate|right|helpful|excellent|perfect|great|very good)\b|正确|准确|很好"
)
_WINNERS: dict[str, Winner] = {"1": "a", "2": "b"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCritique:
    """A critique as it is shown."""

    text: str
    """The rest of it; empty where nothing is left."""
    faults: tuple[CritiqueFault, ...] = ()
    misquotations: tuple[Misquotation, ...] = ()

    @property
    def mark(self) -> str | None:
        """The reason for what is cut, and quotations that are wrong, in words; None without any.

        Judged text may stand in it.
        """
        cut = [fault for fault in self.faults if fault != "empty response"]
        parts = [f"cut: it {' and '.join(cut)}"] if cut else []
        parts += map(str, self.misquotations[:_MOST_NAMED])
        n_more = len(self.misquotations) - _MOST_NAMED
        return "; ".join([*parts, *([f"and {n_more} more"] if n_more > 0 else [])]) or None


def shown_critiques(case: Case | CaseOutline, verdict: Verdict) -> tuple[ShownCritique | None, ...]:
    """A verdict's critiques as they are shown; None where there is none.

    Args:
        case: the judged case; without its texts no response is known to be empty.
        verdict: its verdict, with critiques as they were written.
    """
    return tuple(
        None if text is None else _shown(text, index, case, verdict)
        for index, text in enumerate(verdict.critiques)
    )


def marked_critiques(
    case: Case | CaseOutline, verdict: Verdict
) -> tuple[ShownCritique | None, ...]:
    """A verdict's critiques for one who reads them: `shown_critiques`, with wrong quotations named.

    Each quotation is looked for in the case's texts, which takes too long for a figure over all.

    Args:
        case: the judged case; without its texts no quotation is looked for.
        verdict: its verdict, with critiques as they were written.
    """
    shown = shown_critiques(case, verdict)
    if not isinstance(case, Case):
        return shown
    return tuple(
        None if each is None else _with_misquotations(each, index, case, verdict)
        for index, each in enumerate(shown)
    )


def _with_misquotations(
    critique: ShownCritique, index: int, case: Case, verdict: Verdict
) -> ShownCritique:
    rated = index if _is_rated_alone(index, verdict) else None
    return replace(critique, misquotations=misquotations(critique.text, case, rated))


def _is_rated_alone(index: int, verdict: Verdict) -> bool:
    """True for the critique of one response, beside its rating."""
    return index < len(verdict.ratings) == len(verdict.critiques)


def count_faults(critiques: Sequence[ShownCritique | None]) -> Counter[CritiqueFault]:
    """The number of critiques with each fault."""
    return Counter(fault for each in critiques if each is not None for fault in each.faults)


def _shown(text: str, index: int, case: Case | CaseOutline, verdict: Verdict) -> ShownCritique:
    rated = _is_rated_alone(index, verdict)
    if rated and isinstance(case, Case) and not case.responses[index].text.strip():
        return ShownCritique(text=_EMPTY, faults=("empty response",))
    faults: list[CritiqueFault] = []
    closing = text[len(strip_rating(text)) :]
    prose = cut_loop(strip_rating(text))
    if prose != strip_rating(text):
        faults.append("repeats itself")
    if (rated and _contradicts_rating(prose, verdict.ratings[index])) or (
        not rated and _contradicts_winner(prose, _winner(verdict, index))
    ):
        faults.append("contradicts its verdict")
        prose = ""
    if rated and OMITTED in text:
        faults.append("claims what was not found")
    return ShownCritique(text=f"{prose}{closing}".strip() if faults else text, faults=tuple(faults))


def cut_loop(text: str) -> str:
    """A text without its repetitions; the same text where it does not repeat itself.

    >>> cut_loop("It is long. It is bad. It is bad. It is bad. It is bad.")
    'It is long. It is bad.'
    >>> cut_loop("It is so very so very so very so very so very long.")
    'It is so very'
    """
    places: dict[str, list[int]] = {}
    ends: list[int] = []
    for found in _SENTENCE.finditer(text):
        said = " ".join(found[0].casefold().split()).strip(" -*•.")
        if len(said) < _SHORTEST:
            continue
        starts = places.setdefault(said, [])
        starts.append(found.start())
        if len(starts) == _MOST_SENTENCES:
            ends.append(starts[1])
    if not ends and _may_loop(text.split()):
        # Words that follow each other within a sentence; a drawn line is none.
        looped = (found for found in _UNITS.finditer(text) if _has_words(found[1]))
        ends = [found.end(1) for found in islice(looped, 1)]
    return text[: min(ends)].rstrip() if ends else text


def _may_loop(words: list[str]) -> bool:
    """Tells texts in which `_UNITS` can find no unit with a space, without its many trials.

    Four units with r gaps each hold 4r - 1 whole words, of which each equals the one r further on.
    For one gap these are three equal words in a row, behind one that ends as they do; for more,
    five words in a row come again.
    """
    same = list(map(eq, words, words[1:]))
    thrice = list(map(and_, same[1:], same[2:]))
    fives = list(zip(*(words[at:] for at in range(5)), strict=False))
    return len(set(fives)) < len(fives) or (
        True in thrice
        and any(words[at][-1] == words[at + 1][-1] for at, is_so in enumerate(thrice) if is_so)
    )


def _has_words(unit: str) -> bool:
    return " " in unit and any(map(str.isalpha, unit))


def _contradicts_rating(prose: str, rating: float | None) -> bool:
    if rating is None or LOW < rating < HIGH:
        return False
    sentences = read_sentences(prose)
    if rating <= LOW:
        acclaims = any(_ACCLAIM.search(each.own_words) and each.praises for each in sentences)
        return acclaims and not any(each.finds_fault for each in sentences)
    # One mistake may stand in a good response.
    beyond = read_sentences(beyond_mistake(beyond_finding(prose)))
    claims = any(each.claims_error for each in beyond)
    return claims and not any(each.praises for each in beyond)


def _contradicts_winner(prose: str, winner: Winner | None) -> bool:
    named = {_WINNERS[found["one"] or found["two"]] for found in _BETTER.finditer(prose)}
    return winner is not None and bool(named) and winner not in named


def _winner(verdict: Verdict, index: int) -> Winner | None:
    """The winner that a critique of a pair was written with: its order's, or the verdict's."""
    if len(verdict.critiques) == len(verdict.winners) > 1:
        return verdict.winners[index]
    return verdict.winner
