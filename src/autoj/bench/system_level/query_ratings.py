"""Many models rated on the same queries: their means, and the error due to the choice of queries.

Means of two models rise and fall together when the queries are harder or easier, so a difference is
known better than either mean. Everything here takes a query's ratings as one draw.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy

from autoj.errors import DataError
from autoj.metrics import RATINGS, Floats, Row, Span, scale_of
from autoj.metrics.base import mean
from autoj.metrics.rows import scored_row
from autoj.records import Case, Estimate, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRatings:
    """The ratings of models by query."""

    models: tuple[str, ...]
    sums: Floats
    """`[n_queries, n_models]`: the sum of a model's ratings on a query."""
    counts: Floats
    """`[n_queries, n_models]`: the number of ratings; 0 where none could be read."""
    means: tuple[Estimate, ...]
    """Per model, `mean rating` with its interval over queries."""
    mean_lengths: tuple[float, ...]
    """Per model, mean number of characters of its responses."""
    n_set_queries: int
    """The number of queries to sample from."""
    n_cases: int
    n_unreadable: int
    n_failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """The uncertainty due to the choice of queries, as standard errors in points of rating."""

    n_queries: int
    n_set_queries: int
    of_mean: float
    """Of a model's mean: the median over models."""
    of_mean_on_all: float
    """The same if all queries of the set were rated."""
    of_difference: float
    """Of the difference of two models' means: the median over pairs of models."""
    of_difference_on_all: float
    n_pairs: int
    n_pairs_apart: int
    """Pairs of models of which one is rated higher at 95 % confidence, each pair by itself."""


def collect(judged: Iterable[tuple[Case, Verdict]], where: Path) -> QueryRatings:
    """The ratings that a run holds, by query and model.

    Args:
        judged: cases of one response, each with its verdict.
        where: the run, for messages.

    Raises:
        DataError: a case does not hold one response of a model that is named, or there are none.
    """
    rows: dict[str, list[Row]] = {}
    lengths: dict[str, list[int]] = {}
    n_set = n_cases = n_unreadable = n_failed = 0
    for case, verdict in judged:
        model = case.responses[0].model if len(case.responses) == 1 else None
        if model is None:
            raise DataError(
                f"is not a run on models' outputs: case {case.id!r} is not one response of a model",
                path=where,
                hint="Make one with autoj bench system-level --judge NAME --outputs FOLDER.",
            )
        rating = verdict.ratings[0] if verdict.ratings else None
        rows.setdefault(model, []).append(scored_row(case, rating))
        lengths.setdefault(model, []).append(len(case.responses[0].text))
        n_cases += 1
        n_unreadable += verdict.n_unreadable
        n_failed += verdict.n_failed
        n_set = max(n_set, int(case.meta.get("n_set_queries", 0)))
    if not rows:
        raise DataError("has no judged cases", path=where)
    ratings = (row.rating for its in rows.values() for row in its if row.rating is not None)
    # A reward model's scores have no scale.
    span = RATINGS if scale_of(ratings) == RATINGS else None
    sums, counts = _by_query(list(rows.values()))
    return QueryRatings(
        models=tuple(rows),
        sums=sums,
        counts=counts,
        means=tuple(_mean(its, span) for its in rows.values()),
        mean_lengths=tuple(float(np.mean(its)) for its in lengths.values()),
        n_set_queries=max(n_set, len(sums)),
        n_cases=n_cases,
        n_unreadable=n_unreadable,
        n_failed=n_failed,
    )


def _mean(rows: Sequence[Row], span: Span | None) -> Estimate:
    return mean("mean rating", rows, lambda row: row.rating, span=span)


def _by_query(models: Sequence[Sequence[Row]]) -> tuple[Floats, Floats]:
    numbers = sorted({row.cluster for rows in models for row in rows})
    place = {number: index for index, number in enumerate(numbers)}
    sums = np.zeros((len(numbers), len(models)))
    counts = np.zeros_like(sums)
    for column, rows in enumerate(models):
        for row in rows:
            if row.rating is not None:
                sums[place[row.cluster], column] += row.rating
                counts[place[row.cluster], column] += 1
    return sums, counts


def precision(found: QueryRatings, columns: Sequence[int]) -> Precision | None:
    """The standard errors of some models' means; None with fewer than two queries or models.

    Args:
        found: the ratings.
        columns: the models, by their place in `found`; each has ratings.

    **Source:** the variance of a ratio of totals over clusters, W. G. Cochran, "Sampling
    Techniques" (1977), section 6.3. On all queries it is scaled by how many there are, as if the
    set itself were a draw of all queries one may ask.
    """
    n_queries = len(found.sums)
    if n_queries < 2 or len(columns) < 2:
        return None
    means, residuals = query_residuals(found, columns)
    covariance = residuals.T @ residuals * n_queries / (n_queries - 1)
    variances = np.diag(covariance)
    first, second = np.triu_indices(len(columns), k=1)
    of_pairs = np.maximum(variances[first] + variances[second] - 2 * covariance[first, second], 0)
    errors = np.sqrt(of_pairs)
    width = float(scipy.stats.t.ppf(0.975, n_queries - 1)) * errors
    apart = np.abs(means[first] - means[second]) > width
    scale = float(np.sqrt(n_queries / found.n_set_queries))
    of_mean, of_difference = float(np.median(np.sqrt(variances))), float(np.median(errors))
    return Precision(
        n_queries=n_queries,
        n_set_queries=found.n_set_queries,
        of_mean=of_mean,
        of_mean_on_all=of_mean * scale,
        of_difference=of_difference,
        of_difference_on_all=of_difference * scale,
        n_pairs=len(first),
        n_pairs_apart=int(apart.sum()),
    )


def query_residuals(found: QueryRatings, columns: Sequence[int]) -> tuple[Floats, Floats]:
    """The means of some models, and what each query adds to their errors.

    Args:
        found: the ratings.
        columns: the models, by their place in `found`; each has ratings.

    Returns:
        `[n_columns]` and `[n_queries, n_columns]`; the latter adds up to 0 over queries.
    """
    sums, counts = found.sums[:, columns], found.counts[:, columns]
    total = counts.sum(axis=0)
    means = sums.sum(axis=0) / total
    return means, (sums - means * counts) / total
