"""Intervals for figures that are functions of totals: kappa, correlations, biases, differences.

Such a figure is a smooth function of sums over cases: Pearson's correlation of the sums of x, y,
x², y² and xy, kappa of the nine counts of a confusion table. So a case is a vector, a cluster (the
cases of one query) is the sum of its vectors, and a bootstrap sample is a weighted sum of
clusters: one matrix product computes all of them.

The bootstrap gives a standard error, and the interval is Student's around the value, on Fisher's
scale where the figure lies between -1 and 1, and cut where the figure ends. With few queries this
has better coverage than percentile intervals, plain or corrected (`benchmarks/coverage.py`).

**Source:** the cluster bootstrap is A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their
Application" (1997), section 3.8; Fisher's scale is R. A. Fisher, "On the probable error of a
coefficient of correlation", Metron 1 (1921); pooling clusters into random groups is K. M. Wolter,
"Introduction to Variance Estimation" (2007), chapter 2.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from autoj.metrics._intervals import (
    AT_THE_END,
    NO_OTHER_VALUE,
    TOO_FEW_QUERIES,
    TOO_FEW_VALUES,
    Floats,
    Interval,
    Ints,
    Span,
    cluster_totals,
    cut,
    no_interval,
    student,
)
from autoj.records import Estimate

Statistic = Callable[[Floats], Floats]
"""From totals `[..., k]` to values `[...]`; not finite where the totals give no value."""

N_DRAWS = 1000
_MOST_CLUSTERS = 4000
"""With more clusters, they are pooled at random into this many groups: the cost grows with their
number, and the standard error from 4,000 groups is itself known to about 1 %."""


@lru_cache(maxsize=64)
def cluster_weights(n_clusters: int, n_draws: int = N_DRAWS, seed: int = 0) -> Floats:
    """Counts of clusters in each bootstrap sample, `[n_draws, n_clusters]`, fixed by the seed."""
    chances = np.full(n_clusters, 1 / n_clusters)
    drawn = np.random.default_rng(seed).multinomial(n_clusters, chances, size=n_draws)
    return drawn.astype(np.float64)


def _pooled(totals: Floats) -> Floats:
    """At most `_MOST_CLUSTERS` random groups of clusters."""
    if len(totals) <= _MOST_CLUSTERS:
        return totals
    group = np.random.default_rng(0).permutation(len(totals)) % _MOST_CLUSTERS
    return cluster_totals(totals, group)


def student_interval(
    value: float, draws: Floats, n_clusters: int, *, span: Span, fisher: bool
) -> Interval:
    """A 95 % interval from a figure's value and its bootstrap samples.

    Args:
        value: the figure.
        draws: `[n_draws]`, the figure in each bootstrap sample; not finite where undefined.
        n_clusters: the number of clusters resampled.
        span: the figure's lowest and highest possible value.
        fisher: True draws it on Fisher's scale, for figures between -1 and 1.
    """
    if n_clusters < 2:
        return no_interval(TOO_FEW_QUERIES)
    centre = value
    if fisher:
        with np.errstate(all="ignore"):
            centre, draws = float(np.arctanh(value)), np.arctanh(draws)
        if not np.isfinite(centre):
            return no_interval(AT_THE_END)
    known = draws[np.isfinite(draws)]
    # Many samples without a value (all of one class, say) mean that the data are too few.
    if len(known) < 0.8 * len(draws):
        return no_interval(TOO_FEW_VALUES)
    # The variance is too small by (n - 1) / n, as any variance around a sample's own mean.
    error = float(known.std()) * float(np.sqrt(n_clusters / (n_clusters - 1)))
    # A spread at the level of rounding errors is none, and says nothing of the uncertainty.
    if error < 1e-9:
        return no_interval(NO_OTHER_VALUE)
    if not fisher:
        return student(value, error, n_clusters, span)
    low, high, _ = student(centre, error, n_clusters, None)
    assert low is not None
    assert high is not None
    return cut(Interval(float(np.tanh(low)), float(np.tanh(high))), span)


def from_totals(
    name: str,
    values: Floats,
    clusters: Ints,
    statistic: Statistic,
    *,
    span: Span,
    fisher: bool,
    undefined: str,
    n_unscored: int = 0,
    n_telling: int | None = None,
) -> Estimate:
    """A figure that is a function of totals, with its interval.

    Args:
        name: the figure's name.
        values: `[n_cases, k]`, each case's contribution to the totals.
        clusters: `[n_cases]`, a number shared by the cases of one query.
        statistic: computes the figure from totals.
        span: the figure's lowest and highest possible value.
        fisher: True draws the interval on Fisher's scale, for figures between -1 and 1.
        undefined: the reason to give where all cases together give no value.
        n_unscored: number of cases left out.
        n_telling: the number of clusters behind the standard error, where it is not all of them;
            sets Student's degrees of freedom.
    """
    n = len(values)
    counted: dict[str, Any] = {"name": name, "n": n, "n_unscored": n_unscored}
    if n == 0:
        reason = "no case could be scored" if n_unscored else "there are no cases"
        return Estimate(value=None, n_clusters=0, reason=reason, **counted)
    totals = cluster_totals(values, clusters)
    n_clusters = len(totals)
    with np.errstate(all="ignore"):
        value = float(statistic(totals.sum(axis=0)))
        if not np.isfinite(value):
            return Estimate(value=None, n_clusters=n_clusters, reason=undefined, **counted)
        pooled = _pooled(totals)
        draws = statistic(cluster_weights(len(pooled)) @ pooled)
    interval = student_interval(
        value, draws, min(len(pooled), n_telling or n_clusters), span=span, fisher=fisher
    )
    return Estimate(
        value=value,
        low=interval.low,
        high=interval.high,
        n_clusters=n_clusters,
        reason=interval.reason,
        **counted,
    )
