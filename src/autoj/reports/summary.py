"""A run in figures: counts, estimates, and the same by scenario or group."""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from autoj import metrics
from autoj.metrics.base import Rows, is_labelled, is_right, mean, proportion, select, tally
from autoj.metrics.rows import pair_row, rating_rows, rows_by_turn
from autoj.records import BudgetedVerdict, Case, CaseOutline, Estimate, Verdict
from autoj.reports.scenario_sources import Breakdown, NamedParts, ScenarioNaming
from autoj.runs import RunSpec
from autoj.runs.authors import NOBODY, Authors, AuthorTally
from autoj.verdicts.critique_faults import count_faults, shown_critiques


@dataclass(slots=True, kw_only=True)
class SecondOrders:
    """Pairs by the reason for which their second order was asked."""

    n_unsure: int = 0
    """The first order was unsure."""
    n_drawn: int = 0
    """The first order was sure, and the pair is one of the random share that is asked in full."""
    n_saved: int = 0
    """It was not asked."""

    def add(self, verdict: BudgetedVerdict) -> None:
        """Counts a pair."""
        if verdict.n_orders < 2:
            self.n_saved += 1
        elif verdict.first_sure:
            self.n_drawn += 1
        else:
            self.n_unsure += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """The figures of a run."""

    n_cases: int
    n_judged: int
    """Cases with all their judgments, readable or not."""
    winners: dict[str, int]
    """Cases won by "a", "b" and "tie"; "unknown" counts cases without a winner."""
    n_unreadable: int
    """Unreadable judgments."""
    n_failed: int
    """Requests without an answer."""
    n_truncated: int
    """Judgments of a response that was cut to fit."""
    estimates: tuple[Estimate, ...]
    parts: dict[str, tuple[Estimate, ...]]
    """The same estimates by scenario or group."""
    n_split: int = 0
    """Orders of pairs whose samples have no majority, with several samples per question."""
    vote_share: float | None = None
    """The share of an order's readable samples that agree with its vote, averaged over all votes;
    None with one sample per question, or without a vote."""
    rating_sd: float | None = None
    """The standard deviation of a rating's samples, averaged over all ratings; None likewise."""
    authors: Authors = NOBODY
    """The models behind a and b, where responses name them."""
    naming: ScenarioNaming | None = None
    """Origins of the scenarios; None if no case has one."""
    critique_faults: dict[str, int] = field(default_factory=dict)
    """Critiques that are cut or replaced, by the reason (`verdicts.critique_faults`)."""
    naming_parts: dict[str, ScenarioNaming] = field(default_factory=dict)
    """The same by scenario or group, if a classifier named some."""
    second_orders: SecondOrders | None = None
    """The second orders that were asked, of a run that asks them where the first one is unsure."""


