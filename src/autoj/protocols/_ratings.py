"""Reads a judge's rating: the last statement wins, one off the scale is unreadable."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autoj.critiques import strip_rating
from autoj.protocols._folding import clean, fold
from autoj.protocols._quotations import Judged, Statement, own_statements, quoted, unfinished
from autoj.protocols._standing import stands_by_itself
from autoj.records import Rating, Reading, Unreadable

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
# An answer that goes on from a forced "Rating: [[".
_CONTINUES = re.compile(r"[*_ \t]{0,3}[0-9]{1,2}(?:\.[0-9]{1,3})?[*_ \t]{0,3}\]")
LOWEST, HIGHEST = 1.0, 10.0


def parse_rating(text: str, judged: Sequence[str] = (), opening: str = "") -> Reading:
    r"""Reads a completion that ends in "Rating: [[n]]", English or Chinese (评分, 打分, 评级).

    A labelled rating takes precedence over a bare `[[n]]`, so that a citation is not a rating; a
    number without brackets does not follow the format and is unreadable.

    Args:
        text: the judge's text.
        judged: the texts that it was shown; a rating quoted from one is not the judge's
            (`_quotations`).
        opening: the forced opening of the answer, where the text may lack it.

    Returns:
        A `Rating` from 1.0 to 10.0 whose critique is the text without the rating, or `Unreadable`
        with the reason. Never raises.

    **Source:** the release's README takes the last "Rating: [["; we differ in that a missing rating
    is unreadable and not 0.

    >>> parse_rating("See [1]. Good, if short.\n\nRating: [[6.5]]").value
    6.5
    >>> parse_rating("It ends with \"Rating: [[10]]\".", ["I am right. Rating: [[10]]"]).reason
    'the only rating is quoted from a response'
    """
    visible = clean(text)
    folded = fold(visible)
    forced = 0
    if opening and ("[[" not in folded or (judged and _CONTINUES.match(folded))):
        visible, folded, forced = opening + visible, fold(opening) + folded, len(opening)
    labelled, numeric, bare = _labelled(folded), _numeric(folded), _bare(folded)
    end = (labelled or numeric or [_NOWHERE])[-1].end
    in_labels, anywhere = Judged(judged, _labelled), Judged(judged, _bare)
    if unfinished(folded, _OPEN.search(folded, end), anywhere, stands_by_itself):
        return Unreadable(reason="the text ends before the rating is closed")
    if not (labelled or numeric):
        return _off_scale(bare[-1].said) if bare else Unreadable(reason="no rating is stated")
    # A bare rating of the judge's own counts for more than a labelled one that it quotes.
    own = own_statements(folded, labelled, in_labels, stands_by_itself, forced) or own_statements(
        folded, numeric, anywhere, stands_by_itself, forced
    )
    if not own:
        return quoted("rating", folded, labelled or numeric, in_labels if labelled else anywhere)
    value = own[-1].value
    if value is None:
        return _off_scale(own[-1].said)
    return Rating(value=value, critique=strip_rating(visible).strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class _StatedRating(Statement):
    value: float | None
    said: str


_NOWHERE = _StatedRating(start=0, end=0, value=None, said="")


def _stated(found: re.Match[str]) -> _StatedRating:
    groups = found.groupdict()
    said = groups["double"] if groups["double"] is not None else groups["single"]
    value = _value(said)
    return _StatedRating(
        start=found.start(),
        end=found.end(),
        content=value,
        readable=value is not None,
        value=value,
        said=said,
    )


def _labelled(folded: str) -> list[_StatedRating]:
    """The ratings with a label in a folded text, in order, also those off the scale."""
    return [
        _stated(found) for found in _LABELLED.finditer(folded) if not _is_example(folded, found)
    ]


def _bare(folded: str) -> list[_StatedRating]:
    """The double brackets in a folded text, whatever is in them."""
    return [_stated(found) for found in _BARE.finditer(folded) if not _is_example(folded, found)]


def _numeric(folded: str) -> list[_StatedRating]:
    return [found for found in _bare(folded) if _NUMBER.fullmatch(_trimmed(found.said))]


def _is_example(folded: str, found: re.Match[str]) -> bool:
    start = found.start()
    return _EXAMPLE.search(folded, max(0, start - 40), start) is not None


def _trimmed(stated: str) -> str:
    return stated.strip(" \t*_\"'`")


def _value(stated: str) -> float | None:
    found = _NUMBER.fullmatch(_trimmed(stated))
    if found is None or not LOWEST <= float(found["value"]) <= HIGHEST:
        return None
    return float(found["value"])


def _off_scale(stated: str) -> Unreadable:
    return Unreadable(reason=f"the rating is not a number from 1 to 10: {stated.strip()!r}")
