"""The parts of `autoj show`: a run of each kind, one case, cases of a kind, win rates."""

from __future__ import annotations

from pathlib import Path

from autoj.cli import _console
from autoj.reports.classify import classified_record, classified_view, summarise_classified_run
from autoj.reports.judge import stored_record, stored_view, summarise_stored
from autoj.reports.jury import jury_record, jury_view
from autoj.reports.jury_case import stored_case_view
from autoj.reports.jury_summary import summarise_jury
from autoj.reports.only import only_record, only_view
from autoj.reports.scenario_sources import Breakdown
from autoj.reports.select import selection_record, selection_view, summarise_selection
from autoj.reports.win_rates import published_record, published_view, rates_record, rates_view
from autoj.tasks.classify import SCENARIOS
from autoj.tasks.jury import JuryRun
from autoj.tasks.run import Run
from autoj.tasks.selection_folder import read_selections
from autoj.tasks.stored import find_case, find_only
from autoj.tasks.win_rates import published_win_rates, stored_win_rates
from autoj.verdicts.only import Only


def show_judged(path: Path, by: Breakdown | None, n_shown: int) -> None:
    """Show a run that judged or rated, with figures by scenario or group where that is wanted."""
    run = Run.open(path)
    summary, listed = summarise_stored(run, by, n_shown)
    _console.show(
        summary, lambda its: stored_record(run, its), lambda its: stored_view(run, its, listed)
    )


def show_jury(path: Path, by: Breakdown | None, n_shown: int) -> None:
    """Show a jury's first verdicts, and its figures beside its judges'."""
    run = JuryRun.open(path)
    summary = summarise_jury(run.path, run.jury, by)
    _console.show(
        summary, lambda its: jury_record(run, its), lambda its: jury_view(run, its, n_shown)
    )


def show_selection(path: Path, n_shown: int) -> None:
    """Show a run that selected, from the picks in its folder."""
    run = Run.open(path)
    summary = summarise_selection(read_selections(run.folder), run.spec)
    _console.show(
        summary,
        lambda its: selection_record(run, its),
        lambda its: selection_view(run, its, n_shown),
    )


def show_classified(path: Path) -> None:
    """Show a judge's run that named scenarios."""
    run = Run.open(path)
    _console.show(
        summarise_classified_run(run),
        lambda its: classified_record(run.path / SCENARIOS, its),
        classified_view,
        f"{run.path / SCENARIOS} has a row per query",
    )


def show_case(path: Path, case_id: str, n_lines: int | None) -> None:
    """Show one case of a run or a jury with its judgments."""
    found = find_case(path, case_id)
    _console.show(found, lambda its: its, lambda its: stored_case_view(its, n_lines))


def show_only(path: Path, only: Only, n_first: int) -> None:
    """Show the cases of a run or a jury that are of one kind."""
    stored, found = find_only(path, only, n_first)
    _console.show(
        found,
        lambda its: only_record(path, its, only),
        lambda its: only_view(stored, its, only),
    )


def show_win_rates(path: Path, convention: str) -> None:
    """Show the win rates of a run, or of a file of verdicts, as other tools would report them."""
    if path.is_file():
        published = published_win_rates(path, convention)
        _console.show(published, lambda its: published_record(path, its), published_view)
        return
    run, rates = stored_win_rates(path, convention)
    _console.show(rates, lambda its: rates_record(run, its), lambda its: rates_view(run, its))
