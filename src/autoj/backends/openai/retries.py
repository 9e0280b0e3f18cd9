"""Waits: backoff before a retry, and spacing of requests under a rate limit."""

import logging
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_log = logging.getLogger(__name__)

# Shorter waits are not worth a line.
_LONG_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Exponential backoff, with jitter so that requests do not all come back at once."""

    first_seconds: float
    longest_seconds: float

    def seconds(self, n_tries: int, told: float | None, draw: random.Random) -> float:
        """Draws the wait after a failed attempt.

        Args:
            n_tries: the number of attempts so far, from 1.
            told: the wait that the server asked for; never undercut.
            draw: the random generator of the jitter.

        >>> Backoff(first_seconds=1, longest_seconds=60).seconds(3, 30.0, random.Random(0)) >= 30
        True
        """
        # Capped, since beyond 2 ** 30 the longest wait applies anyway.
        doubled: float = self.first_seconds * 2.0 ** min(n_tries - 1, 30)
        drawn = min(doubled, self.longest_seconds) * draw.uniform(0.5, 1.0)
        if told is None:
            return drawn
        return max(told, 0.0) + min(drawn, self.first_seconds)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Reads the seconds that a server asks to wait; None without a readable header.

    Args:
        headers: the headers of the answer; their case matters if the mapping's keys do.
        now: the current time for a date; only used if the server does not state its own.

    **Source:** RFC 9110, 10.2.3: seconds, or a date; `retry-after-ms` is the provider's own header.

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
        # NaN compares false with everything.
        if 0 <= seconds < float("inf"):
            return seconds
    until = _date(headers.get("retry-after"))
    if until is None:
        return None
    # Clocks differ: the wait is the difference of the server's two dates.
    since = _date(headers.get("date")) or now or datetime.now(UTC)
    return max((until - since).total_seconds(), 0.0)


def _date(stated: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(stated or "")
    except (OverflowError, ValueError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


class RateLimiter:
    """A rate limit per minute, kept by even spacing.

    Requests are evenly spaced: a burst may be within a limit per minute and still be refused by
    servers that count per second.
    """

    def __init__(self, per_minute: float) -> None:
        self._seconds_each = 60.0 / per_minute
        self._free_at = 0.0

    def take(self, amount: float, now: float) -> float:
        """Reserves an amount.

        Args:
            amount: requests or tokens.
            now: seconds on any monotonic clock.

        Returns:
            The seconds to wait for it.

        >>> limiter = RateLimiter(60)
        >>> [limiter.take(1, now=10.0) for _ in range(3)]
        [0.0, 1.0, 2.0]
        """
        start = max(self._free_at, now)
        self._free_at = start + amount * self._seconds_each
        return start - now

    def correct(self, amount: float) -> None:
        """Returns an unused part of a reservation; below 0, adds what was used beyond it."""
        self._free_at -= amount * self._seconds_each


class WaitLog:
    """Logs long waits of a judge, each once for all requests that wait together."""

    def __init__(self, judge: str) -> None:
        self._judge = judge
        self._told_until = 0.0

    def tell(self, seconds: float, why: str, now: float) -> None:
        """Logs a wait that begins.

        Args:
            seconds: its length.
            why: its reason.
            now: seconds on any monotonic clock.
        """
        if seconds >= _LONG_SECONDS and now + seconds > self._told_until + _LONG_SECONDS:
            self._told_until = now + seconds
            _log.warning("judge %r waits %s: %s", self._judge, duration(seconds), why)


def duration(seconds: float) -> str:
    """A time for people; servers may ask for more than a life.

    >>> [duration(seconds) for seconds in (90, 7200, 1e9)]
    ['90 seconds', '2 hours', '11,574 days']
    """
    for unit, length in (("days", 86_400), ("hours", 3600)):
        if seconds >= 2 * length:
            return f"{min(seconds / length, 1e6):,.0f} {unit}"
    return f"{seconds:,.0f} seconds"
