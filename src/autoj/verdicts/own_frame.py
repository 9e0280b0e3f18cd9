"""One outcome in its case's frame: what the page calls Response 1 may be the case's second."""

from typing import assert_never

from autoj import critiques
from autoj.records import (
    Case,
    Critique,
    Decision,
    Failure,
    Judgment,
    Label,
    Rating,
    Reading,
    Score,
    Shown,
    Unreadable,
    Winner,
)

_FRAMES: dict[tuple[int, ...], dict[Shown, Winner]] = {
    (0, 1): {"1": "a", "2": "b", "tie": "tie"},
    (1, 0): {"1": "b", "2": "a", "tie": "tie"},
}


def to_winner(shown: Shown, order: tuple[int, ...]) -> Winner:
    """Converts a winner from the page's frame to the case's.

    >>> to_winner("1", (1, 0))
    'b'
    """
    return _FRAMES[order][shown]


def reading_of(item: Judgment | Failure) -> Reading | Failure:
    """The reading of an answer, or the failure that took its place."""
    return item.reading if isinstance(item, Judgment) else item


def rating_of(reading: Reading | Failure) -> float | None:
    """The rating or score that was read; None where there is none."""
    match reading:
        case Rating(value=value) | Score(value=value):
            return value
        case Decision() | Label() | Critique() | Unreadable() | Failure():
            return None
        case _:
            assert_never(reading)


def winner_of(item: Judgment | Failure) -> Winner | None:
    """The winner by one order's outcome; None where no decision was read."""
    if isinstance(item, Judgment) and isinstance(item.reading, Decision):
        return to_winner(item.reading.shown, item.asked.shown)
    return None


def probabilities_of(item: Judgment | Failure) -> tuple[float, float, float] | None:
    """The probabilities of a, b and tie by one order's outcome; None where there are none."""
    if not isinstance(item, Judgment) or not isinstance(item.reading, Decision):
        return None
    if item.reading.probabilities is None:
        return None
    first, second, tie = item.reading.probabilities
    return (first, second, tie) if item.asked.shown == (0, 1) else (second, first, tie)


def critique_of(reading: Reading | Failure) -> str | None:
    """The critique that was read, as it was written; None where there is none."""
    match reading:
        case Rating(critique=text) | Decision(critique=text):
            return text or None
        case Critique(text=text):
            return text
        case Score() | Label() | Unreadable() | Failure():
            return None
        case _:
            assert_never(reading)


def pair_critique(item: Judgment | Failure, case: Case) -> str | None:
    """The critique of a pair of responses in the case's frame, that of two critiques as written."""
    # Where critiques are compared, "Response 1" is at most a quotation from one of them.
    return in_own_frame(item) if len(case.responses) == 2 else critique_of(reading_of(item))


def in_own_frame(item: Judgment | Failure) -> str | None:
    """A critique in which Response 1 is the case's first, in either page order."""
    text = critique_of(reading_of(item))
    if text is None or not isinstance(item, Judgment) or item.asked.shown != (1, 0):
        return text
    return critiques.swap_responses(text)
