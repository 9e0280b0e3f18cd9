"""How often the first response wins; a tie counts half."""

from __future__ import annotations

from collections.abc import Sequence

from autoj.metrics.base import Row, proportion
from autoj.records import Estimate

__all__ = ["compute"]

_SHARE = {"a": 1.0, "tie": 0.5, "b": 0.0}


def compute(rows: Sequence[Row]) -> Estimate:
    """The win rate of response a over response b, by the verdicts' winners.

    Args:
        rows: pairs; a case without a winner is unscored.
    """
    return proportion(
        "win rate", rows, lambda row: None if row.winner is None else _SHARE[row.winner]
    )
