"""The parts of `autoj show`: one case, cases of one kind, win rates of other tools."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from autoj.cli import _console
from autoj.errors import UnknownComponent
from autoj.reports.case import case_view
from autoj.reports.judge import convention_table
from autoj.reports.jury_case import jury_case_view
from autoj.reports.only import only_view
from autoj.reports.win_rates import published_view
from autoj.runs import read_case
from autoj.runs.authors import authors_of
from autoj.tasks.jury import JuryRun, read_jury_case
from autoj.tasks.run import Run
from autoj.tasks.stored import find_only
from autoj.tasks.win_rates import published_win_rates, win_rates
from autoj.verdicts.only import KINDS, Only


def show_win_rates(run: Run, convention: str, as_json: bool) -> None:
    """Show the win rate of a run as other tools would report it."""
    rates = win_rates(run, convention)
    if as_json:
        found = [asdict(rate) for rate in rates.values()]
        _console.print_json({"run": str(run.path), "win_rates": found})
    else:
        authors = authors_of(case for case, _ in run.folder.outlined())
        _console.print_result(convention_table(rates, authors))


def show_published(path: Path, convention: str, as_json: bool) -> None:
    """Show the win rates of a file of another tool's verdicts."""
    found = published_win_rates(path, convention)
    if as_json:
        listed = [
            {"a": a, "b": b, "win_rates": [asdict(rate) for rate in rates.values()]}
            for (a, b), rates in found.items()
        ]
        _console.print_json({"verdicts": str(path), "pairs": listed})
    else:
        _console.print_result(published_view(found))


def show_case(run: Run, case_id: str, n_lines: int | None, as_json: bool) -> None:
    """Show one case of a run with its judgments."""
    record = read_case(run.folder, run.spec, case_id)
    if record is None:
        raise UnknownComponent("case", case_id, (case.id for case in run.folder.cases()))
    if as_json:
        _console.print_json(record)
    else:
        _console.print_result(case_view(record, n_lines))


def show_jury_case(run: JuryRun, case_id: str, n_lines: int | None, as_json: bool) -> None:
    """Show one case of a jury with the judgments of all its judges."""
    found = read_jury_case(run, case_id)
    if found is None:
        first = Run.open(run.path / run.jury.jurors[0].folder)
        raise UnknownComponent("case", case_id, (case.id for case in first.folder.cases()))
    if as_json:
        _console.print_json(found)
    else:
        _console.print_result(jury_case_view(found, n_lines))


def show_only(path: Path, only: Only, n_first: int, as_json: bool) -> None:
    """Show the cases of a run or a jury that are of one kind."""
    stored, found = find_only(path, only, n_first)
    if as_json:
        cases = [{"case": case, "verdict": verdict} for case, verdict in found.first]
        counts = {"n": found.n, "n_told": found.n_told, "says": KINDS[only].says}
        _console.print_json({"run": str(path), "only": only, **counts, "cases": cases})
    else:
        _console.print_result(only_view(stored, found, only))
