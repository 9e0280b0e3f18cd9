"""Correlation of two scores of the same items: Pearson, Spearman, Kendall."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import scipy

from autoj.metrics._bootstrap import cluster_weights, from_totals, student_interval
from autoj.metrics._intervals import Floats, Ints, cluster_totals
from autoj.metrics.base import Row, Rows, contributions, select
from autoj.records import Estimate

Coefficient: TypeAlias = Literal["pearson", "spearman", "kendall"]

# `scipy.stats` is imported at its first use: it takes a second, and most commands need none of it.
_FUNCTIONS: dict[Coefficient, str] = {
    "pearson": "pearsonr",
    "spearman": "spearmanr",
    "kendall": "kendalltau",
}
_SPAN = (-1.0, 1.0)
_CONSTANT = "one of the two scores is the same everywhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """A coefficient with its interval and its p-value."""

    estimate: Estimate
    p_value: float | None
    """Two-sided p-value of no correlation; None without a value. SciPy's where each item is a
    cluster of its own, else from the clusters' standard error."""


def compute(rows: Rows, coefficient: Coefficient = "pearson") -> Estimate:
    """The correlation of ratings with the labels of the rated responses, -1 to 1.

    Args:
        rows: one per rated response; those whose label is a number count, and one whose rating
            could not be read is unscored.
        coefficient: "pearson", "spearman" or "kendall".
    """
    labelled = select(rows, lambda row: isinstance(row.label, float))
    scores, clusters = contributions(labelled, _rating_and_label, 2)
    found = correlate(
        "correlation",
        scores[:, 0],
        scores[:, 1],
        coefficient,
        clusters=clusters,
        n_unscored=len(labelled) - len(scores),
    )
    return found.estimate


def _rating_and_label(row: Row) -> Sequence[float] | None:
    if row.rating is None or not isinstance(row.label, float):
        return None
    return row.rating, row.label


def correlate(
    name: str,
    x: Floats,
    y: Floats,
    coefficient: Coefficient,
    *,
    clusters: Ints | None = None,
    n_unscored: int = 0,
) -> Correlation:
    """A correlation coefficient with a 95 % interval over clusters.

    Args:
        name: the figure's name.
        x: `[n]`, one score of each item.
        y: `[n]`, the other score.
        coefficient: the kind. Spearman's is Pearson's of the ranks, also in each bootstrap sample;
            Kendall's (tau-b) is computed anew in each one.
        clusters: `[n]`, a number shared by the items of one query; None makes each its own.
        n_unscored: number of items that lack a score.

    **Source:** `scipy.stats` for values and p-values.
    """
    own = np.arange(len(x), dtype=np.int64) if clusters is None else clusters
    if coefficient == "kendall":
        estimate = _kendall(name, x, y, own, n_unscored)
    else:
        ranked = coefficient == "spearman"
        u, v = (scipy.stats.rankdata(scores) if ranked else scores for scores in (x, y))
        estimate = from_totals(
            name,
            _moments(u, v),
            own,
            _pearson,
            span=_SPAN,
            fisher=True,
            undefined=_CONSTANT,
            n_unscored=n_unscored,
        )
    p_value = None
    if estimate.value is not None and len(x) > 2:
        alone = estimate.n_clusters == len(x)
        p_value = _exact_p_value(coefficient, x, y) if alone else _p_value(estimate)
    return Correlation(estimate=estimate, p_value=p_value)


def _exact_p_value(coefficient: Coefficient, x: Floats, y: Floats) -> float:
    return float(getattr(scipy.stats, _FUNCTIONS[coefficient])(x, y).pvalue)


def _p_value(estimate: Estimate) -> float | None:
    """The p-value of no correlation, from the interval's standard error on Fisher's scale."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    freedom = estimate.n_clusters - 1
    # The end that is farther from 1 and -1 is the one that is not rounded to them.
    end = estimate.low if estimate.value > 0 else estimate.high
    if abs(end) == 1:
        return None  # The interval is the whole scale: its error is not known.
    centre = np.arctanh(estimate.value)
    error = abs(np.arctanh(end) - centre) / scipy.special.stdtrit(freedom, 0.975)
    return 2 * float(scipy.special.stdtr(freedom, -abs(centre) / error))


def _moments(x: Floats, y: Floats) -> Floats:
    """Each item's contribution to the totals, centred to keep squares of large scores exact."""
    u, v = x - x.mean() if len(x) else x, y - y.mean() if len(y) else y
    return np.stack([np.ones_like(u), u, v, u * u, v * v, u * v], axis=1)


def _pearson(totals: Floats) -> Floats:
    n, x, y, xx, yy, xy = np.moveaxis(totals, -1, 0)
    spread = (n * xx - x * x) * (n * yy - y * y)
    # The spread that rounding leaves of a constant is none.
    none = spread <= 1e-12 * (n * xx) * (n * yy)
    found: Floats = np.where(none, np.nan, (n * xy - x * y) / np.sqrt(np.maximum(spread, 0)))
    return np.clip(found, -1, 1)


def _kendall(name: str, x: Floats, y: Floats, clusters: Ints, n_unscored: int) -> Estimate:
    counted: dict[str, Any] = {"name": name, "n": len(x), "n_unscored": n_unscored}
    if len(x) == 0:
        return Estimate(value=None, n_clusters=0, reason="there are no cases", **counted)
    members = _members(clusters)
    value = _tau(x, y)
    if not np.isfinite(value):
        return Estimate(value=None, n_clusters=len(members), reason=_CONSTANT, **counted)
    draws = np.array(
        [
            _tau(x[drawn], y[drawn])
            for weights in cluster_weights(len(members)).astype(np.int64)
            for drawn in [np.concatenate(np.repeat(_as_objects(members), weights))]
        ]
    )
    low, high, reason = student_interval(value, draws, len(members), span=_SPAN, fisher=True)
    return Estimate(
        value=value, low=low, high=high, n_clusters=len(members), reason=reason, **counted
    )


def _members(clusters: Ints) -> list[Ints]:
    """The indices of each cluster's items."""
    _, index = np.unique(clusters, return_inverse=True)
    order = np.argsort(index, kind="stable")
    sizes = cluster_totals(np.ones((len(index), 1)), index)[:, 0].astype(np.int64)
    return cast(list[Ints], np.split(order, np.cumsum(sizes)[:-1]))


def _as_objects(members: list[Ints]) -> Any:
    held = np.empty(len(members), dtype=object)
    held[:] = members
    return held


def _tau(x: Floats, y: Floats) -> float:
    if (x == x[0]).all() or (y == y[0]).all():
        return float("nan")
    return float(scipy.stats.kendalltau(x, y).statistic)
