"""Runs as they are shown: one that was just made, one in its folder, or a part of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.errors import ConfigError
from autoj.reports import render
from autoj.reports.classify import (
    ClassifiedSummary,
    classified_record,
    classified_view,
    summarise_classified_run,
)
from autoj.reports.cost import session_record
from autoj.reports.judge import (
    run_record,
    run_view,
    stored_record,
    stored_view,
    summarise_stored,
    verdict_table,
)
from autoj.reports.jury import jury_record, jury_session_record, jury_table, jury_view
from autoj.reports.jury_case import stored_case_view
from autoj.reports.jury_summary import summarise_jury
from autoj.reports.scenario_sources import Breakdown
from autoj.reports.select import selection_record, selection_view, summarise_selection
from autoj.reports.summary import summarise
from autoj.reports.win_rates import published_record, published_view, rates_record, rates_view
from autoj.runs.kind import PICKS_FILE, kind_of
from autoj.tasks.classify import SCENARIOS
from autoj.tasks.classify_file import ClassifiedFile
from autoj.tasks.jury import JuryRun
from autoj.tasks.run import Run
from autoj.tasks.selection_folder import read_selections
from autoj.tasks.stored import Stored, find_case, find_only
from autoj.tasks.win_rates import published_win_rates, stored_win_rates
from autoj.verdicts.only import KINDS, Found, Only

N_SHOWN = 20
"""Cases that are listed above the figures."""
_N_LINES = 12
"""Lines of each text of a case, where not all are wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A stored thing in both of its forms, of which one is made."""

    record: Callable[[], Any]
    """Makes plain values of it, for JSON."""
    view: Callable[[], RenderableType]
    """Makes a table of it."""
    hints: tuple[str, ...] = ()
    """Sentences for the reader of the table."""
    failed: bool = False
    """True where this session left something failed, or unasked."""


def finished(run: Run | JuryRun, by: Breakdown | None = None) -> Shown:
    """A run or a jury that was just made, with this session's counts.

    Args:
        run: the run or the jury.
        by: the breakdown of the figures.
    """
    if isinstance(run, JuryRun):
        found = summarise_jury(run.path, run.jury, by)
        first = run.path / run.jury.jurors[0].folder
        return Shown(
            record=lambda: jury_record(run, found) | jury_session_record(run),
            view=lambda: jury_view(run, found, N_SHOWN),
            hints=(f"autoj show {first} CASE shows a case with a judge's judgments",),
            failed=bool(found.jury.n_failed),
        )
    judged = run.folder.outlined() if run.spec.paired else run.folder.judged()
    summary = summarise(judged, run.spec, run.n_cases, by)
    return Shown(
        record=lambda: run_record(run, summary),
        view=lambda: run_view(run, summary, N_SHOWN),
        hints=(f"autoj show {run.path} CASE shows a case with its judgments",),
        failed=bool(summary.n_failed) or run.stopped,
    )


def finished_selection(run: Run) -> Shown:
    """A selection that was just made, with this session's counts."""
    summary = summarise_selection(read_selections(run.folder), run.spec)
    return Shown(
        record=lambda: selection_record(run, summary) | session_record(run),
        view=lambda: selection_view(run, summary, N_SHOWN),
        hints=(f"the picks are in {run.path / PICKS_FILE}",),
        failed=bool(summary.n_failed) or run.stopped,
    )


def finished_naming(run: Run, confidence: float) -> Shown:
    """A judge's run that just named scenarios.

    Args:
        run: the run.
        confidence: the least probability of a confident scenario, 0-1.
    """
    summary = summarise_classified_run(run, confidence)
    left = bool(summary.n_failed) or run.stopped
    return _named(run.path / SCENARIOS, summary, session_record(run), left)


def classified_file(found: ClassifiedFile, summary: ClassifiedSummary) -> Shown:
    """A file of queries that a classifier just named.

    Args:
        found: the file.
        summary: its figures.
    """
    return _named(found.path, summary, {"n_bad_rows": len(found.bad_rows)})


def _named(
    rows: Path, summary: ClassifiedSummary, besides: dict[str, Any], failed: bool = False
) -> Shown:
    return Shown(
        record=lambda: classified_record(rows, summary) | besides,
        view=lambda: classified_view(summary),
        hints=(f"{rows} has a row per query",),
        failed=failed,
    )


