"""System level: models ranked by a judge's mean ratings, compared with a reference ranking.

The figures of a `Result`, by name:

- `spearman`, `pearson`, `kendall` (tau-b): of mean rating and reference over models, with intervals
  that resample models; models that lack one of the two are left out and counted as unscored;
- `spearman over queries`, `pearson over queries`, `kendall over queries`: what unlimited queries
  would give, with the intervals that are due to the choice of queries; for measured ratings alone;
- `spearman on all queries`, and so on: the same for all queries of a set that was sampled;
- `mean rating` of each model, in `parts["model"]`; for measured ratings alone.

`details["models"]` holds the ranks and their differences (`Ranked`), `details["reference"]` a
fingerprint of their reference (`reference_digest`), `details["precision"]` the uncertainty due to
the choice of queries (`Precision`), `details["not_in_reference"]` and `details["not_rated"]` the
models that were left out.

**Source:** paper, section 6.4, Fig. 5 and Table 23.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autoj.bench.published import published
from autoj.bench.system_level.model_table import (
    TABLE_23,
    ModelRow,
    Ranked,
    ranked,
    reference_digest,
)
from autoj.bench.system_level.query_noise import without_noise
from autoj.bench.system_level.query_ratings import Precision, QueryRatings, precision
from autoj.metrics import Floats
from autoj.metrics.correlation import Coefficient, Correlation, correlate
from autoj.metrics.result import Result
from autoj.records import Estimate

BENCH = "system-level"
"""The name of these results."""
COEFFICIENTS: tuple[Coefficient, ...] = ("spearman", "pearson", "kendall")
_FEWEST = 3
"""A correlation of two models is always 1 or -1."""


def evaluate_table(
    table: Sequence[ModelRow], reference: Sequence[ModelRow], *, judge: str, source: Path
) -> Result:
    """Evaluates published mean ratings.

    Args:
        table: a mean rating per model.
        reference: a reference per model; may be the same table.
        judge: the judge that gave the ratings.
        source: their file.
    """
    ratings = {row.key: row.rating for row in table if row.rating is not None}
    models = ranked(ratings, reference)
    left_out = _left_out(ratings, reference)
    correlations = _correlations(models, sum(map(len, left_out.values())))
    return Result(
        bench=BENCH,
        judge=judge,
        source=f"ratings {source}",
        n_cases=len(models),
        estimates=tuple(found.estimate for found in correlations.values()),
        notes=_notes(left_out),
        details=_details(models, correlations, left_out),
    )


def evaluate_ratings(
    found: QueryRatings, reference: Sequence[ModelRow], *, judge: str, source: str
) -> Result:
    """Evaluates a judge's own ratings of models' outputs.

    Args:
        found: the ratings.
        reference: a reference per model.
        judge: the judge's name.
        source: the run.
    """
    ratings = {
        model: estimate.value
        for model, estimate in zip(found.models, found.means, strict=True)
        if estimate.value is not None
    }
    models = ranked(ratings, reference)
    left_out = _left_out(ratings, reference)
    correlations = _correlations(models, sum(map(len, left_out.values())))
    known = precision(found, [found.models.index(model) for model in ratings])
    return Result(
        bench=BENCH,
        judge=judge,
        source=source,
        n_cases=found.n_cases,
        estimates=(
            *(one.estimate for one in correlations.values()),
            *_over_queries(correlations, found, models),
        ),
        parts={
            "model": {
                model: (estimate,)
                for model, estimate in zip(found.models, found.means, strict=True)
            }
        },
        notes=(*_notes(left_out), *_sample_note(known)),
        details={
            **_details(models, correlations, left_out),
            "precision": known,
            "n_unreadable": found.n_unreadable,
            "n_failed": found.n_failed,
        },
    )


def _over_queries(
    correlations: Mapping[Coefficient, Correlation], found: QueryRatings, models: Sequence[Ranked]
) -> list[Estimate]:
    """Corrected for the noise of the queries: as for unlimited queries, and for the whole set."""
    columns = [found.models.index(one.model) for one in models]
    shares = {"over queries": 1.0}
    if len(found.sums) < found.n_set_queries:
        shares["on all queries"] = 1 - len(found.sums) / found.n_set_queries
    return [
        without_noise(
            f"{name} {suffix}",
            correlations[name].estimate,
            found,
            columns,
            _references(models),
            name,
            share,
        )
        for suffix, share in shares.items()
        for name in COEFFICIENTS
    ]


def length_result(lengths: Mapping[str, float], reference: Sequence[ModelRow]) -> Result:
    """The same correlations of the length baseline: mean lengths in place of ratings.

    Args:
        lengths: mean number of characters of each model's responses.
        reference: a reference per model.
    """
    models = ranked(lengths, reference)
    left_out = _left_out(lengths, reference)
    correlations = _correlations(models, sum(map(len, left_out.values())))
    return Result(
        bench=BENCH,
        judge="longest",
        source="ranks models by the mean length of their responses",
        n_cases=len(models),
        estimates=tuple(found.estimate for found in correlations.values()),
        details=_details(models, correlations, left_out),
    )


def _references(models: Sequence[Ranked]) -> Floats:
    return np.array([one.reference for one in models], dtype=np.float64)


def _correlations(models: Sequence[Ranked], n_unscored: int) -> dict[Coefficient, Correlation]:
    if len(models) < _FEWEST:
        reason = f"a correlation needs at least {_FEWEST} models with a rating and a reference, "
        reason += f"found {len(models)}"
        return {
            name: Correlation(
                estimate=Estimate(
                    name=name,
                    value=None,
                    n=len(models),
                    n_clusters=len(models),
                    n_unscored=n_unscored,
                    reason=reason,
                ),
                p_value=None,
            )
            for name in COEFFICIENTS
        }
    ratings = np.array([one.rating for one in models], dtype=np.float64)
    references = _references(models)
    return {
        name: correlate(name, ratings, references, name, n_unscored=n_unscored)
        for name in COEFFICIENTS
    }


def _left_out(ratings: Mapping[str, float], reference: Sequence[ModelRow]) -> dict[str, list[str]]:
    known = {row.key for row in reference if row.reference is not None}
    return {
        "not_in_reference": sorted(set(ratings) - known),
        "not_rated": sorted(known - set(ratings)),
    }


def _notes(left_out: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    said = {
        "not_in_reference": "rated, but without a reference",
        "not_rated": "in the reference, but without a rating",
    }
    return tuple(
        f"{len(left_out[name]):,} models are {why} and were left out: "
        + ", ".join(left_out[name][:8])
        + (", …" if len(left_out[name]) > 8 else "")
        for name, why in said.items()
        if left_out[name]
    )


def _sample_note(known: Precision | None) -> tuple[str, ...]:
    if known is None or known.n_queries == known.n_set_queries:
        return ()
    return (
        f"The noise of {known.n_queries:,} queries lowers the correlations of the means as they "
        "are; those over queries and on all queries are corrected for it.",
    )


def _details(
    models: Sequence[Ranked],
    correlations: Mapping[Coefficient, Correlation],
    left_out: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    reference = reference_digest(models)
    return {
        "models": list(models),
        "reference": reference,
        "p_values": {name: found.p_value for name, found in correlations.items()},
        "published": [
            {
                "judge": row.model,
                "is_computed": row.is_computed,
                "source": source.cite,
                "note": source.note,
                "figures": {name: figure.text for name, figure in row.figures.items()},
            }
            for row in published(BENCH)
            for source in row.sources
            if reference == TABLE_23
        ],
        **left_out,
    }
