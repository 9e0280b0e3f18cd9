"""Settings of proofreading, as a card has them."""

from math import inf
from typing import NamedTuple


class Thresholds(NamedTuple):
    """A card's settings of proofreading (`Proofreading`)."""

    surprise: float
    """The least surprise with which a mistake is named."""
    evidence: float
    """The least evidence."""
    trusted_below: float | None = None
    """The rating, 5 to 10, from which on a critique keeps no claim of an error but the one that was
    found; None keeps all. Claims about a bad response are what its rating says."""
    preferred: float | None = None
    """The least log-odds with which the judge prefers the response with its correction, where it
    compares the two in both orders; None does not compare them (`CorrectionCheck`)."""


def read_thresholds(option: object) -> Thresholds:
    """Reads the thresholds of a card's option, which a run's file may hold, whoever wrote it.

    Raises:
        ValueError: they are no finite numbers above 0, or a rating is out of its range.

    >>> read_thresholds({"surprise": 5, "evidence": 0.75})
    Thresholds(surprise=5.0, evidence=0.75, trusted_below=None, preferred=None)
    """
    given = option if isinstance(option, dict) else {}
    found = {
        name: float(value)
        for name, value in given.items()
        if isinstance(value, int | float) and value is not True and 0 < value < inf
    }
    names = set(Thresholds._fields)
    needed = names - set(Thresholds._field_defaults)
    is_rating = 5 <= found.get("trusted_below", 5) <= 10
    if len(found) < len(given) or not needed <= set(found) <= names or not is_rating:
        raise ValueError(
            "proofread has thresholds above 0, such as {surprise: 4.0, evidence: 0.7}, and may "
            "have a rating from 5 to 10 as trusted_below, and log-odds above 0 as preferred"
        )
    return Thresholds(**found)
