"""A jury in figures: each juror's beside the jury's, and the agreement of the jurors."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from autoj import metrics
from autoj.metrics.base import Rows, Tally, is_labelled, proportion, select, tally
from autoj.metrics.rows import cluster_number, pair_row, rating_rows
from autoj.records import WINNERS, Case, CaseOutline, Estimate, Verdict, Winner
from autoj.reports.scenario_sources import Breakdown, NamedParts, ScenarioNaming
from autoj.runs.authors import NOBODY, Authors, AuthorTally
from autoj.runs.second_order import is_drawn
from autoj.tasks.jurors import Jury
from autoj.tasks.jury_folder import read_jury_verdicts
from autoj.verdicts.jury import NOT_ASKED

_OUTCOMES: tuple[Winner | None, ...] = (*WINNERS, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """The figures of one juror, or of the jury."""

    name: str
    protocol: str | None
    """The protocol of its prompts; None for the jury."""
    winners: dict[str, int]
    """Of pairs: cases won by "a", "b" and "tie"; "unknown" counts cases without a vote."""
    estimates: tuple[Estimate, ...]
    n_unreadable: int
    n_failed: int
    n_truncated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgesAgreement:
    """The agreement of two jurors on what both voted on or rated."""

    judges: tuple[str, str]
    estimates: tuple[Estimate, ...]
    """Of pairs: the share of cases with the same winner, and Cohen's kappa. Of ratings: Pearson's
    and Spearman's correlation over responses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JurySummary:
    """The figures of a jury's run."""

    n_cases: int
    rules: dict[str, int]
    """Cases by the rule of `jury.JURY_RULES` that decided them."""
    judges: tuple[JudgeFigures, ...]
    jury: JudgeFigures
    agreements: tuple[JudgesAgreement, ...]
    parts: dict[str, tuple[Estimate, ...]]
    """The jury's estimates by scenario or group."""
    authors: Authors = NOBODY
    """The models behind a and b, where responses name them."""
    naming: ScenarioNaming | None = None
    """Origins of the scenarios; None if no case has one."""
    naming_parts: dict[str, ScenarioNaming] = field(default_factory=dict)
    """The same by scenario or group, if a classifier named some."""
    in_full: tuple[Estimate, ...] = ()
    """Of an escalation: what the stronger judge would give if it were asked about all pairs."""


def summarise_jury(path: Path, jury: Jury, breakdown: Breakdown | None = None) -> JurySummary:
    """The figures of a jury, from its stored verdicts.

    Args:
        path: the jury's folder.
        jury: its jurors.
        breakdown: of the jury's figures.
    """
    whole = _Reading(path, jury, None)
    judges = [_Reading(path, jury, number) for number in range(len(jury.jurors))]
    names = [juror.name for juror in jury.jurors]
    named, authors = NamedParts(breakdown), AuthorTally()
    for case, _ in read_jury_verdicts(path, jury, CaseOutline):
        named.add(case)
        if jury.paired:
            authors.add(case)
    parts: Mapping[str, Rows] = metrics.by(whole.rows, named.part_of) if breakdown else {}
    return JurySummary(
        n_cases=whole.n_cases,
        rules=dict(whole.rules),
        judges=tuple(
            read.figures(juror.name, juror.spec.protocol)
            for juror, read in zip(jury.jurors, judges, strict=True)
        ),
        jury=whole.figures("jury", None),
        agreements=tuple(
            JudgesAgreement(
                judges=(names[one], names[other]),
                estimates=_same_winners(judges[one], judges[other])
                if jury.paired
                else _like_ratings(judges[one], judges[other]),
            )
            for one, other in combinations(range(len(names)), 2)
        ),
        parts={name: _estimates(part, jury.paired) for name, part in parts.items()},
        authors=authors.found(),
        naming=named.whole(),
        naming_parts=named.parts(),
        in_full=whole.in_full.estimates(),
    )


