"""How often the averaged verdict equals the human label."""

from __future__ import annotations

from autoj.metrics.base import Rows, is_labelled, proportion, select
from autoj.records import Estimate

__all__ = ["compute"]


def compute(rows: Rows) -> Estimate:
    """The accuracy of the verdict that both orders' averaged probabilities give.

    For judges that read each response alone it is the accuracy of the two ratings compared. It
    stands beside reward models' figures, and not beside agreement, which also asks that both
    orders say the same.

    Args:
        rows: pairs; those with a label count, and one without an averaged verdict is unscored.
    """
    labelled = select(rows, is_labelled)
    return proportion(
        "averaged accuracy",
        labelled,
        lambda row: None if row.averaged is None else float(row.averaged == row.label),
    )
