"""The mean rating of responses."""

from __future__ import annotations

from dataclasses import replace

from autoj.metrics.base import Rows, mean
from autoj.records import Estimate

__all__ = ["compute"]


def compute(rows: Rows) -> Estimate:
    """The mean rating, 1.0 to 10.0, with an interval over queries.

    Args:
        rows: one per rated response; one whose rating could not be read is unscored.
    """
    estimate = mean("mean rating", rows, lambda row: row.rating)
    return replace(estimate, low=_on_scale(estimate.low), high=_on_scale(estimate.high))


def _on_scale(value: float | None) -> float | None:
    return None if value is None else min(max(value, 1.0), 10.0)
