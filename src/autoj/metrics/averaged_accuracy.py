"""Averaged accuracy: the share in which the averaged verdict equals the human label."""

from autoj.metrics.base import Rows, is_labelled, proportion, select
from autoj.records import Estimate


def compute(rows: Rows) -> Estimate:
    """The accuracy of the verdict from the probabilities averaged over both orders.

    For judges that rate each response alone it is the accuracy of comparing the two ratings.
    Compare it with reward models' figures, not with agreement, which also requires both orders to
    say the same.

    Args:
        rows: pairs; those with a label count, and one without an averaged verdict is unscored.
    """
    labelled = select(rows, is_labelled)
    return proportion(
        "averaged accuracy",
        labelled,
        lambda row: None if row.averaged is None else float(row.averaged == row.label),
    )
