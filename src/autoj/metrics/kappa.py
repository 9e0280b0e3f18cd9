"""How far a judge agrees with people beyond chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from autoj.metrics._bootstrap import Floats, from_totals
from autoj.metrics.base import Row
from autoj.records import WINNERS, Estimate, Winner

__all__ = ["compute"]


def _first_order(row: Row) -> Winner | None:
    return row.winners[0] if row.winners else None


def compute(
    rows: Sequence[Row], winner_of: Callable[[Row], Winner | None] = _first_order
) -> Estimate:
    """Cohen's kappa between the label and one order's winner, over a, b and tie; -1 to 1.

    Args:
        rows: pairs; those with a label count, and one without a winner is unscored.
        winner_of: which of a row's winners is compared; the first order's, as in accuracy.

    **Source:** J. Cohen, "A coefficient of agreement for nominal scales" (1960).
    """
    labelled = [row for row in rows if row.label is not None]
    known = [(row, winner) for row in labelled if (winner := winner_of(row)) is not None]
    counts = np.zeros((len(known), 3, 3))
    for index, (row, winner) in enumerate(known):
        counts[index, WINNERS.index(row.label), WINNERS.index(winner)] = 1
    return from_totals(
        "kappa",
        counts.reshape(-1, 9),
        np.array([row.cluster for row, _ in known], dtype=np.int64),
        _kappa,
        bounded=True,
        undefined="judge and people use one and the same class only",
        n_unscored=len(labelled) - len(known),
    )


def _kappa(totals: Floats) -> Floats:
    table = totals.reshape(*totals.shape[:-1], 3, 3)
    table = table / table.sum(axis=(-2, -1), keepdims=True)
    observed = np.trace(table, axis1=-2, axis2=-1)
    expected = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1)
    kappa: Floats = (observed - expected) / (1 - expected)
    return kappa
