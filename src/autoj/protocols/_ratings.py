"""Reads a judge's rating: the last statement wins, one off the scale is unreadable."""

from __future__ import annotations

import re

from autoj.critiques import strip_rating
from autoj.protocols._folding import clean, fold
from autoj.records import Rating, Reading, Unreadable

__all__ = ["parse_rating"]

_NAME = r"(?:\b(?:rating|score)|评分|打分|评级|得分|分数)"
_JOINT = r"[\s*_:\"'`=是为]{0,12}"
# "the rating [1] of the hotel" cites: one pair of brackets needs more than a space before it.
_STRICT_JOINT = r"[\s*_\"'`]{0,6}[:=是为][\s*_:\"'`为]{0,6}"
_DOUBLE = r"\[[*_ \t]{0,3}\[(?P<double>[^\[\]\n]{0,40})\][*_ \t]{0,3}\]"
_SINGLE = r"\[(?P<single>[^\[\]\n]{0,40})\]"
_LABELLED = re.compile(rf"{_NAME}(?:{_JOINT}{_DOUBLE}|{_STRICT_JOINT}{_SINGLE})", re.IGNORECASE)
_BARE = re.compile(rf"{_DOUBLE}(?!\()")
_OPEN = re.compile(
    rf"(?:\[[*_ \t]{{0,3}}\[[^\[\]\n]{{0,40}}\]?|{_NAME}{_STRICT_JOINT}\[[^\[\]\n]{{0,40}})\s*\Z",
    re.IGNORECASE,
)
# The prompt's own example, repeated: 'for example: "Rating: [[5]]"'.
_EXAMPLE = re.compile(
    rf"(?:for example|e\.g\.|such as|例如|比如)[\s:,\"'“”*`]{{0,8}}(?:{_NAME}{_JOINT})?\Z",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?P<value>[0-9]{1,2}(?:\.[0-9]{1,3})?)(?:\s*(?:/|out of)\s*10)?")
LOWEST, HIGHEST = 1.0, 10.0


def parse_rating(text: str) -> Reading:
    r"""Reads a completion that ends in "Rating: [[n]]", English or Chinese (评分, 打分, 评级).

    A labelled rating takes precedence over a bare `[[n]]`, so that a citation is not a rating; a
    number without brackets does not follow the format and is unreadable.

    Args:
        text: the judge's text.

    Returns:
        A `Rating` from 1.0 to 10.0 whose critique is the text without the rating, or `Unreadable`
        with the reason. Never raises.

    **Source:** the release's README takes the last "Rating: [["; we differ in that a missing rating
    is unreadable and not 0.

    >>> parse_rating("See [1]. Good, if short.\n\nRating: [[6.5]]").value
    6.5
    """
    visible = clean(text)
    folded = fold(visible)
    labelled = [found for found in _LABELLED.finditer(folded) if not _is_example(folded, found)]
    statements = labelled or _numeric(folded)
    end = statements[-1].end() if statements else 0
    if _OPEN.search(folded, end):
        return Unreadable(reason="the text ends before the rating is closed")
    if not statements:
        bare = [found for found in _BARE.finditer(folded) if not _is_example(folded, found)]
        return _off_scale(bare[-1]["double"]) if bare else Unreadable(reason="no rating is stated")
    last = statements[-1].groupdict()
    stated = last["double"] if last["double"] is not None else last["single"]
    value = _value(stated)
    if value is None:
        return _off_scale(stated)
    return Rating(value=value, critique=strip_rating(visible).strip())


def _numeric(folded: str) -> list[re.Match[str]]:
    return [
        found
        for found in _BARE.finditer(folded)
        if _NUMBER.fullmatch(_bare(found["double"])) and not _is_example(folded, found)
    ]


def _is_example(folded: str, found: re.Match[str]) -> bool:
    start = found.start()
    return _EXAMPLE.search(folded, max(0, start - 40), start) is not None


def _bare(stated: str) -> str:
    return stated.strip(" \t*_\"'`")


def _value(stated: str) -> float | None:
    found = _NUMBER.fullmatch(_bare(stated))
    if found is None or not LOWEST <= float(found["value"]) <= HIGHEST:
        return None
    return float(found["value"])


def _off_scale(stated: str) -> Unreadable:
    return Unreadable(reason=f"the rating is not a number from 1 to 10: {stated.strip()!r}")
