"""Position bias: a judge's preference for the response that the page shows first."""

from dataclasses import replace

from autoj.metrics.base import Row, Rows, proportion
from autoj.records import Estimate


def compute(rows: Rows) -> Estimate:
    """The signed position bias, -1 (always the second) to 1 (always the first); 0 is none.

    Each response is shown first once, so a judge without a bias names the first as often as the
    second. The figure is the share of judgments that name the first minus the share that name the
    second; a tie names neither.

    Args:
        rows: pairs judged in both orders; a case with an order that could not be read is unscored.

    **Source:** after L. Zheng et al., "Judging LLM-as-a-judge" (2023), section 3.3, where the share
    of biased verdicts is given by its direction.
    """
    share = proportion("position bias", rows, _share_of_first)
    return signed(share)


def signed(share: Estimate) -> Estimate:
    """A share between 0 and 1 on the scale from -1 to 1, where 0 is no bias."""
    return replace(
        share,
        value=_signed(share.value),
        low=_signed(share.low),
        high=_signed(share.high),
        bounds=None if share.bounds is None else (2 * share.bounds[0] - 1, 2 * share.bounds[1] - 1),
    )


def _signed(share: float | None) -> float | None:
    return None if share is None else 2 * share - 1


def _share_of_first(row: Row) -> float | None:
    if len(row.winners) != 2 or None in row.winners:
        return None
    points = {"a": (1.0, 0.0), "b": (0.0, 1.0), "tie": (0.5, 0.5)}
    in_order, swapped = row.winners
    return (points[in_order or "tie"][0] + points[swapped or "tie"][1]) / 2
