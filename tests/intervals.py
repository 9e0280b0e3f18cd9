"""The ends of intervals: inside of a figure's scale, or absent with the reason."""

from __future__ import annotations

from autoj.metrics import SHARES
from autoj.records import Estimate

SIZES = (1, 2, 3, 5)
"""Numbers of cases at which intervals are looked at."""


def check(estimate: Estimate, span: tuple[float, float] | None = SHARES) -> None:
    """An interval holds its value and lies on the scale, or a reason stands for it."""
    if estimate.low is None or estimate.high is None:
        assert (estimate.low, estimate.high) == (None, None)
        assert estimate.reason, f"{estimate.name}: no interval and no reason"
        return
    assert estimate.value is not None
    assert estimate.reason is None
    assert estimate.low <= estimate.value <= estimate.high, estimate
    if span is not None:
        assert span[0] <= estimate.low, estimate
        assert estimate.high <= span[1], estimate
