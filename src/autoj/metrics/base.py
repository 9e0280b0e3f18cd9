"""Estimates with confidence intervals that resample queries, not judgments.

Cases that share a query are not independent: an interval that ignores this is too narrow. The
variance here is taken over clusters (a cluster is a normalised query). For a proportion it gives
an effective sample size for Wilson's interval, which stays inside 0 to 1 and keeps a width where
all cases came out the same. For a mean it goes into Student's interval, cut at the score's scale.

**Source:** E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
JASA 22 (1927); the effective sample size is Korn and Graubard's, "Confidence intervals for
proportions with small expected number of positive counts", Survey Methodology 24 (1998).
"""

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, overload

import numpy as np

from autoj.metrics._intervals import (
    Floats,
    Ints,
    Span,
    effective_size,
    mean_error,
    student,
    wilson,
)
from autoj.records import Estimate, Winner


class Row(NamedTuple):
    """The data of a case and its verdict that metrics need; a tuple, as there may be millions."""

    cluster: int
    """A number shared by the cases of one query."""
    label: Winner | float | None
    winner: Winner | None
    winners: tuple[Winner | None, ...]
    consistent: bool | None
    scenario: str | None
    subset: str | None = None
    """The subset of the data set that the case belongs to, if it has subsets."""
    style: str | None = None
    """"easy", "normal" or "hard": the better response looks better, alike or worse."""
    rating: float | None = None
    """1.0 to 10.0 (or a scalar model's score), where one response was rated."""
    strengths: tuple[int | None, ...] = ()
    """Strength of each order's winner, if the judge states it: 0 a tie, 1 better, 2 much better."""
    averaged: Winner | None = None
    """The winner by the probabilities averaged over both orders, or by two responses' ratings."""
    probabilities: tuple[float, float, float] | None = None
    """Of "a", "b" and "tie", averaged over the orders."""
    lengths: tuple[int, int] | None = None
    """Characters of response a and of response b, without surrounding whitespace."""


Score = Callable[[Row], float | None]
"""A case's share of a figure, or None where it is unscored."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Rows that differ only by cluster, stored once with all their clusters.

    A million verdicts on pairs have a few hundred distinct patterns; metrics visit each one once.
    """

    patterns: Mapping[Row, Ints]
    """Rows with cluster 0, each with the clusters of all rows like it."""

    def __len__(self) -> int:
        return sum(map(len, self.patterns.values()))

    def __iter__(self) -> Iterator[Row]:
        """Iterates over the distinct patterns."""
        return iter(self.patterns)


Rows: TypeAlias = Sequence[Row] | Tally
"""Cases and their verdicts, one by one or tallied; iteration visits each distinct pattern at least
once."""


def tally(rows: Iterable[Row]) -> Tally:
    """Tallies rows as they come, without their individual values: probabilities and lengths."""
    found: dict[tuple[object, ...], array[int]] = {}
    for row in rows:
        # All fields between the cluster and the last two, which are individual.
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
    """The rows for which `keep` returns True."""
    if isinstance(rows, Tally):
        return Tally({row: clusters for row, clusters in rows.patterns.items() if keep(row)})
    return [row for row in rows if keep(row)]


def is_labelled(row: Row) -> bool:
    """True where the case has a human label."""
    return row.label is not None


def is_right(row: Row) -> float | None:
    """1 where the verdict's winner is the label, else 0; None without a winner or a label."""
    if row.winner is None or row.label is None:
        return None
    return float(row.winner == row.label)


def scored(rows: Rows, score: Score) -> tuple[Floats, Ints]:
    """The known scores, `[n_scored]`, and the cluster of each."""
    values, clusters = contributions(
        rows, lambda row: None if (value := score(row)) is None else (value,), 1
    )
    return values[:, 0], clusters


def contributions(
    rows: Rows, adds: Callable[[Row], Sequence[float] | None], k: int
) -> tuple[Floats, Ints]:
    """Each row's contribution to totals, `[n_scored, k]`, and the cluster of each.

    Args:
        rows: the cases.
        adds: a row's `k` numbers, or None where it is unscored.
        k: the number of totals.
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
    """The mean of scores between 0 and 1 that were computed elsewhere; see `proportion`.

    Args:
        name: the figure's name.
        values: `[n]`, scores between 0 and 1.
        clusters: `[n]`, a number shared by the cases of one query.
        n_unscored: number of cases without a score.
    """
    n = len(values)
    if n == 0:
        return _nothing(name, n_unscored)
    total = math.fsum(values)
    value = total / n
    n_clusters, size = effective_size(values, clusters)
    low, high = wilson(value, size)
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


def mean(name: str, rows: Rows, score: Score, *, span: Span | None) -> Estimate:
    """The mean of a score on any scale, with a 95 % interval over queries.

    Args:
        name: the figure's name.
        rows: the cases.
        score: a case's score, or None where it is unscored. A mean over one query has no interval.
        span: the lowest and the highest possible score, where an interval ends; None where scores
            have no scale, as a reward model's.
    """
    values, clusters = scored(rows, score)
    return mean_of(name, values, clusters, len(rows) - len(values), span=span)


def mean_of(
    name: str, values: Floats, clusters: Ints, n_unscored: int = 0, *, span: Span | None
) -> Estimate:
    """The mean of scores that were computed elsewhere; see `mean`.

    Args:
        name: the figure's name.
        values: `[n]`, the scores.
        clusters: `[n]`, a number shared by the cases of one query.
        n_unscored: number of cases without a score.
        span: the lowest and the highest possible score; None where scores have no scale.
    """
    n = len(values)
    if n == 0:
        return _nothing(name, n_unscored)
    value = math.fsum(values) / n
    n_clusters, error, reason = mean_error(values, clusters)
    low = high = None
    if error is not None:
        low, high, _ = student(value, error, n_clusters, span)
    return Estimate(
        name=name,
        value=value,
        low=low,
        high=high,
        n=n,
        n_clusters=n_clusters,
        n_unscored=n_unscored,
        reason=reason,
    )


def _nothing(name: str, n_unscored: int) -> Estimate:
    reason = "no case could be scored" if n_unscored else "there are no cases"
    return Estimate(name=name, value=None, n=0, n_clusters=0, n_unscored=n_unscored, reason=reason)


def _bounds(total: float, n: int, n_unscored: int) -> tuple[float, float]:
    n_all = n + n_unscored
    return total / n_all, (total + n_unscored) / n_all


@overload
def by(rows: Sequence[Row], name_of: Callable[[Row], str | None]) -> dict[str, list[Row]]: ...


@overload
def by(rows: Tally, name_of: Callable[[Row], str | None]) -> dict[str, Tally]: ...


def by(rows: Rows, name_of: Callable[[Row], str | None]) -> dict[str, list[Row]] | dict[str, Tally]:
    """Groups rows by a name of theirs, such as their scenario; rows without one are left out."""
    parts: dict[str, list[Row]] = {}
    for row in rows:
        if (name := name_of(row)) is not None:
            parts.setdefault(name, []).append(row)
    if not isinstance(rows, Tally):
        return parts
    return {name: Tally({row: rows.patterns[row] for row in its}) for name, its in parts.items()}
