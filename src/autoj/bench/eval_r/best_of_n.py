"""Mean reference scores of the picks from the first N: a judge's, the oracle's and baselines'.

`oracle` is the best of the first N, `random` their mean (the exact expectation of a random
pick), `longest` and `first` are the longest and the first response.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from autoj.bench.eval_r.selection import BASELINE_PICKS, base_model
from autoj.metrics import Difference, Row, Span, difference, scale_of
from autoj.metrics.base import mean
from autoj.metrics.rows import scored_row
from autoj.records import Case, Estimate, Response

BESIDE: Mapping[str, str] = {
    "oracle": "picks the highest reference score: no judge can do better",
    "random": "picks at random: the exact mean over the candidates",
    **{name: does for name, (does, _) in BASELINE_PICKS.items()},
}
"""The reference picks beside a judge, each with what it picks."""

Scores: TypeAlias = Mapping[int, Sequence[float | None]]
"""By N, the reference score that each case contributes; None where there is none."""


def scores_beside(cases: Sequence[Case], sizes: Sequence[int], name: str) -> Scores:
    """The score of `oracle`, `random`, `longest` or `first`; None where a score is missing."""
    return {size: [_value(case.responses[:size], name) for case in cases] for size in sizes}


def _value(responses: Sequence[Response], name: str) -> float | None:
    if name in BASELINE_PICKS:
        return responses[BASELINE_PICKS[name][1](responses)].reference_score
    known = [item.reference_score for item in responses if item.reference_score is not None]
    if len(known) < len(responses):
        return None
    return max(known) if name == "oracle" else math.fsum(known) / len(known)


def _rows(cases: Sequence[Case], scores: Sequence[float | None], part: str | None) -> list[Row]:
    """The cases of one base model, or all."""
    return [
        scored_row(case, score)
        for case, score in zip(cases, scores, strict=True)
        if part in (None, base_model(case))
    ]


def _rating(row: Row) -> float | None:
    return row.rating


def _best_of(size: int, rows: Sequence[Row], span: Span | None) -> Estimate:
    found = mean(f"best of {size}", rows, _rating, span=span)
    if found.value is None and rows:
        return replace(found, reason="no case has all the reference scores that this needs")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOfN:
    """A judge's picks compared with the baselines', on the cases of one base model or of all."""

    base_model: str | None
    """None is all cases."""
    size: int
    """The number of candidates to pick from."""
    figures: Mapping[str, Estimate]
    """Mean reference scores: of `judge`, `oracle`, `random`, `longest` and `first`."""
    less: Mapping[str, Difference]
    """The leads of the judge's picks over those of `random`, `longest` and `first`."""


def compare(
    cases: Sequence[Case], sizes: Sequence[int], values: Mapping[str, Scores]
) -> list[BestOfN]:
    """All cases first, then each base model where the set names any; by N within.

    Args:
        cases: the set.
        sizes: the numbers N of candidates.
        values: the scores of `judge` and of the reference picks.
    """
    span = scale_of(
        response.reference_score
        for case in cases
        for response in case.responses
        if response.reference_score is not None
    )
    names = dict.fromkeys(name for case in cases if (name := base_model(case)) is not None)
    return [
        _comparison(
            part,
            size,
            {name: _rows(cases, its[size], part) for name, its in values.items()},
            span,
        )
        for part in (None, *names)
        for size in sizes
    ]


def _comparison(
    part: str | None, size: int, rows: Mapping[str, Sequence[Row]], span: Span | None
) -> BestOfN:
    return BestOfN(
        base_model=part,
        size=size,
        figures={name: _best_of(size, its, span) for name, its in rows.items()},
        less={
            name: difference(f"best of {size}", rows["judge"], its, _rating, span=span)
            for name, its in rows.items()
            if name not in ("judge", "oracle")
        },
    )


def figures(
    comparisons: Sequence[BestOfN],
) -> tuple[tuple[Estimate, ...], dict[str, dict[str, tuple[Estimate, ...]]]]:
    """The judge's own: over all cases, and as the parts of a `Result`."""
    parts: dict[str, tuple[Estimate, ...]] = {}
    for found in comparisons:
        if found.base_model is not None:
            parts[found.base_model] = (*parts.get(found.base_model, ()), found.figures["judge"])
    overall = tuple(found.figures["judge"] for found in comparisons if found.base_model is None)
    return overall, {"base model": parts} if parts else {}
