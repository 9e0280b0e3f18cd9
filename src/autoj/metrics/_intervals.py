"""Intervals that end where their figure does, and the reasons for which there is none.

Student's interval around a mean knows no scale: of two scores between 0 and 1 it may go from -2.66
to 3.20. What lies outside of the scale is impossible, so cutting it off loses no coverage: with 2,
3, 5 and 10 queries 92 to 100 % of the 95 % intervals hold the truth (`benchmarks/coverage.py`).
"""

import math
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

# `scipy.special` and the like are imported at their first use: they take a second and 30 MB, and
# neither a server nor most commands need them.
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_Z = 1.959963984540054  # the 97.5th percentile of the normal distribution: 95 % two-sided
Span: TypeAlias = tuple[float, float]
"""The lowest and the highest possible value of a score or a figure."""

SHARES: Span = (0.0, 1.0)
RATINGS: Span = (1.0, 10.0)

TOO_FEW_QUERIES = "no interval: it takes two queries or more"
NO_SPREAD = "no interval: all cases have the same score"
NO_OTHER_VALUE = "no interval: every resample of the queries gives the same value"
AT_THE_END = "no interval: the value is an end of its scale, and resampling cannot tell how surely"
TOO_FEW_VALUES = "no interval: too many resamples of so few queries give no value"


class Interval(NamedTuple):
    """A 95 % interval, or the reason for which there is none."""

    low: float | None
    high: float | None
    reason: str | None = None


def no_interval(reason: str) -> Interval:
    """The absence of an interval."""
    return Interval(None, None, reason)


def student(value: float, error: float, n_clusters: int, span: Span | None) -> Interval:
    """Student's 95 % interval around a value, cut at the ends of the figure's scale.

    Args:
        value: the figure.
        error: its standard error, above 0.
        n_clusters: the number of clusters behind the error; at least 2.
        span: the figure's lowest and highest possible value; None where it has no scale.
    """
    half = float(scipy.special.stdtrit(n_clusters - 1, 0.975)) * error
    return cut(Interval(value - half, value + half), span)


def wilson(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval around a share.

    Args:
        share: 0 to 1.
        n: the number of independent cases behind it, which may be a broken one.
    """
    centre = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def jeffreys(share: float, n: float) -> tuple[float, float]:
    """Jeffreys' 95 % interval around a share: shorter than Wilson's where it is near 0 or 1.

    Args:
        share: 0 to 1.
        n: the number of independent cases behind it, which may be a broken one.

    **Source:** L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial
    proportion", Statistical Science 16 (2001).
    """
    hits, misses = share * n + 0.5, (1 - share) * n + 0.5
    low = 0.0 if share <= 0 else float(scipy.special.betaincinv(hits, misses, 0.025))
    high = 1.0 if share >= 1 else float(scipy.special.betaincinv(hits, misses, 0.975))
    return low, high


def effective_size(values: Floats, clusters: Ints) -> tuple[int, float]:
    """The number of clusters, and of the independent cases that the mean of shares is worth.

    Args:
        values: `[n]`, scores between 0 and 1; at least one.
        clusters: `[n]`, a number shared by the cases of one query.
    """
    n, share = len(values), math.fsum(values) / len(values)
    totals = cluster_totals((values - share)[:, None], clusters)[:, 0]
    n_clusters, squares = len(totals), math.fsum(totals**2)
    spread = share * (1 - share)
    if spread == 0 or squares == 0 or n_clusters < 2:
        return n_clusters, float(n_clusters)
    # A score between 0 and 1, such as the mean of both orders, is worth up to two samples.
    most = n if np.isin(values, (0, 1)).all() else 2 * n
    variance = squares / n**2 * n_clusters / (n_clusters - 1)
    return n_clusters, min(spread / variance, float(most))


def cut(interval: Interval, span: Span | None) -> Interval:
    """An interval without what lies outside of a scale.

    >>> cut(Interval(-2.5, 3.0), (0.0, 1.0))
    Interval(low=0.0, high=1.0, reason=None)
    """
    if span is None or interval.low is None or interval.high is None:
        return interval
    lowest, highest = span
    low, high = (min(max(end, lowest), highest) for end in (interval.low, interval.high))
    return interval._replace(low=low, high=high)


def scale_of(scores: Iterable[float]) -> Span | None:
    """The usual scale that scores of unknown origin are on: 0 to 1, 1 to 10, or none.

    >>> scale_of([0.2, 0.9]), scale_of([1.0, 7.5]), scale_of([-3.0, 0.5])
    ((0.0, 1.0), (1.0, 10.0), None)
    """
    known = list(scores)
    if not known:
        return None
    lowest, highest = min(known), max(known)
    fits = (span for span in (SHARES, RATINGS) if span[0] <= lowest and highest <= span[1])
    return next(fits, None)


def cluster_totals(values: Floats, clusters: Ints) -> Floats:
    """The sum of each cluster's rows.

    Args:
        values: `[n_rows, k]`.
        clusters: `[n_rows]`, a number shared by the rows of one cluster.

    Returns:
        `[n_clusters, k]`, in the order of the clusters' numbers.
    """
    index = _numbered(clusters)
    n_clusters = int(index.max()) + 1 if len(index) else 0
    columns = [np.bincount(index, weights=column, minlength=n_clusters) for column in values.T]
    return np.stack(columns, axis=1)


def _numbered(clusters: Ints) -> Ints:
    """The clusters numbered from 0 in their order: `np.unique`'s inverse in half of its memory."""
    order = np.argsort(clusters, kind="stable")
    is_next = np.zeros(len(clusters), dtype=bool)
    ordered = clusters[order]
    np.not_equal(ordered[1:], ordered[:-1], out=is_next[1:])
    del ordered
    numbers = np.empty(len(clusters), dtype=np.int64)
    numbers[order] = np.cumsum(is_next, dtype=np.int32)
    return numbers


def mean_error(values: Floats, clusters: Ints) -> tuple[int, float | None, str | None]:
    """The number of clusters, the standard error of the mean, and why there is none.

    Args:
        values: `[n]`, at least one.
        clusters: `[n]`, a number shared by the cases of one query.
    """
    n, value = len(values), math.fsum(values) / len(values)
    totals = cluster_totals((values - value)[:, None], clusters)[:, 0]
    n_clusters, squares = len(totals), math.fsum(totals**2)
    if n_clusters < 2:
        return n_clusters, None, TOO_FEW_QUERIES
    # A spread at the level of rounding errors says nothing of the uncertainty.
    if squares <= 1e-18 * n * max(1.0, value**2):
        return n_clusters, None, NO_SPREAD
    return n_clusters, math.sqrt(squares * n_clusters / (n_clusters - 1)) / n, None