def shown(
    path: Path,
    case_id: str | None = None,
    *,
    by: Breakdown | None = None,
    first: int = N_SHOWN,
    full: bool = False,
    only: Only | None = None,
    convention: str | None = None,
) -> Shown:
    """A run, a jury or a file of verdicts, as far as it is asked for.

    Args:
        path: the folder; with a convention also another tool's file of verdicts.
        case_id: one case with its judgments; None takes the whole.
        by: the breakdown of the figures.
        first: the number of verdicts or cases to list.
        full: whether a case's texts are shown whole.
        only: the kind of cases to list, in place of the whole.
        convention: the tool whose rule makes the win rates, or `all`, in place of the whole.

    Raises:
        ConfigError: several of these are asked for, or the run has none of it.
        UnknownComponent: there is no such case.
        DataError: the folder holds no run, or a jury that has not finished.
    """
    if sum(asked is not None for asked in (case_id, only, convention)) > 1:
        raise ConfigError("give one of a case, --only and --convention")
    if convention is not None:
        return _win_rates(path, convention)
    kind = kind_of(path)
    if only is not None:
        stored, found = find_only(path, only, first)
        return Shown(
            record=lambda: only_record(path, found, only),
            view=lambda: only_view(stored, found, only),
        )
    if case_id is not None:
        its = find_case(path, case_id)
        n_lines = None if full else _N_LINES
        return Shown(record=lambda: its, view=lambda: stored_case_view(its, n_lines))
    match kind:
        case "jury":
            return _jury(path, by, first)
        case "classify":
            run = Run.open(path)
            return _named(run.path / SCENARIOS, summarise_classified_run(run), {})
        case "select":
            return _selection(path, first)
    return _judged(path, by, first)


def only_record(path: Path, found: Found, only: Only) -> dict[str, Any]:
    """The cases of a kind as plain values, with their number and the definition of the kind."""
    return {
        "run": str(path),
        "only": only,
        "n": found.n,
        "n_told": found.n_told,
        "says": KINDS[only].says,
        "cases": [{"case": case, "verdict": verdict} for case, verdict in found.first],
    }


def only_view(stored: Stored, found: Found, only: Only) -> RenderableType:
    """The cases of a kind, as the run's own table lists them.

    Args:
        stored: the run or the jury.
        found: its cases of the kind.
        only: the kind.
    """
    counted = Text(f"{found.n:,} of {found.n_told:,} cases: {KINDS[only].says}")
    if not found.first:
        return counted
    if isinstance(stored, Run):
        table = verdict_table(found.first, stored.spec)
    else:
        table = jury_table(found.first, stored.jury)
    parts: list[RenderableType] = [table]
    if (n_more := found.n - len(found.first)) > 0:
        parts += render.notes([f" … {n_more:,} more; --first {found.n} lists all"])
    return Group(*parts, Text(), counted)


def _judged(path: Path, by: Breakdown | None, first: int) -> Shown:
    """A run that judged or rated, with figures by scenario or group where that is wanted."""
    run = Run.open(path)
    summary, listed = summarise_stored(run, by, first)
    return Shown(
        record=lambda: stored_record(run, summary),
        view=lambda: stored_view(run, summary, listed),
    )


def _jury(path: Path, by: Breakdown | None, first: int) -> Shown:
    """A jury's first verdicts, and its figures beside its judges'."""
    run = JuryRun.open(path)
    summary = summarise_jury(run.path, run.jury, by)
    return Shown(
        record=lambda: jury_record(run, summary), view=lambda: jury_view(run, summary, first)
    )


def _selection(path: Path, first: int) -> Shown:
    """A run that selected, from the picks in its folder."""
    run = Run.open(path)
    summary = summarise_selection(read_selections(run.folder), run.spec)
    return Shown(
        record=lambda: selection_record(run, summary),
        view=lambda: selection_view(run, summary, first),
    )


def _win_rates(path: Path, convention: str) -> Shown:
    """The win rates of a run, or of a file of verdicts, as other tools would report them."""
    if path.is_file():
        published = published_win_rates(path, convention)
        return Shown(
            record=lambda: published_record(path, published),
            view=lambda: published_view(published),
        )
    run, rates = stored_win_rates(path, convention)
    return Shown(record=lambda: rates_record(run, rates), view=lambda: rates_view(run, rates))
