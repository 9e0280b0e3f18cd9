"""`autoj show`: a run, or one of its cases with its judgments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Group
from rich.text import Text

from autoj.cli import _console, _options
from autoj.cli._judging import show_jury
from autoj.cli.classify import show_classified
from autoj.cli.select import show_selection
from autoj.errors import ConfigError, UnknownComponent
from autoj.records import Case, Verdict
from autoj.reports.case import case_view
from autoj.reports.judge import convention_table, summary_table, verdict_table
from autoj.reports.scenario_sources import Breakdown
from autoj.reports.summary import summarise
from autoj.reports.win_rates import published_view
from autoj.runs import RunFolder, read_case, resolve_run
from autoj.runs.kind import kind_of
from autoj.tasks.jury import JuryRun
from autoj.tasks.run import Run
from autoj.tasks.win_rates import published_win_rates, win_rates

_N_LINES = 12


def show(
    run: Annotated[
        Path, typer.Argument(help="A run's folder; with --convention also a file of verdicts.")
    ],
    case: Annotated[str | None, typer.Argument(help="A case's id; without one, the run.")] = None,
    by: _options.By = None,
    first: Annotated[
        int,
        typer.Option(min=0, help="The number of verdicts to list.", rich_help_panel=_options.SHOWN),
    ] = 20,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Show all lines of the query and of each response.",
            rich_help_panel=_options.SHOWN,
        ),
    ] = False,
    convention: Annotated[
        Literal["auto-j", "mt-bench", "pandalm", "alpaca-eval", "arena-hard", "all"] | None,
        typer.Option(
            metavar="TOOL",
            help="Show the win rate as this tool would report it: auto-j, mt-bench, pandalm, "
            "alpaca-eval, arena-hard, or all.",
            rich_help_panel=_options.SHOWN,
        ),
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """Show a run, or one of its cases with its judgments, even while it is running.

    Example: autoj show runs/pairs-embedded-1a2b3c4d line-7
    """
    _console.set_json(as_json)
    if convention is not None and run.is_file():
        _show_published(run, convention, as_json)
        return
    kind = kind_of(run)
    if kind == "jury":
        if case is not None or convention is not None:
            raise ConfigError(
                f"{run} is a jury's folder", hint=f"autoj show {run}/judges/NAME shows one judge's."
            )
        show_jury(JuryRun.open(run), by, first, as_json)
        return
    found = Run.open(run)
    if case is not None:
        _show_case(found.folder, case, None if full else _N_LINES, as_json)
    elif convention is not None:
        _show_win_rates(found, convention, as_json)
    elif kind == "classify":
        show_classified(found, as_json)
    elif kind == "select":
        show_selection(found, first, as_json)
    else:
        _show_run(found, by, first, as_json)


def _show_run(run: Run, by: Breakdown | None, n_shown: int, as_json: bool) -> None:
    listed: list[tuple[Case, Verdict]] = []

    def judged() -> Iterator[tuple[Case, Verdict]]:
        for pair in resolve_run(run.folder, run.spec):
            if len(listed) < n_shown:
                listed.append(pair)
            yield pair

    summary = summarise(judged(), run.spec, run.n_cases, by)
    if as_json:
        _console.print_json({"run": str(run.path), "summary": asdict(summary)})
        return
    table = verdict_table(listed, run.spec)
    _console.print_result(Group(table, Text(), summary_table(summary, run.spec)))


def _show_win_rates(run: Run, convention: str, as_json: bool) -> None:
    rates = win_rates(run, convention)
    if as_json:
        found = [asdict(rate) for rate in rates.values()]
        _console.print_json({"run": str(run.path), "win_rates": found})
    else:
        _console.print_result(convention_table(rates))


def _show_published(path: Path, convention: str, as_json: bool) -> None:
    found = published_win_rates(path, convention)
    if as_json:
        listed = [
            {"a": a, "b": b, "win_rates": [asdict(rate) for rate in rates.values()]}
            for (a, b), rates in found.items()
        ]
        _console.print_json({"verdicts": str(path), "pairs": listed})
    else:
        _console.print_result(published_view(found))


def _show_case(folder: RunFolder, case_id: str, n_lines: int | None, as_json: bool) -> None:
    record = read_case(folder, folder.spec(), case_id)
    if record is None:
        raise UnknownComponent("case", case_id, (case.id for case in folder.cases()))
    if as_json:
        _console.print_json(record)
    else:
        _console.print_result(case_view(record, n_lines))
