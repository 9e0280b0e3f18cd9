"""Accuracy: the share in which the case's own order equals the human label."""

from autoj.metrics.base import Row, Rows, is_labelled, proportion, select
from autoj.records import Estimate


def compute(rows: Rows) -> Estimate:
    """The accuracy of the first order alone, before any swap.

    Args:
        rows: pairs; those with a label count, and one that could not be read is unscored.
    """
    labelled = select(rows, is_labelled)
    return proportion("accuracy", labelled, _score)


def _score(row: Row) -> float | None:
    if not row.winners or row.winners[0] is None:
        return None
    return float(row.winners[0] == row.label)
