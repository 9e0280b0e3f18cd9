"""Consistency: the share in which both orders name the same winner."""

from autoj.metrics.base import Row, Rows, proportion
from autoj.records import Estimate


def compute(rows: Rows) -> Estimate:
    """The consistency rate (paper, section 6.1 and Fig. 4), from each order's own winner.

    Args:
        rows: pairs judged in both orders; a case with an order that could not be read is unscored.
    """
    return proportion("consistency", rows, share)


def share(row: Row) -> float | None:
    """1 where both orders of a pair name the same winner, else 0; None where one is unknown."""
    return None if row.consistent is None else float(row.consistent)
