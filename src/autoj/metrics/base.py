"""Figures with intervals that resample queries and not judgments.

Cases that share a query are not independent: an interval that treats them so is too narrow. The
variance here is taken over clusters (a cluster is a normalised query), turned into an effective
number of cases, and put into Wilson's interval, which stays inside 0 to 1 and keeps a width where
every case came out the same.

**Source:** E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
JASA 22 (1927); the effective sample size is Korn and Graubard's, "Confidence intervals for
proportions with small expected number of positive counts", Survey Methodology 24 (1998).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from autoj.records import Estimate, Winner

__all__ = ["Row", "by", "proportion"]

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


def proportion(name: str, rows: Sequence[Row], score: Callable[[Row], float | None]) -> Estimate:
    """The mean of a score between 0 and 1, with a 95 % interval over queries.

    Args:
        name: the figure's name.
        rows: the cases.
        score: a case's share of the figure, or None where it is unscored; unscored cases are left
            out and counted, and `bounds` says what they could have changed.
    """
    scored = [(row.cluster, value) for row in rows if (value := score(row)) is not None]
    n, n_unscored = len(scored), len(rows) - len(scored)
    if n == 0:
        reason = "there are no cases" if not rows else "no case could be scored"
        return Estimate(
            name=name, value=None, n=0, n_clusters=0, n_unscored=n_unscored, reason=reason
        )
    total = math.fsum(value for _, value in scored)
    value = total / n
    n_clusters, n_effective = _effective_size(scored, value)
    low, high = _wilson(value, n_effective)
    bounds = (total / len(rows), (total + n_unscored) / len(rows)) if n_unscored else None
    return Estimate(
        name=name,
        value=value,
        low=low,
        high=high,
        n=n,
        n_clusters=n_clusters,
        n_unscored=n_unscored,
        bounds=bounds,
    )


def _effective_size(scored: Sequence[tuple[int, float]], mean: float) -> tuple[int, float]:
    """How many clusters there are, and how many independent cases the scores are worth."""
    residuals: dict[int, float] = {}
    for cluster, value in scored:
        residuals[cluster] = residuals.get(cluster, 0.0) + value - mean
    n_clusters = len(residuals)
    spread = mean * (1 - mean)
    squares = math.fsum(residual**2 for residual in residuals.values())
    if spread == 0 or squares == 0 or n_clusters < 2:
        return n_clusters, float(n_clusters)
    variance = squares / len(scored) ** 2 * n_clusters / (n_clusters - 1)
    return n_clusters, min(spread / variance, float(len(scored)))


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
