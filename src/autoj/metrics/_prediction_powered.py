"""Prediction-powered inference: a judge's figure over many cases, corrected by a few labels."""

from dataclasses import replace

import numpy as np

from autoj.metrics._bootstrap import from_totals
from autoj.metrics._intervals import Floats, Ints, Span
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
    return _estimate(
        name, values, clusters, len(rows) - len(values), span, "no judged case has a label"
    )


def prediction_powered_of(
    name: str, judged: Floats, labelled: Floats, clusters: Ints, *, span: Span, undefined: str
) -> Estimate:
    """The same from scores that were computed elsewhere.

    Args:
        name: the figure's name.
        judged: `[n]`, each case's score by the judge; not a number where it is unscored.
        labelled: `[n]`, its score by the label; not a number without one.
        clusters: `[n]`, a number shared by the cases of one query.
        span: the lowest and the highest possible value of the figure.
        undefined: the reason to give where no case has a label.
    """
    known = ~np.isnan(judged)
    has = (known & ~np.isnan(labelled))[known]
    score, label = judged[known], np.nan_to_num(labelled[known])
    values = np.stack(
        [np.ones(len(score)), score, has, score * has, label * has, score**2 * has,
         score * label * has], axis=1,
    )  # fmt: skip
    return _estimate(name, values, clusters[known], len(judged) - len(score), span, undefined)


def _estimate(
    name: str, values: Floats, clusters: Ints, n_unscored: int, span: Span, undefined: str
) -> Estimate:
    """The corrected mean from the contributions of all judged cases."""
    found = from_totals(
        name,
        values,
        clusters,
        _corrected,
        span=span,
        fisher=False,
        undefined=undefined,
        n_unscored=n_unscored,
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
