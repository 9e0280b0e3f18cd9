"""Agreement: the share in which both orders agree with each other and with the human label."""

from autoj.metrics.base import Row, Rows, is_labelled, proportion, select
from autoj.records import Estimate


def compute(rows: Rows) -> Estimate:
    """The agreement rate of the paper (section 6.1), from each order's own winner.

    An inconsistent pair does not agree, whatever rule decided its winner.

    Args:
        rows: pairs judged in both orders; those with a label count, and one with an order that
            could not be read is unscored.
    """
    labelled = select(rows, is_labelled)
    return proportion("agreement", labelled, share)


def share(row: Row) -> float | None:
    """1 where both orders of a labelled pair name the label, else 0; None where one is unknown."""
    if row.consistent is None:
        return None
    return float(row.consistent and row.winners[0] == row.label)
