"""The best of N responses by a judge's ratings, with tie-breaking rules."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autoj.records import Case, Response

PICK_RULES: Mapping[str, str] = {
    "rating": "no other rating is as high",
    "output probability": "of equal ratings it has the highest output probability",
    "first": "of equal ratings it is the first",
    "wins": "it won at least one match and lost none",
    "only": "there is no other response to compare it with",
}
"""Rules by which a response is picked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """The picked response of N and the reason for it."""

    index: int
    rule: str
    """A name from `PICK_RULES`."""


def best_by_rating(ratings: Sequence[float | None], responses: Sequence[Response]) -> Pick | None:
    """The response with the highest rating; None where no rating could be read.

    Args:
        ratings: one per response, on any scale: higher is better. None is never picked.
        responses: the rated responses.

    **Source:** paper, section 6.3: of equal ratings the response with the higher output probability
    is picked. The paper has no rule for unknown probabilities; here the first response is picked.
    """
    known = [rating for rating in ratings if rating is not None]
    if not known:
        return None
    highest = max(known)
    equals = [index for index, rating in enumerate(ratings) if rating == highest]
    if len(equals) == 1:
        return Pick(index=equals[0], rule="rating")
    return among_equals(equals, responses)


def among_equals(indices: Sequence[int], responses: Sequence[Response]) -> Pick:
    """The likeliest of responses that a judge holds equal, where all are known, else the first.

    Args:
        indices: the equal responses, in order; at least one.
        responses: all responses of the case.
    """
    logprobs = [responses[index].logprob for index in indices]
    known = [logprob for logprob in logprobs if logprob is not None]
    if len(known) < len(logprobs) or len(set(known)) == 1:
        return Pick(index=indices[0], rule="first")
    likeliest = indices[known.index(max(known))]
    return Pick(index=likeliest, rule="output probability")


def pick(ratings: Sequence[float | None], responses: Sequence[Response]) -> int | None:
    """The index of the best response alone; see `best_by_rating`.

    >>> one, other = Response(text="x", logprob=-9.0), Response(text="y", logprob=-2.0)
    >>> pick([6.0, 6.0], [one, other])
    1
    """
    best = best_by_rating(ratings, responses)
    return None if best is None else best.index


def same_pick(case: Case, one: int | None, other: int | None) -> bool | None:
    """True where two picks have the same text; None where one is missing.

    Args:
        case: the case.
        one: the index of a response; None for no pick.
        other: likewise.
    """
    if one is None or other is None:
        return None
    return case.responses[one].text == case.responses[other].text


def same_by_chance(case: Case) -> float:
    """The chance that two random picks from a case's responses have the same text."""
    n = len(case.responses)
    return sum(k * k for k in Counter(each.text for each in case.responses).values()) / n**2
