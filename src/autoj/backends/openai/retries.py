"""How long to wait: before another try, and between requests where the server sets a pace."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["Backoff", "Pace", "retry_after"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Waits that double from try to try, each drawn anew so that many do not come back at once."""

    first_seconds: float
    longest_seconds: float

    def seconds(self, n_tries: int, told: float | None, draw: random.Random) -> float:
        """How long to wait after a failed try.

        Args:
            n_tries: how many there were, from 1.
            told: what the server asked for; never undercut.
            draw: where the jitter comes from.

        >>> Backoff(first_seconds=1, longest_seconds=60).seconds(3, 30.0, random.Random(0)) >= 30
        True
        """
        # Beyond 2 ** 30 nothing changes any more.
        doubled: float = self.first_seconds * 2.0 ** min(n_tries - 1, 30)
        drawn = min(doubled, self.longest_seconds) * draw.uniform(0.5, 1.0)
        if told is None:
            return drawn
        return max(told, 0.0) + min(drawn, self.first_seconds)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """How many seconds a server asks to wait; None where it does not say so readably.

    Args:
        headers: the answer's, in any case where the mapping knows none.
        now: the time by which a date is read where the server states none of its own.

    **Source:** RFC 9110, 10.2.3: seconds, or a date; `retry-after-ms` is the provider's own.

    >>> retry_after({"retry-after": "2"})
    2.0
    >>> retry_after({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT",
    ...              "date": "Fri, 31 Dec 1999 23:59:56 GMT"})
    3.0
    """
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        # A float that is no number compares false with everything.
        if 0 <= seconds < float("inf"):
            return seconds
    until = _date(headers.get("retry-after"))
    if until is None:
        return None
    # Clocks differ: the server's own date tells how far away its other date is.
    since = _date(headers.get("date")) or now or datetime.now(UTC)
    return max((until - since).total_seconds(), 0.0)


def _date(stated: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(stated or "")
    except (OverflowError, ValueError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


class Pace:
    """Spreads what is asked over time, so that no minute holds more than the limit.

    Requests are spaced evenly: a burst that a limit per minute would let through is refused by
    servers that count per second.
    """

    def __init__(self, per_minute: float) -> None:
        self._seconds_each = 60.0 / per_minute
        self._free_at = 0.0

    def take(self, amount: float, now: float) -> float:
        """Reserve a place.

        Args:
            amount: requests or tokens.
            now: seconds on any clock that only goes forward.

        Returns:
            How many seconds to wait for it.

        >>> pace = Pace(60)
        >>> [pace.take(1, now=10.0) for _ in range(3)]
        [0.0, 1.0, 2.0]
        """
        start = max(self._free_at, now)
        self._free_at = start + amount * self._seconds_each
        return start - now

    def correct(self, amount: float) -> None:
        """Say by how much less was used than was reserved; below 0, by how much more."""
        self._free_at -= amount * self._seconds_each
