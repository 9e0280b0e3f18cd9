"""The mean rating of responses."""

from autoj.metrics._intervals import RATINGS
from autoj.metrics.base import Rows, mean
from autoj.records import Estimate

SPAN = RATINGS
"""The lowest and the highest rating."""


def compute(rows: Rows) -> Estimate:
    """The mean rating, 1.0 to 10.0, with an interval over queries.

    Args:
        rows: one per rated response; one whose rating could not be read is unscored.
    """
    return mean("mean rating", rows, lambda row: row.rating, span=SPAN)
