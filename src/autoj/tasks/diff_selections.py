"""Two selections from the same responses: the picks that differ, and figures of how far they do."""

from dataclasses import dataclass
from pathlib import Path

from autoj.errors import ConfigError, DataError
from autoj.jsonl import count_lines
from autoj.metrics import Difference, Row, difference
from autoj.metrics.base import proportion
from autoj.metrics.rows import scored_row
from autoj.records import Case, Estimate
from autoj.runs.files import VERDICTS
from autoj.runs.kind import PICKS_FILE, kind_of
from autoj.tasks.diff import Diff, RunDiff, diff_runs, differing_settings
from autoj.tasks.run import Run
from autoj.tasks.selection_folder import read_selections
from autoj.tasks.stored import Matched
from autoj.verdicts.selection import same_by_chance, same_pick


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingPick:
    """A query from whose responses two selections pick different ones."""

    case_id: str
    query: str
    one: int
    """The first selection's pick: its index among the responses, from 0."""
    other: int
    models: tuple[str | None, str | None]
    """The models that wrote the two picks, where they are known."""
    reference_scores: tuple[float | None, float | None]
    """The two picks' reference scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionDiff(Diff):
    """Two selections compared on the queries that both have."""

    same: Estimate
    """The share of the same pick, of the queries in which both picked; equal texts are the same."""
    by_chance: float | None
    """The share that random picks would have in common; None where no query has two picks."""
    reference: Difference | None
    """The mean reference score of the first one's picks less the other's, query by query; None
    where no query has scores of both."""
    n_differing: int
    differing: tuple[DifferingPick, ...]
    """In the order of the first selection."""


def diff_stored(one: Path, other: Path) -> RunDiff | SelectionDiff:
    """Compares two runs, juries or selections on what both have.

    Args:
        one: the folder of a run or a jury, finished or not, or of a finished selection.
        other: another one's, on the same data.

    Raises:
        ConfigError: the two are of different kinds, or have nothing to compare.
        DataError: a folder is no run, a selection is not finished, or they have no case in common.
    """
    selects = [kind_of(path) == "select" for path in (one, other)]
    if all(selects):
        return diff_selections(one, other)
    if any(selects):
        raise ConfigError(
            f"{one} and {other} cannot be compared: one has picks of autoj select, the other none",
            hint="Compare two selections, or two runs of judge or of rate.",
        )
    return diff_runs(one, other)


def diff_selections(one: Path, other: Path) -> SelectionDiff:
    """Compares two selections on the queries that both have.

    Args:
        one: the folder of a finished run of `autoj select`.
        other: another one's, on the same data.

    Raises:
        DataError: a folder is damaged, is not finished or has no pick, or they have no query in
            common.
    """
    runs = Run.open(one), Run.open(other)
    for run in runs:
        _check_finished(run)
    found = [((its.case, its.verdict) for its in read_selections(run.folder)) for run in runs]
    matched = Matched((found[0], found[1]), (one, other))
    rows: list[Row] = []
    scores: tuple[list[Row], list[Row]] = [], []
    chances: list[float] = []
    differing: list[DifferingPick] = []
    n_both = 0
    for case, mine, its in matched.both():
        n_both += 1
        same = same_pick(case, mine.selected, its.selected)
        rows.append(scored_row(case, None if same is None else float(same)))
        if mine.selected is None or its.selected is None:
            continue
        chances.append(same_by_chance(case))
        pick = _differing(case, mine.selected, its.selected)
        if not same:
            differing.append(pick)
        if None not in pick.reference_scores:
            for side, score in zip(scores, pick.reference_scores, strict=True):
                side.append(scored_row(case, score))
    if not n_both:
        raise DataError(
            f"has no query in common with {one}",
            path=other,
            hint="Compare selections from the same responses.",
        )
    return SelectionDiff(
        paths=(str(one), str(other)),
        judges=(runs[0].spec.judge.name, runs[1].spec.judge.name),
        n_both=n_both,
        n_alone=matched.n_alone,
        n_changed=matched.n_changed,
        settings=differing_settings(runs, (one, other)),
        same=proportion("same pick", rows, _score),
        by_chance=sum(chances) / len(chances) if chances else None,
        reference=difference("best of N", *scores, _score, span=None) if scores[0] else None,
        n_differing=len(differing),
        differing=tuple(differing),
    )


def _check_finished(run: Run) -> None:
    """Refuses picks that are not all written: the rest would be compared as no pick."""
    # What a digest was noted of is damaged where it is cut off, and no session cuts it.
    for name in (VERDICTS, PICKS_FILE):
        run.folder.compare(name)
    if not (run.path / PICKS_FILE).is_file() or run.n_judged < run.n_cases:
        raise DataError(
            f"is not finished: it has {run.n_judged:,} verdicts on {run.n_cases:,} queries, and "
            "picks are compared when all are written",
            path=run.path,
            hint="The command that began it goes on.",
        )
    if not count_lines(run.path / PICKS_FILE):
        raise DataError(
            "has no pick: its judge decided nothing",
            path=run.path,
            hint="`autoj show` has the judge's answers. Compare a selection with picks.",
        )


def _score(row: Row) -> float | None:
    return row.rating


def _differing(case: Case, one: int, other: int) -> DifferingPick:
    mine, its = case.responses[one], case.responses[other]
    return DifferingPick(
        case_id=case.id,
        query=case.query,
        one=one,
        other=other,
        models=(mine.model, its.model),
        reference_scores=(mine.reference_score, its.reference_score),
    )
