"""Cohen's kappa: agreement of a judge with human labels beyond chance."""

from collections.abc import Callable, Sequence

import numpy as np

from autoj.metrics._bootstrap import from_totals
from autoj.metrics._intervals import Floats
from autoj.metrics.base import Row, Rows, contributions, is_labelled, select
from autoj.records import WINNERS, Estimate, Winner

_CELLS: Sequence[Sequence[float]] = np.eye(9).tolist()


def _first_order(row: Row) -> Winner | None:
    return row.winners[0] if row.winners else None


def compute(rows: Rows, winner_of: Callable[[Row], Winner | None] = _first_order) -> Estimate:
    """Cohen's kappa between the label and one order's winner, over a, b and tie; -1 to 1.

    Args:
        rows: pairs; those with a label count, and one without a winner is unscored.
        winner_of: the winner of a row to compare; by default the first order's, as in accuracy.

    **Source:** J. Cohen, "A coefficient of agreement for nominal scales" (1960).
    """
    labelled = select(rows, is_labelled)
    counts, clusters = contributions(labelled, lambda row: _cell(row.label, winner_of(row)), 9)
    return from_totals(
        "kappa",
        counts,
        clusters,
        _kappa,
        span=(-1.0, 1.0),
        fisher=True,
        undefined="judge and labels use a single class only",
        n_unscored=len(labelled) - len(counts),
    )


def _cell(label: Winner | float | None, winner: Winner | None) -> Sequence[float] | None:
    """The contribution of one case to a confusion table of label by winner."""
    if winner is None or label not in WINNERS:
        return None
    return _CELLS[3 * WINNERS.index(label) + WINNERS.index(winner)]


def _kappa(totals: Floats) -> Floats:
    table = totals.reshape(*totals.shape[:-1], 3, 3)
    table = table / table.sum(axis=(-2, -1), keepdims=True)
    observed = np.trace(table, axis1=-2, axis2=-1)
    expected = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1)
    kappa: Floats = (observed - expected) / (1 - expected)
    return kappa
