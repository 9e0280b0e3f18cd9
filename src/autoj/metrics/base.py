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

from scipy.special import stdtrit

from autoj.records import Estimate, Winner

__all__ = ["Row", "by", "mean", "proportion"]

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
    rating: float | None = None
    """1.0 to 10.0, where one response was rated."""


def proportion(name: str, rows: Sequence[Row], score: Callable[[Row], float | None]) -> Estimate:
    """The mean of a score between 0 and 1, with a 95 % interval over queries.

    Args:
        name: the figure's name.
        rows: the cases.
        score: a case's share of the figure, or None where it is unscored; unscored cases are left
            out and counted, and `bounds` says what they could have changed.
    """
    scored = _scored(rows, score)
    n, n_unscored = len(scored), len(rows) - len(scored)
    if n == 0:
        return _nothing(name, rows)
    total = math.fsum(value for _, value in scored)
    value = total / n
    n_clusters, squares = _clusters(scored, value)
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


def mean(name: str, rows: Sequence[Row], score: Callable[[Row], float | None]) -> Estimate:
    """The mean of a score on any scale, with a 95 % interval over queries.

    Args:
        name: the figure's name.
        rows: the cases.
        score: a case's score, or None where it is unscored. A mean over one query has no interval.
    """
    scored = _scored(rows, score)
    n = len(scored)
    if n == 0:
        return _nothing(name, rows)
    value = math.fsum(value for _, value in scored) / n
    n_clusters, squares = _clusters(scored, value)
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


def _scored(rows: Sequence[Row], score: Callable[[Row], float | None]) -> list[tuple[int, float]]:
    return [(row.cluster, value) for row in rows if (value := score(row)) is not None]


def _nothing(name: str, rows: Sequence[Row]) -> Estimate:
    reason = "no case could be scored" if rows else "there are no cases"
    return Estimate(name=name, value=None, n=0, n_clusters=0, n_unscored=len(rows), reason=reason)


def _clusters(scored: Sequence[tuple[int, float]], centre: float) -> tuple[int, float]:
    """How many clusters there are, and the sum of their squared residuals."""
    residuals: dict[int, float] = {}
    for cluster, value in scored:
        residuals[cluster] = residuals.get(cluster, 0.0) + value - centre
    return len(residuals), math.fsum(residual**2 for residual in residuals.values())


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
