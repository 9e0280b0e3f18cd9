"""Length bias: a judge's preference for long responses beyond that of the human labels."""

from collections.abc import Callable, Sequence

import numpy as np

from autoj.metrics._bootstrap import from_totals
from autoj.metrics._intervals import Floats
from autoj.metrics.base import Row, Rows, contributions, is_labelled, proportion, select
from autoj.records import Estimate, Winner


def compute(rows: Rows) -> Estimate:
    """The judge's share of longer winners minus that of the labels, -1 to 1.

    The share of the judge's decided verdicts that name the longer response, minus the same share of
    the decided labels. Length is counted in characters without surrounding whitespace.

    Args:
        rows: pairs with a label; one without a verdict, or of two equal lengths, is unscored.
    """
    labelled = select(rows, is_labelled)
    values, clusters = contributions(labelled, _counts, 4)
    return from_totals(
        "length bias",
        values,
        clusters,
        _difference,
        span=(-1.0, 1.0),
        fisher=True,
        undefined="the judge or the labels decide no case",
        n_unscored=len(labelled) - len(values),
    )


def share_of_longer(
    name: str, rows: Rows, winner_of: Callable[[Row], Winner | float | None]
) -> Estimate:
    """The share of decided pairs whose winner is the longer response.

    Args:
        name: the figure's name.
        rows: pairs; ties and pairs of equal length are left out.
        winner_of: the winner to look at: the judge's or the label.
    """
    decided = select(rows, lambda row: winner_of(row) in ("a", "b") and _longer(row) is not None)
    return proportion(name, decided, lambda row: float(winner_of(row) == _longer(row)))


def is_close_in_length(row: Row, within: float = 0.1) -> bool:
    """True where the shorter response is at most `within` (a share) shorter than the longer one."""
    if row.lengths is None:
        return False
    return max(row.lengths) - min(row.lengths) <= within * max(row.lengths)


def _longer(row: Row) -> Winner | None:
    if row.lengths is None or row.lengths[0] == row.lengths[1]:
        return None
    return "a" if row.lengths[0] > row.lengths[1] else "b"


def _counts(row: Row) -> Sequence[float] | None:
    longer = _longer(row)
    if row.winner is None or longer is None:
        return None
    return (
        float(row.winner == longer),
        float(row.winner != "tie"),
        float(row.label == longer),
        float(row.label != "tie"),
    )


def _difference(totals: Floats) -> Floats:
    judge_longer, judge_decided, human_longer, human_decided = np.moveaxis(totals, -1, 0)
    difference: Floats = judge_longer / judge_decided - human_longer / human_decided
    return difference
