"""Figures with intervals that resample queries and not judgments.

Cases that share a query are not independent: an interval that treats them so is too narrow. The
variance here is taken over clusters (a cluster is a normalised query). For a proportion it is
turned into an effective number of cases and put into Wilson's interval, which stays inside 0 to 1
and keeps a width where every case came out the same. For a mean it goes into Student's interval.

**Source:** E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
JASA 22 (1927); the effective sample size is Korn and Graubard's, "Confidence intervals for
proportions with small expected number of positive counts", Survey Methodology 24 (1998).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from autoj.metrics._bootstrap import Floats, Ints, cluster_totals
from autoj.records import Estimate, Winner

__all__ = ["Row", "Score", "by", "mean", "proportion", "scored"]

_Z = 1.959963984540054  # the 97.5th percentile of the normal distribution: 95 % two-sided


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What metrics need to know of a case and its verdict."""

    cluster: int
    """A number that cases with the same query share."""
    label: Winner | float | None
    winner: Winner | None
    winners: tuple[Winner | None, ...]
    consistent: bool | None
    scenario: str | None
    subset: str | None = None
    """The part of the data set that the case belongs to, where it has parts."""
    style: str | None = None
    """"easy", "normal" or "hard": whether the better response looks better, alike or worse."""
    rating: float | None = None
    """1.0 to 10.0 (or a scalar model's score), where one response was rated."""
    averaged: Winner | None = None
    """What the probabilities averaged over both orders say, or two responses' own ratings."""
    probabilities: tuple[float, float, float] | None = None
    """Of "a", "b" and "tie", averaged over the orders."""
    lengths: tuple[int, int] | None = None
    """Characters of response a and of response b, without the space around them."""


Score = Callable[[Row], float | None]
"""A case's share of a figure, or None where it is unscored."""


def scored(rows: Sequence[Row], score: Score) -> tuple[Floats, Ints]:
    """The scores that are known, `[n_scored]`, and the cluster of each."""
    known = [(row.cluster, value) for row in rows if (value := score(row)) is not None]
    return (
        np.array([value for _, value in known], dtype=np.float64),
        np.array([cluster for cluster, _ in known], dtype=np.int64),
    )


def proportion(name: str, rows: Sequence[Row], score: Score) -> Estimate:
    """The mean of a score between 0 and 1, with a 95 % interval over queries.

    Args:
        name: the figure's name.
        rows: the cases.
        score: a case's share of the figure, or None where it is unscored; unscored cases are left
            out and counted, and `bounds` says what they could have changed.
    """
    values, clusters = scored(rows, score)
    n, n_unscored = len(values), len(rows) - len(values)
    if n == 0:
        return _nothing(name, rows)
    total = math.fsum(values)
    value = total / n
    n_clusters, squares = _spread(values - value, clusters)
    low, high = _wilson(value, _effective_size(n, n_clusters, value, squares))
    return Estimate(
        name=name,
        value=value,
        low=low,
        high=high,
        n=n,
        n_clusters=n_clusters,
        n_unscored=n_unscored,
        bounds=(total / len(rows), (total + n_unscored) / len(rows)) if n_unscored else None,
    )


def mean(name: str, rows: Sequence[Row], score: Score) -> Estimate:
    """The mean of a score on any scale, with a 95 % interval over queries.

    Args:
        name: the figure's name.
        rows: the cases.
        score: a case's score, or None where it is unscored. A mean over one query has no interval.
    """
    values, clusters = scored(rows, score)
    n = len(values)
    if n == 0:
        return _nothing(name, rows)
    value = math.fsum(values) / n
    n_clusters, squares = _spread(values - value, clusters)
    half = None
    if n_clusters > 1:
        error = math.sqrt(squares * n_clusters / (n_clusters - 1)) / n
        half = float(stdtrit(n_clusters - 1, 0.975)) * error
    return Estimate(
        name=name,
        value=value,
        low=None if half is None else value - half,
        high=None if half is None else value + half,
        n=n,
        n_clusters=n_clusters,
        n_unscored=len(rows) - n,
    )


def _nothing(name: str, rows: Sequence[Row]) -> Estimate:
    reason = "no case could be scored" if rows else "there are no cases"
    return Estimate(name=name, value=None, n=0, n_clusters=0, n_unscored=len(rows), reason=reason)


def _spread(residuals: Floats, clusters: Ints) -> tuple[int, float]:
    """How many clusters there are, and the sum of their squared residuals."""
    totals = cluster_totals(residuals[:, None], clusters)
    return len(totals), math.fsum(totals[:, 0] ** 2)


def _effective_size(n: int, n_clusters: int, share: float, squares: float) -> float:
    """How many independent cases the scores are worth; at most as many as there are."""
    spread = share * (1 - share)
    if spread == 0 or squares == 0 or n_clusters < 2:
        return float(n_clusters)
    variance = squares / n**2 * n_clusters / (n_clusters - 1)
    return min(spread / variance, float(n))


def _wilson(value: float, n: float) -> tuple[float, float]:
    centre = (value + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(value * (1 - value) / n + _Z**2 / (4 * n**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def by(rows: Iterable[Row], name_of: Callable[[Row], str | None]) -> dict[str, list[Row]]:
    """Rows by a name of theirs, such as their scenario's; those without one are left out."""
    parts: dict[str, list[Row]] = {}
    for row in rows:
        if (name := name_of(row)) is not None:
            parts.setdefault(name, []).append(row)
    return parts
