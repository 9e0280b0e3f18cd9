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
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, overload

import numpy as np
from scipy.special import stdtrit

from autoj.metrics._bootstrap import Floats, Ints, cluster_totals
from autoj.records import Estimate, Winner

__all__ = [
    "Row",
    "Rows",
    "Score",
    "Tally",
    "by",
    "contributions",
    "is_labelled",
    "mean",
    "mean_of",
    "proportion",
    "proportion_of",
    "scored",
    "select",
    "tally",
]

_Z = 1.959963984540054  # the 97.5th percentile of the normal distribution: 95 % two-sided


class Row(NamedTuple):
    """What metrics need to know of a case and its verdict; a tuple, for there may be millions."""

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
    strengths: tuple[int | None, ...] = ()
    """How clear each order's winner is, where that was said: 0 a tie, 1 better, 2 much better."""
    averaged: Winner | None = None
    """What the probabilities averaged over both orders say, or two responses' own ratings."""
    probabilities: tuple[float, float, float] | None = None
    """Of "a", "b" and "tie", averaged over the orders."""
    lengths: tuple[int, int] | None = None
    """Characters of response a and of response b, without the space around them."""


Score = Callable[[Row], float | None]
"""A case's share of a figure, or None where it is unscored."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Many rows, those that differ by their cluster alone kept once, with all their clusters.

    A million verdicts on pairs come out in a few hundred ways; metrics look at each way once.
    """

    patterns: Mapping[Row, Ints]
    """A row with the cluster 0, and the clusters of all rows like it."""

    def __len__(self) -> int:
        return sum(map(len, self.patterns.values()))

    def __iter__(self) -> Iterator[Row]:
        """Each way once."""
        return iter(self.patterns)


Rows: TypeAlias = Sequence[Row] | Tally
"""Cases and their verdicts, one by one or counted together; iteration meets each way of coming out
at least once."""


def tally(rows: Iterable[Row]) -> Tally:
    """Count rows together as they come, without what differs in each: probabilities and lengths."""
    found: dict[tuple[object, ...], array[int]] = {}
    for row in rows:
        # Everything between the cluster and the two last fields, which differ in each row.
        pattern = row[1:-2]
        clusters = found.get(pattern)
        if clusters is None:
            clusters = found[pattern] = array("q")
        clusters.append(row.cluster)
    return Tally(
        {
            Row(0, *pattern): np.array(clusters, dtype=np.int64)  # type: ignore[arg-type]
            for pattern, clusters in found.items()
        }
    )


def select(rows: Rows, keep: Callable[[Row], bool]) -> Rows:
    """The rows that are kept."""
    if isinstance(rows, Tally):
        return Tally({row: clusters for row, clusters in rows.patterns.items() if keep(row)})
    return [row for row in rows if keep(row)]


def is_labelled(row: Row) -> bool:
    """Whether people said something of the case."""
    return row.label is not None


def scored(rows: Rows, score: Score) -> tuple[Floats, Ints]:
    """The scores that are known, `[n_scored]`, and the cluster of each."""
    values, clusters = contributions(
        rows, lambda row: None if (value := score(row)) is None else (value,), 1
    )
    return values[:, 0], clusters


def contributions(
    rows: Rows, adds: Callable[[Row], Sequence[float] | None], k: int
) -> tuple[Floats, Ints]:
    """What each row adds to totals, `[n_scored, k]`, and the cluster of each.

    Args:
        rows: the cases.
        adds: a row's `k` numbers, or None where it is unscored.
        k: how many numbers.
    """
    known = [(row, numbers) for row in rows if (numbers := adds(row)) is not None]
    values = np.array([numbers for _, numbers in known], dtype=np.float64).reshape(-1, k)
    if not isinstance(rows, Tally):
        return values, np.array([row.cluster for row, _ in known], dtype=np.int64)
    clusters = [rows.patterns[row] for row, _ in known]
    n_each = [len(its) for its in clusters]
    joined = np.concatenate(clusters) if clusters else np.array([], dtype=np.int64)
    return np.repeat(values, n_each, axis=0), joined


def proportion(name: str, rows: Rows, score: Score) -> Estimate:
    """The mean of a score between 0 and 1, with a 95 % interval over queries.

    Args:
        name: the figure's name.
        rows: the cases.
        score: a case's share of the figure, or None where it is unscored; unscored cases are left
            out and counted, and `bounds` says what they could have changed.
    """
    values, clusters = scored(rows, score)
    return proportion_of(name, values, clusters, len(rows) - len(values))


