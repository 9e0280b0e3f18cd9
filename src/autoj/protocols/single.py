"""`single`: a critique and a rating of one response (paper, Table 17).

The class here also builds the Chinese prompt of the bilingual release and the verdict-only
variants, which force the answer's opening and score every rating.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autoj.critiques import RATING_CHOICES, RATING_OPENING
from autoj.protocols._ratings import parse_rating
from autoj.protocols.base import AskedOnce, RequestBody, Subject, fill, load_text, whole_sentences
from autoj.protocols.pairwise import choice_probabilities
from autoj.records import (
    Case,
    Completion,
    Critique,
    Message,
    Rating,
    Reading,
    Unreadable,
    Verdict,
)

RATINGS = tuple(range(1, 11))
"""The scale: 1 (worst) to 10 (best)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Single(AskedOnce):
    """Writes a critique of one response, then rates it."""

    name: str
    aliases: tuple[str, ...] = ()
    language: Literal["en", "zh"] = "en"
    subject: Subject = "response"
    gives_probabilities: bool = False
    reads_alone: bool = True

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The prompt of Table 17, byte for byte."""
        (index,) = shown
        values = {"query": case.query, "response": case.responses[index].text}
        content = fill(load_text(f"single.{self.language}.txt"), values)
        return RequestBody(messages=(Message(role="user", content=content),))

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The last rating in double brackets."""
        return parse_rating(text, judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleVerdict(Single):
    """Rates one response without a critique: the expected rating under the judge's distribution."""

    gives_probabilities: bool = True

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """Table 17 with "Rating: [[" forced and the ratings 1 to 10 as choices."""
        return RequestBody(
            messages=Single.build(self, case, shown).messages,
            prefix=RATING_OPENING[self.language],
            choices=RATING_CHOICES,
        )

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The rating in a text that may lack the forced opening."""
        return parse_rating(text, judged, RATING_OPENING[self.language])

    def read(self, completion: Completion, judged: Sequence[str] = ()) -> Reading:
        """The expected rating, with the probability of each."""
        if completion.choice_logprobs is None:
            return self.parse(completion.text, judged)
        distribution = choice_probabilities(completion.choice_logprobs)
        if distribution is None:
            return Unreadable(reason="the choices have no probabilities")
        value = sum(rating * share for rating, share in zip(RATINGS, distribution, strict=True))
        return Rating(value=min(max(value, 1.0), 10.0), distribution=distribution)

    def follow(self, case: Case, verdict: Verdict, shown: tuple[int, ...]) -> RequestBody | None:
        """A critique for the known rating; None without one."""
        (index,) = shown
        rating = verdict.ratings[index]
        if rating is None:
            return None
        values = {
            "query": case.query,
            "response": case.responses[index].text,
            "rating": _half_point(rating),
        }
        content = fill(load_text(f"follow_single.{self.language}.txt"), values)
        opening = RATING_OPENING[self.language].rstrip("[ ")
        return RequestBody(messages=(Message(role="user", content=content),), stop=(opening,))

    def read_follow(
        self, verdict: Verdict, shown: tuple[int, ...], completion: Completion
    ) -> Reading:
        """The critique, followed by the rating that it was written for."""
        (index,) = shown
        rating = verdict.ratings[index]
        if rating is None:
            return Unreadable(reason="there is no rating to write a critique for")
        written = completion.text.strip()
        if completion.finish == "length":
            written = whole_sentences(written)
        if not written:
            return Unreadable(reason="the critique is empty")
        return Critique(text=f"{written}\n\n{RATING_OPENING[self.language]}{_half_point(rating)}]]")


def _half_point(rating: float) -> str:
    """A rating as a judge would write it: rounded to half a point."""
    return f"{round(rating * 2) / 2:g}"


PROTOCOL = Single(name="single")
