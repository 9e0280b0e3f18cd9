"""A run in figures: counts, estimates, and the same by scenario or group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from autoj.errors import UnknownComponent
from autoj.metrics import Row, accuracy, agreement, by, consistency, mean_rating, win_rate
from autoj.records import Case, Estimate, Verdict
from autoj.runs import RunSpec
from autoj.scenarios import group_of

__all__ = ["Breakdown", "RunSummary", "summarise"]

Breakdown = Literal["scenario", "group"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What a run came to."""

    n_cases: int
    n_judged: int
    """Cases with all their judgments, readable or not."""
    winners: dict[str, int]
    """How many cases each of "a", "b" and "tie" won; "unknown" where no winner is known."""
    n_unreadable: int
    """Judgments that state nothing on the menu."""
    n_failed: int
    """Requests that got no answer."""
    n_truncated: int
    """Judgments of a response that was cut to fit."""
    estimates: tuple[Estimate, ...]
    parts: dict[str, tuple[Estimate, ...]]
    """The same estimates by scenario or group."""


def summarise(
    judged: Iterable[tuple[Case, Verdict]],
    spec: RunSpec,
    n_cases: int,
    breakdown: Breakdown | None = None,
) -> RunSummary:
    """The figures of a run, from its verdicts.

    Args:
        judged: the cases that are judged, with their verdicts.
        spec: the run's settings.
        n_cases: how many cases the run has, judged or not.
        breakdown: what the figures are broken down by.
    """
    rows: list[Row] = []
    winners: Counter[str] = Counter()
    n_judged = n_unreadable = n_failed = n_truncated = 0
    for case, verdict in judged:
        n_judged += 1
        n_unreadable += verdict.n_unreadable
        n_failed += verdict.n_failed
        n_truncated += verdict.n_truncated
        if spec.task == "judge":
            winners[verdict.winner or "unknown"] += 1
        rows.extend(_rows(case, verdict, spec))
    parts = by(rows, _name_of(breakdown)) if breakdown else {}
    return RunSummary(
        n_cases=n_cases,
        n_judged=n_judged,
        winners=dict(winners),
        n_unreadable=n_unreadable,
        n_failed=n_failed,
        n_truncated=n_truncated,
        estimates=_estimates(rows, spec),
        parts={name: _estimates(part, spec) for name, part in parts.items()},
    )


def _rows(case: Case, verdict: Verdict, spec: RunSpec) -> Iterable[Row]:
    ratings = (None,) if spec.task == "judge" else verdict.ratings or (None,)
    for rating in ratings:
        yield Row(
            cluster=hash(case.cluster),
            label=case.label,
            winner=verdict.winner,
            winners=verdict.winners,
            consistent=verdict.consistent,
            scenario=case.scenario,
            rating=rating,
        )


def _estimates(rows: list[Row], spec: RunSpec) -> tuple[Estimate, ...]:
    if spec.task == "rate":
        return (mean_rating.compute(rows),)
    estimates = [win_rate.compute(rows)]
    if spec.orders == "both":
        estimates.append(consistency.compute(rows))
    if any(row.label is not None for row in rows):
        estimates.append(accuracy.compute(rows))
        if spec.orders == "both":
            estimates.append(agreement.compute(rows))
    return tuple(estimates)


def _name_of(breakdown: Breakdown) -> Callable[[Row], str | None]:
    if breakdown == "scenario":
        return lambda row: row.scenario
    return _group_name


def _group_name(row: Row) -> str | None:
    if row.scenario is None:
        return None
    try:
        return group_of(row.scenario)
    except UnknownComponent:
        return "(not in the taxonomy)"