def summarise(
    judged: Iterable[tuple[Case | CaseOutline, Verdict]],
    spec: RunSpec,
    n_cases: int,
    breakdown: Breakdown | None = None,
) -> RunSummary:
    """The figures of a run, from its verdicts.

    Args:
        judged: the cases that are judged, with their verdicts; pairs may come without texts.
        spec: the run's settings.
        n_cases: the number of cases of the run, judged or not.
        breakdown: of the figures.
    """
    winners: Counter[str] = Counter()
    n_judged = n_unreadable = n_failed = n_truncated = 0
    spread, named, authors = _Spread(), NamedParts(breakdown), AuthorTally()
    faults: Counter[str] = Counter()
    in_full, second_orders = metrics.FullAsking(orders=True), SecondOrders()

    def counted() -> Iterator[metrics.Row]:
        nonlocal n_judged, n_unreadable, n_failed, n_truncated
        for case, verdict in judged:
            n_judged += 1
            spread.add(verdict)
            faults.update(count_faults(shown_critiques(case, verdict)))
            named.add(case)
            n_unreadable += verdict.n_unreadable
            n_failed += verdict.n_failed
            n_truncated += verdict.n_truncated
            if spec.paired:
                authors.add(case)
                winners[verdict.winner or "unknown"] += 1
                row = pair_row(case, verdict)
                if isinstance(verdict, BudgetedVerdict):
                    second_orders.add(verdict)
                    in_full.add(*rows_by_turn(row, verdict), sure=verdict.first_sure)
                yield row
            else:
                assert isinstance(case, Case)
                yield from rating_rows(case, verdict)

    rows: Rows = tally(counted()) if spec.paired else list(counted())
    parts: Mapping[str, Rows] = metrics.by(rows, named.part_of) if breakdown else {}
    return RunSummary(
        n_cases=n_cases,
        n_judged=n_judged,
        winners=dict(winners),
        n_unreadable=n_unreadable,
        n_failed=n_failed,
        n_truncated=n_truncated,
        estimates=_estimates(rows, spec) + in_full.estimates(),
        parts={name: _estimates(part, spec) for name, part in parts.items()},
        n_split=spread.n_split,
        vote_share=_mean(spread.shares),
        rating_sd=_mean(spread.deviations),
        authors=authors.found(),
        naming=named.whole(),
        naming_parts=named.parts(),
        critique_faults=dict(faults),
        second_orders=None if spec.second_order is None else second_orders,
    )


def summary_record(summary: RunSummary) -> dict[str, Any]:
    """A summary as plain values; it speaks of cut critiques and of second orders if there are."""
    record = asdict(summary)
    if not summary.critique_faults:
        del record["critique_faults"]
    if summary.second_orders is None:
        del record["second_orders"]
    return record


class _Spread:
    """The agreement of the samples of each question, over a run."""

    def __init__(self) -> None:
        self.n_split = 0
        self.shares = array("d")
        self.deviations = array("d")

    def add(self, verdict: Verdict) -> None:
        if verdict.vote_shares:
            for winner, share in zip(verdict.winners, verdict.vote_shares, strict=True):
                if share is not None and winner is None:
                    self.n_split += 1
                elif share is not None:
                    self.shares.append(share)
        self.deviations.extend(found for found in verdict.rating_sds if found is not None)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _estimates(rows: Rows, spec: RunSpec) -> tuple[Estimate, ...]:
    if spec.task == "rate":
        # A reward model's scores have no fixed scale, so their interval has no end.
        if spec.protocol == "scalar":
            return (mean("mean score", rows, lambda row: row.rating, span=None),)
        return (metrics.mean_rating.compute(rows),)
    estimates = [metrics.win_rate.compute(rows)]
    if spec.second_order is not None:
        return (*estimates, *_turn_estimates(rows))
    in_both_orders = spec.has_orders and spec.orders == "both"
    if in_both_orders:
        estimates.append(metrics.consistency.compute(rows))
    n_labelled = len(select(rows, is_labelled))
    if 0 < n_labelled < len(rows):
        estimates.append(metrics.win_rate.corrected(rows))
    if n_labelled and spec.has_orders:
        estimates.append(metrics.accuracy.compute(rows))
    if n_labelled and in_both_orders:
        estimates.append(metrics.agreement.compute(rows))
    if n_labelled and (spec.calibration is not None or not spec.has_orders):
        estimates.append(metrics.averaged_accuracy.compute(rows))
    return tuple(estimates)


def _turn_estimates(rows: Rows) -> list[Estimate]:
    """The figures of a run that asks the second order only where the first one is unsure."""
    labelled = select(rows, is_labelled)
    asked_twice = select(rows, lambda row: len(row.winners) == 2)
    found = [replace(metrics.consistency.compute(asked_twice), name="consistency, both asked")]
    if len(labelled):
        verdict_accuracy = proportion("verdict accuracy", labelled, is_right)
        agreed = metrics.agreement.compute(asked_twice)
        found += [verdict_accuracy, replace(agreed, name="agreement, both asked")]
    return found
