"""Calibration metrics: Brier score, expected calibration error and reliability bins."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from autoj.metrics._bootstrap import from_totals
from autoj.metrics._intervals import SHARES, Floats, Ints
from autoj.metrics.base import Row, Rows, contributions, is_labelled, mean, select
from autoj.records import WINNERS, Estimate

_N_BINS = 10
_BRIER = (0.0, 2.0)
_BIASED = "no interval: the error of finite cases is biased upward"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """The cases whose verdict has a probability in one tenth of the scale."""

    low: float
    high: float
    n: int
    confidence: float
    """The mean probability of the verdict."""
    accuracy: float
    """The share in which the verdict equals the label."""


def compute(rows: Rows) -> Estimate:
    """The Brier score of the averaged probabilities: 0 (sure and right) to 2 (sure and wrong).

    Uniform probabilities (a third each for a, b and tie) give 0.667.

    Args:
        rows: pairs; those with a label count, and one without probabilities is unscored.

    **Source:** G. W. Brier, "Verification of forecasts expressed in terms of probability" (1950),
    summed over the three classes.
    """
    labelled = select(rows, is_labelled)
    return mean("calibration", labelled, _brier, span=_BRIER)


def _brier(row: Row) -> float | None:
    if row.probabilities is None:
        return None
    return sum(
        (share - float(row.label == winner)) ** 2
        for share, winner in zip(row.probabilities, WINNERS, strict=True)
    )


def expected_calibration_error(rows: Rows) -> Estimate:
    """The mean gap between confidence and accuracy over ten equal bins, 0 to 1.

    Even a calibrated judge's is above 0, the more so the fewer cases there are; an interval around
    it would miss the true value, so there is none.

    Args:
        rows: pairs; those with a label count, and one without probabilities is unscored.

    **Source:** C. Guo et al., "On calibration of modern neural networks" (2017), section 2.
    """
    return calibration_error(*_confidences(rows))


def calibration_error(
    confidence: Floats, right: Floats, clusters: Ints, n_unscored: int = 0
) -> Estimate:
    """The expected calibration error of predictions that are not rows.

    Args:
        confidence: `[n]`, the probability of each guess, 0 to 1.
        right: `[n]`, 1 where the guess is the label, else 0.
        clusters: `[n]`, a number shared by the cases of one query.
        n_unscored: cases without a probability.
    """
    values = np.zeros((len(confidence), 1 + _N_BINS))
    values[:, 0] = 1
    values[np.arange(len(confidence)), 1 + _bin_of(confidence)] = confidence - right
    found = from_totals(
        "expected calibration error",
        values,
        clusters,
        lambda totals: np.abs(totals[..., 1:]).sum(axis=-1) / totals[..., 0],
        span=SHARES,
        fisher=False,
        undefined="there are no cases",
        n_unscored=n_unscored,
    )
    if found.value is None:
        return found
    return replace(found, low=None, high=None, reason=_BIASED)


def reliability(rows: Rows) -> tuple[ReliabilityBin, ...]:
    """The bins that hold cases, by rising confidence.

    Args:
        rows: pairs; those with a label and probabilities count.
    """
    confidence, right, _, _ = _confidences(rows)
    return reliability_bins(confidence, right)


def reliability_bins(confidence: Floats, right: Floats) -> tuple[ReliabilityBin, ...]:
    """The non-empty bins of predictions that are not rows.

    Args:
        confidence: `[n]`, the probability of each guess, 0 to 1.
        right: `[n]`, 1 where the guess is the label, else 0.
    """
    bins = _bin_of(confidence)
    return tuple(
        ReliabilityBin(
            low=index / _N_BINS,
            high=(index + 1) / _N_BINS,
            n=int((bins == index).sum()),
            confidence=float(confidence[bins == index].mean()),
            accuracy=float(right[bins == index].mean()),
        )
        for index in sorted(set(bins.tolist()))
    )


def _confidences(rows: Rows) -> tuple[Floats, Floats, Ints, int]:
    """Per labelled row: its likeliest outcome's probability, whether it is the label, its cluster.

    The fourth value counts the labelled rows without probabilities.
    """
    labelled = select(rows, is_labelled)
    values, clusters = contributions(labelled, _confidence, 2)
    return values[:, 0], values[:, 1], clusters, len(labelled) - len(values)


def _confidence(row: Row) -> Sequence[float] | None:
    if row.probabilities is None:
        return None
    confidence = max(row.probabilities)
    return confidence, float(row.label == WINNERS[row.probabilities.index(confidence)])


def _bin_of(confidence: Floats) -> Ints:
    return np.minimum((confidence * _N_BINS).astype(np.int64), _N_BINS - 1)
