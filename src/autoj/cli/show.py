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
from autoj.cli._showing import (
    show_case,
    show_jury_case,
    show_only,
    show_published,
    show_win_rates,
)
from autoj.cli.classify import show_classified
from autoj.cli.select import show_selection
from autoj.errors import ConfigError
from autoj.records import Case, Verdict
from autoj.reports.judge import summary_table, verdict_table
from autoj.reports.scenario_sources import Breakdown
from autoj.reports.summary import summarise
from autoj.runs import resolve_run
from autoj.runs.kind import kind_of
from autoj.tasks.jury import JuryRun
from autoj.tasks.run import Run
from autoj.verdicts.only import Only

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
    only: Annotated[
        Only | None,
        typer.Option(
            help="Show cases of one kind: wrong (the winner is not the label), disagree (the "
            "orders, or the judges of a jury, name different winners), failed, unreadable, unsure "
            "(the two likeliest outcomes are less than 0.1 apart or, with --samples, less than two "
            "thirds of an order's samples agree), close (the two highest ratings differ by 0.5 or "
            "less).",
            rich_help_panel=_options.SHOWN,
        ),
    ] = None,
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
    if sum(asked is not None for asked in (case, only, convention)) > 1:
        raise ConfigError("give one of a case, --only and --convention")
    n_lines = None if full else _N_LINES
    if convention is not None and run.is_file():
        show_published(run, convention, as_json)
        return
    kind = kind_of(run)
    if only is not None:
        show_only(run, only, first, as_json)
    elif kind == "jury":
        _show_jury(JuryRun.open(run), case, convention, by, first, n_lines, as_json)
    elif case is not None:
        show_case(Run.open(run), case, n_lines, as_json)
    elif convention is not None:
        show_win_rates(Run.open(run), convention, as_json)
    elif kind == "classify":
        show_classified(Run.open(run), as_json)
    elif kind == "select":
        show_selection(Run.open(run), first, as_json)
    else:
        _show_run(Run.open(run), by, first, as_json)


def _show_jury(
    jury: JuryRun,
    case: str | None,
    convention: str | None,
    by: Breakdown | None,
    first: int,
    n_lines: int | None,
    as_json: bool,
) -> None:
    if convention is not None:
        raise ConfigError(
            f"{jury.path} is a jury's folder",
            hint=f"autoj show {jury.path}/judges/NAME --convention TOOL takes one judge's.",
        )
    if case is not None:
        show_jury_case(jury, case, n_lines, as_json)
    else:
        show_jury(jury, by, first, as_json)


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
