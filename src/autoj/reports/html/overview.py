"""A run in figures for a page: everything over all of its cases, however many the page shows."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from autoj.bench.base import group_name, in_paper_order
from autoj.bench.eval_p.evaluate import figures as pair_figures
from autoj.metrics import (
    by,
    calibration,
    length_bias,
    mean_rating,
    position_bias,
    risk_coverage,
    win_rate,
)
from autoj.metrics.base import Row, Rows, is_labelled, mean, proportion, select
from autoj.metrics.calibration import ReliabilityBin
from autoj.metrics.risk_coverage import CoveragePoint
from autoj.metrics.rows import pair_row, rating_rows
from autoj.records import (
    WINNERS,
    Case,
    Estimate,
    Failure,
    Judgment,
    Unreadable,
    Winner,
)
from autoj.runs import CaseRecord
from autoj.runs.authors import Authors, AuthorTally
from autoj.verdicts.baselines import BASELINE_JUDGES, baseline_winner

_LENGTH_PARTS = (
    (-0.5, "a is over 50 % shorter"),
    (-0.1, "a is 10 to 50 % shorter"),
    (0.1, "about as long"),
    (0.5, "b is 10 to 50 % shorter"),
    (1.0, "b is over 50 % shorter"),
)
"""Upper ends of the relative difference of lengths, (a - b) / the longer, with their names."""
_N_REASONS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """One figure for each part of the cases."""

    title: str
    whole: Estimate
    parts: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The figures of a run."""

    n_cases: int
    n_judged: int
    n_labelled: int
    headline: Estimate
    estimates: tuple[Estimate, ...]
    """All others, those with a value first."""
    baselines: Mapping[str, tuple[str, Estimate]]
    """Per baseline, its description and its headline figure; empty without labels."""
    winners: Mapping[str, int]
    """Cases won by "a", "b" and "tie"; "unknown" counts those without a winner."""
    against_label: Mapping[tuple[str, str], int]
    """Cases by (label, winner)."""
    by_group: Breakdown | None
    by_scenario: Breakdown | None
    by_length: Breakdown | None
    reliability: tuple[ReliabilityBin, ...]
    coverage: tuple[CoveragePoint, ...]
    """Of labelled pairs; empty where no verdict has a winner and probabilities."""
    lost: Mapping[str, int]
    """Judgments without a reading, by reason: unreadable ones and failed ones."""
    n_truncated: int
    prompt_tokens: int
    completion_tokens: int
    ratings: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Of rated responses, by model: the number rated 1, 2, … 10, to the nearest whole."""
    authors: Authors


class OverviewTally:
    """Collects what an overview needs from the records of a run, one at a time.

    Args:
        paired: True where pairs are judged, False where responses are rated.
        scalar: True for ratings without a scale, as of a reward model.
    """

    def __init__(self, *, paired: bool, scalar: bool = False) -> None:
        self._paired, self._scalar = paired, scalar
        self._rows: list[Row] = []
        self._baselines: dict[str, list[Winner | None]] = {name: [] for name in BASELINE_JUDGES}
        self._authors = AuthorTally()
        self._winners: Counter[str] = Counter()
        self._against: Counter[tuple[str, str]] = Counter()
        self._lost: Counter[str] = Counter()
        self._ratings: dict[str, Counter[int]] = {}
        self._n_cases = self._n_judged = self._n_truncated = 0
        self._read = self._written = 0

    def add(self, record: CaseRecord) -> None:
        """Count a case."""
        self._n_cases += 1
        self._count_judgments(record)
        case, verdict = record.case, record.verdict
        if verdict is None:
            return
        self._n_judged += 1
        self._n_truncated += verdict.n_truncated
        if not self._paired:
            self._rows += rating_rows(case, verdict)
            self._count_ratings(case, verdict.ratings)
            return
        self._authors.add(case)
        row = pair_row(case, verdict)._replace(winner=verdict.winner)
        self._rows.append(row)
        winner = verdict.winner or "unknown"
        self._winners[winner] += 1
        if isinstance(case.label, str):
            self._against[case.label, winner] += 1
            for name, winners in self._baselines.items():
                # The most frequent label is known at the end; "majority" is filled in then.
                winners.append(baseline_winner(name, case, case.label))

    def _count_judgments(self, record: CaseRecord) -> None:
        for _, outcome in record.judgments:
            if isinstance(outcome, Failure):
                self._lost[f"failed: {outcome.error}"] += 1
            elif isinstance(outcome, Judgment):
                self._read += outcome.completion.prompt_tokens
                self._written += outcome.completion.completion_tokens
                if isinstance(outcome.reading, Unreadable):
                    self._lost[f"unreadable: {outcome.reading.reason}"] += 1

    def _count_ratings(self, case: Case, ratings: Sequence[float | None]) -> None:
        for response, rating in zip(case.responses, ratings, strict=False):
            if rating is not None:
                counts = self._ratings.setdefault(response.model or "all responses", Counter())
                counts[round(rating)] += 1

    def found(self) -> Overview:
        """The figures of what was counted."""
        paired = self._paired
        n_labelled = len(select(self._rows, is_labelled))
        headline_of = _headline(paired, self._scalar, n_labelled)
        headline = headline_of(self._rows)
        return Overview(
            n_cases=self._n_cases,
            n_judged=self._n_judged,
            n_labelled=n_labelled,
            headline=headline,
            estimates=_others(self._rows, paired, n_labelled, headline.name),
            baselines=self._baseline_figures(headline_of) if paired and n_labelled else {},
            winners=dict(self._winners),
            against_label=dict(self._against),
            by_group=_breakdown("group", self._rows, headline_of, _group),
            by_scenario=_breakdown("scenario", self._rows, headline_of, _scenario),
            by_length=_by_length(self._rows, headline_of) if paired else None,
            reliability=calibration.reliability(self._rows) if n_labelled else (),
            coverage=risk_coverage.coverage_points(self._rows),
            lost=dict(self._lost.most_common(_N_REASONS)),
            n_truncated=self._n_truncated,
            prompt_tokens=self._read,
            completion_tokens=self._written,
            ratings={
                name: tuple(counts[value] for value in range(1, 11))
                for name, counts in sorted(self._ratings.items())
            },
            authors=self._authors.found(),
        )

    def _baseline_figures(
        self, headline_of: Callable[[Rows], Estimate]
    ) -> dict[str, tuple[str, Estimate]]:
        rows = [row for row in self._rows if isinstance(row.label, str)]
        labels = Counter(row.label for row in rows)
        majority = max(WINNERS, key=lambda winner: labels[winner])
        named = self._baselines | {"majority": [majority] * len(rows)}
        return {
            name: (
                does,
                headline_of(
                    [
                        row._replace(winner=winner)
                        for row, winner in zip(rows, named[name], strict=True)
                    ]
                ),
            )
            for name, (does, _) in BASELINE_JUDGES.items()
        }


def _headline(paired: bool, scalar: bool, n_labelled: int) -> Callable[[Rows], Estimate]:
    """The figure that says most about a run: against labels where there are any."""
    if not paired:
        if scalar:
            return lambda its: mean("mean score", its, lambda row: row.rating, span=None)
        return mean_rating.compute
    if n_labelled:
        return lambda its: proportion("verdict accuracy", select(its, is_labelled), _is_right)
    return win_rate.compute


def _is_right(row: Row) -> float | None:
    return None if row.winner is None else float(row.winner == row.label)


def _others(rows: Rows, paired: bool, n_labelled: int, headline: str) -> tuple[Estimate, ...]:
    if not paired:
        return ()
    found = [win_rate.compute(rows)]
    if n_labelled:
        found += [*pair_figures(select(rows, is_labelled)), calibration.compute(rows)]
        found += [calibration.expected_calibration_error(rows), length_bias.compute(rows)]
    else:
        found.append(length_bias.share_of_longer("longer wins", rows, lambda row: row.winner))
    if any(len(row.winners) == 2 for row in rows):
        found.append(position_bias.compute(rows))
    # Two names of one figure: the accuracy of the verdicts is the averaged one where those decide.
    same = {headline, "averaged accuracy"} if headline == "verdict accuracy" else {headline}
    return tuple(each for each in found if each.name not in same and each.value is not None)


def _group(row: Row) -> str | None:
    return group_name(row.scenario)


def _scenario(row: Row) -> str | None:
    return row.scenario


def _breakdown(
    title: str,
    rows: Sequence[Row],
    figure: Callable[[Rows], Estimate],
    part_of: Callable[[Row], str | None],
) -> Breakdown | None:
    parts = {name: figure(its) for name, its in by(in_paper_order(rows), part_of).items()}
    known = {name: its for name, its in parts.items() if its.value is not None}
    return Breakdown(title=title, whole=figure(rows), parts=known) if len(known) > 1 else None


def _by_length(rows: Sequence[Row], figure: Callable[[Rows], Estimate]) -> Breakdown | None:
    parts: dict[str, list[Row]] = {name: [] for _, name in _LENGTH_PARTS}
    for row in rows:
        if (name := _length_part(row)) is not None:
            parts[name].append(row)
    known = {name: figure(its) for name, its in parts.items() if its}
    known = {name: its for name, its in known.items() if its.value is not None}
    title = "difference in length"
    return Breakdown(title=title, whole=figure(rows), parts=known) if len(known) > 1 else None


def _length_part(row: Row) -> str | None:
    if row.lengths is None or not any(row.lengths):
        return None
    first, second = row.lengths
    relative = (first - second) / max(first, second)
    return next(name for end, name in _LENGTH_PARTS if relative <= end)
