"""Paired differences of two judges or models on the same cases, and correction for many tests."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from autoj.metrics._intervals import Floats, Ints, Span, mean_error, student
from autoj.metrics.base import Row, Score
from autoj.records import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The paired difference of two judges' figures on the same cases."""

    estimate: Estimate
    p_value: float | None
    """Two-sided p-value of no difference; None without an interval."""


def difference(
    name: str, one: Sequence[Row], other: Sequence[Row], score: Score, *, span: Span | None
) -> Difference:
    """The paired difference of a mean score, with a 95 % interval over queries.

    Variation that both judges share cancels case by case, so the interval is narrower than those of
    the two figures alone.

    Args:
        name: the figure's name.
        one: the rows of the first judge.
        other: the rows of the second judge on the same cases, in the same order.
        score: a case's share of the figure, or None where it is unscored; a case counts where it
            is scored for both judges.
        span: the lowest and the highest possible score, which bound the difference; None where
            scores have no scale.

    **Source:** Student's test on the clusters' sums of differences (CR1).
    """
    pairs = [
        (row.cluster, mine - theirs)
        for row, its in zip(one, other, strict=True)
        if (mine := score(row)) is not None and (theirs := score(its)) is not None
    ]
    values = np.array([value for _, value in pairs], dtype=np.float64)
    clusters = np.array([cluster for cluster, _ in pairs], dtype=np.int64)
    widest = None if span is None else span[1] - span[0]
    return difference_of(name, values, clusters, len(one) - len(pairs), widest=widest)


def difference_of(
    name: str,
    values: Floats,
    clusters: Ints,
    n_unscored: int = 0,
    *,
    widest: float | None,
) -> Difference:
    """The paired difference from values computed elsewhere; see `difference`.

    Args:
        name: the figure's name.
        values: `[n]`, each case's score by the first judge minus that by the second.
        clusters: `[n]`, a number shared by the cases of one query.
        n_unscored: number of cases not scored for both.
        widest: the largest possible difference; None where scores have no scale.
    """
    n = len(values)
    if n == 0:
        reason = "no case is scored for both" if n_unscored else "there are no cases"
        empty = Estimate(
            name=name, value=None, n=0, n_clusters=0, n_unscored=n_unscored, reason=reason
        )
        return Difference(estimate=empty, p_value=None)
    value = math.fsum(values) / n
    n_clusters, error, why = mean_error(values, clusters)
    low = high = p_value = None
    if error is not None:
        span = None if widest is None else (-widest, widest)
        low, high, _ = student(value, error, n_clusters, span)
        p_value = 2 * float(scipy.special.stdtr(n_clusters - 1, -abs(value) / error))
    return Difference(
        estimate=Estimate(
            name=name,
            value=value,
            low=low,
            high=high,
            n=n,
            n_clusters=n_clusters,
            n_unscored=n_unscored,
            reason=why,
        ),
        p_value=p_value,
    )


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's correction of p-values, which controls the family-wise error rate.

    Args:
        p_values: each test's name and p-value.

    **Source:** S. Holm, "A simple sequentially rejective multiple test procedure" (1979).

    >>> holm({"x": 0.01, "y": 0.04, "z": 0.03})
    {'x': 0.03, 'y': 0.06, 'z': 0.06}
    """
    ordered = sorted(p_values, key=lambda name: p_values[name])
    corrected: dict[str, float] = {}
    highest = 0.0
    for rank, name in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - rank) * p_values[name]))
        corrected[name] = highest
    return {name: corrected[name] for name in p_values}
