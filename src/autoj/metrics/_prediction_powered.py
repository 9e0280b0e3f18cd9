"""Prediction-powered inference: a judge's figure over many cases, corrected by a few labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autoj.metrics._bootstrap import from_totals
from autoj.metrics._intervals import Floats, Span
from autoj.metrics.base import Rows, Score, contributions
from autoj.records import Estimate


def prediction_powered(
    name: str, rows: Rows, judged: Score, labelled: Score, *, span: Span
) -> Estimate:
    """Estimates the mean human score over all cases, from the judge's verdicts and a few labels.

    The judge's mean over all cases plus the mean of (label - judge) over the labelled ones: this
    removes the judge's bias, and where the judge is informative the interval is narrower than from
    the labels alone. The judge is weighted by how well it predicts the labels, so that a useless
    one does no harm.

    Args:
        name: the figure's name.
        rows: all judged cases, the labelled ones among them.
        judged: a case's score by the judge, or None where it is unscored.
        labelled: its score by the human label, or None without a label.
        span: the lowest and the highest possible value of the figure.

    **Source:** A. N. Angelopoulos et al., "Prediction-powered inference", Science 382 (2023);
    the weight is that of "PPI++" (2023), section 6, for a mean.
    """
    values, clusters = contributions(
        rows, lambda row: _contribution(judged(row), labelled(row)), k=7
    )
    found = from_totals(
        name,
        values,
        clusters,
        _corrected,
        span=span,
        fisher=False,
        undefined="no judged case has a label",
        n_unscored=len(rows) - len(values),
        # The labels are the uncertain part, so their number sets the degrees of freedom.
        n_telling=len(np.unique(clusters[values[:, 2] > 0])),
    )
    # The judge's mean plus a correction may leave the scale.
    value = None if found.value is None else min(max(found.value, span[0]), span[1])
    return replace(found, value=value)


def _contribution(judged: float | None, label: float | None) -> tuple[float, ...] | None:
    """All cases and the judge's score; then, of labelled ones: count, both scores, products."""
    if judged is None:
        return None
    if label is None:
        return (1.0, judged, 0.0, 0.0, 0.0, 0.0, 0.0)
    return (1.0, judged, 1.0, judged, label, judged * judged, judged * label)


def _corrected(totals: Floats) -> Floats:
    n, judged, n_labelled, judged_there, label, squares, products = np.moveaxis(totals, -1, 0)
    mean_there, mean_label = judged_there / n_labelled, label / n_labelled
    variance = squares / n_labelled - mean_there**2
    covariance = products / n_labelled - mean_there * mean_label
    with np.errstate(all="ignore"):
        slope = np.where(variance > 1e-12, covariance / variance, 0.0)
    # The labelled cases are among all cases, so the slope itself is the best weight.
    weight = np.clip(slope, 0, 1)
    corrected: Floats = mean_label + weight * (judged / n - mean_there)
    return corrected