def proportion_of(name: str, values: Floats, clusters: Ints, n_unscored: int = 0) -> Estimate:
    """The same of scores that are no rows.

    Args:
        name: the figure's name.
        values: `[n]`, scores between 0 and 1.
        clusters: `[n]`, a number that cases of one query share.
        n_unscored: cases that have no score.
    """
    n = len(values)
    if n == 0:
        return _nothing(name, n_unscored)
    total = math.fsum(values)
    value = total / n
    n_clusters, squares = _spread(values - value, clusters)
    # A score between 0 and 1, such as the mean of both orders, is worth up to two draws.
    most = n if np.isin(values, (0, 1)).all() else 2 * n
    low, high = _wilson(value, _effective_size(n, most, n_clusters, value, squares))
    return Estimate(
        name=name,
        value=value,
        low=low,
        high=high,
        n=n,
        n_clusters=n_clusters,
        n_unscored=n_unscored,
        bounds=_bounds(total, n, n_unscored) if n_unscored else None,
    )


def mean(name: str, rows: Rows, score: Score) -> Estimate:
    """The mean of a score on any scale, with a 95 % interval over queries.

    Args:
        name: the figure's name.
        rows: the cases.
        score: a case's score, or None where it is unscored. A mean over one query has no interval.
    """
    values, clusters = scored(rows, score)
    return mean_of(name, values, clusters, len(rows) - len(values))


def mean_of(name: str, values: Floats, clusters: Ints, n_unscored: int = 0) -> Estimate:
    """The same of scores that are no rows.

    Args:
        name: the figure's name.
        values: `[n]`, the scores.
        clusters: `[n]`, a number that cases of one query share.
        n_unscored: cases that have no score.
    """
    n = len(values)
    if n == 0:
        return _nothing(name, n_unscored)
    value = math.fsum(values) / n
    n_clusters, squares = _spread(values - value, clusters)
    half = None
    # What rounding leaves of no spread at all says nothing of the uncertainty.
    if n_clusters > 1 and squares > 1e-18 * n * max(1.0, value**2):
        error = math.sqrt(squares * n_clusters / (n_clusters - 1)) / n
        half = float(stdtrit(n_clusters - 1, 0.975)) * error
    return Estimate(
        name=name,
        value=value,
        low=None if half is None else value - half,
        high=None if half is None else value + half,
        n=n,
        n_clusters=n_clusters,
        n_unscored=n_unscored,
    )


def _nothing(name: str, n_unscored: int) -> Estimate:
    reason = "no case could be scored" if n_unscored else "there are no cases"
    return Estimate(name=name, value=None, n=0, n_clusters=0, n_unscored=n_unscored, reason=reason)


def _bounds(total: float, n: int, n_unscored: int) -> tuple[float, float]:
    n_all = n + n_unscored
    return total / n_all, (total + n_unscored) / n_all


def _spread(residuals: Floats, clusters: Ints) -> tuple[int, float]:
    """How many clusters there are, and the sum of their squared residuals."""
    totals = cluster_totals(residuals[:, None], clusters)
    return len(totals), math.fsum(totals[:, 0] ** 2)


def _effective_size(n: int, most: int, n_clusters: int, share: float, squares: float) -> float:
    """How many independent draws of 0 or 1 the scores are worth; at most `most`."""
    spread = share * (1 - share)
    if spread == 0 or squares == 0 or n_clusters < 2:
        return float(n_clusters)
    variance = squares / n**2 * n_clusters / (n_clusters - 1)
    return min(spread / variance, float(most))


def _wilson(value: float, n: float) -> tuple[float, float]:
    centre = (value + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(value * (1 - value) / n + _Z**2 / (4 * n**2))
    return max(0.0, centre - half), min(1.0, centre + half)


@overload
def by(rows: Sequence[Row], name_of: Callable[[Row], str | None]) -> dict[str, list[Row]]: ...


@overload
def by(rows: Tally, name_of: Callable[[Row], str | None]) -> dict[str, Tally]: ...


def by(rows: Rows, name_of: Callable[[Row], str | None]) -> dict[str, list[Row]] | dict[str, Tally]:
    """Rows by a name of theirs, such as their scenario's; those without one are left out."""
    parts: dict[str, list[Row]] = {}
    for row in rows:
        if (name := name_of(row)) is not None:
            parts.setdefault(name, []).append(row)
    if not isinstance(rows, Tally):
        return parts
    return {name: Tally({row: rows.patterns[row] for row in its}) for name, its in parts.items()}