class _Reading:
    """The verdicts of one juror, or of the jury, read once and kept small."""

    def __init__(self, path: Path, jury: Jury, juror: int | None) -> None:
        self.n_cases = self.n_unreadable = self.n_failed = self.n_truncated = 0
        self.winners: Counter[str] = Counter()
        self.rules: Counter[str] = Counter()
        self.outcomes = array("b")
        """Of pairs: the winner of each case, as its index in `_OUTCOMES`."""
        self.clusters = array("q")
        self._jury, self._juror = jury, juror
        self.in_full = metrics.FullAsking(orders=False)
        self.rows: Rows = tally(self._pairs(path)) if jury.paired else list(self._ratings(path))

    def _pairs(self, path: Path) -> Iterator[metrics.Row]:
        for case, verdict in read_jury_verdicts(path, self._jury, CaseOutline):
            mine = self._count(verdict if self._juror is None else verdict.judges[self._juror])
            self.outcomes.append(_OUTCOMES.index(mine.winner))
            self.clusters.append(cluster_number(case.cluster))
            if mine.rule == NOT_ASKED:
                continue
            self.winners[mine.winner or "unknown"] += 1
            # Votes of all kinds of judges are compared, so each row's verdict is the whole one.
            row = pair_row(case, mine)._replace(winner=mine.winner, averaged=mine.winner)
            if self._juror is None and self._jury.escalation is not None:
                is_drawn_case = is_drawn(case.id, self._jury.escalation.always_full)
                cheap = verdict.judges[0].winner if verdict.rule == "drawn" else mine.winner
                self.in_full.add(
                    row._replace(winner=cheap),
                    row if is_drawn_case else None,
                    sure=verdict.rule != "escalated",
                )
            yield row

    def _ratings(self, path: Path) -> Iterator[metrics.Row]:
        for case, verdict in read_jury_verdicts(path, self._jury, Case):
            mine = self._count(verdict if self._juror is None else verdict.judges[self._juror])
            yield from rating_rows(case, mine)

    def _count(self, verdict: Verdict) -> Verdict:
        self.n_cases += 1
        self.n_unreadable += verdict.n_unreadable
        self.n_failed += verdict.n_failed
        self.n_truncated += verdict.n_truncated
        if verdict.rule is not None:
            self.rules[verdict.rule] += 1
        return verdict

    def figures(self, name: str, protocol: str | None) -> JudgeFigures:
        """Its figures."""
        return JudgeFigures(
            name=name,
            protocol=protocol,
            winners=dict(self.winners),
            estimates=_estimates(self.rows, self._jury.paired),
            n_unreadable=self.n_unreadable,
            n_failed=self.n_failed,
            n_truncated=self.n_truncated,
        )


def _estimates(rows: Rows, paired: bool) -> tuple[Estimate, ...]:
    if not paired:
        found = [metrics.mean_rating.compute(rows)]
        if any(isinstance(row.label, float) for row in rows):
            found.append(metrics.correlation.compute(rows))
        return tuple(found)
    found = [metrics.win_rate.compute(rows)]
    in_both_orders = any(len(row.winners) == 2 for row in rows)
    is_known = len(select(rows, is_labelled)) > 0
    if is_known:
        found.append(replace(metrics.averaged_accuracy.compute(rows), name="verdict accuracy"))
    if is_known and in_both_orders:
        found.append(metrics.agreement.compute(rows))
    if in_both_orders:
        found.append(metrics.consistency.compute(rows))
    return tuple(found)


def _same_winners(one: _Reading, other: _Reading) -> tuple[Estimate, ...]:
    mine, its = (np.array(read.outcomes, dtype=np.int64) for read in (one, other))
    clusters = np.array(one.clusters, dtype=np.int64)
    rows = Tally(
        {
            metrics.Row(0, label, winner, (), None, None): clusters[(mine == i) & (its == j)]
            for i, label in enumerate(_OUTCOMES)
            for j, winner in enumerate(_OUTCOMES)
        }
    )
    same = proportion("same winner", rows, _is_same)
    beyond = metrics.kappa.compute(rows, lambda row: row.winner)
    reason = (
        beyond.reason
        if beyond.value is not None
        else "both judges name only one and the same outcome"
    )
    if beyond.n == 0:
        reason = same.reason
    return same, replace(beyond, n_unscored=same.n_unscored, reason=reason)


def _is_same(row: metrics.Row) -> float | None:
    if row.label is None or row.winner is None:
        return None
    return float(row.label == row.winner)


def _like_ratings(one: _Reading, other: _Reading) -> tuple[Estimate, ...]:
    both = [
        (mine.cluster, mine.rating, its.rating)
        for mine, its in zip(one.rows, other.rows, strict=True)
        if mine.rating is not None and its.rating is not None
    ]
    clusters = np.array([cluster for cluster, _, _ in both], dtype=np.int64)
    x, y = (np.array([row[place] for row in both], dtype=np.float64) for place in (1, 2))
    coefficients: tuple[metrics.correlation.Coefficient, ...] = ("pearson", "spearman")
    return tuple(
        metrics.correlation.correlate(
            coefficient, x, y, coefficient, clusters=clusters, n_unscored=len(one.rows) - len(both)
        ).estimate
        for coefficient in coefficients
    )
