"""`autoj show`: a run, or one of its cases with its judgments."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from autoj.cli import _console, _options
from autoj.errors import UnknownComponent
from autoj.reports import summarise
from autoj.reports.tables import case_view, summary_table, verdict_table
from autoj.runs import RunFolder, read_case, resolve_run

__all__ = ["show"]

_N_LINES = 12


def show(
    run: Annotated[Path, typer.Argument(help="A run's folder.")],
    case: Annotated[str | None, typer.Argument(help="A case's id; without one, the run.")] = None,
    by: _options.By = None,
    first: Annotated[int, typer.Option(min=0, help="How many verdicts of the run to list.")] = 20,
    full: Annotated[
        bool, typer.Option("--full", help="Show all lines of the query and of each response.")
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Show a run, or one case of it with its judgments; works while the run goes on, or after.

    Example: autoj show runs/pairs-embedded-1a2b3c4d line-7
    """
    _console.set_json(as_json)
    folder = RunFolder.existing(run)
    if case is not None:
        _show_case(folder, case, None if full else _N_LINES, as_json)
        return
    spec = folder.spec()
    summary = summarise(resolve_run(folder, spec), spec, folder.n_cases(), by)
    if as_json:
        _console.print_json({"run": str(run), "summary": asdict(summary)})
        return
    listed = islice(resolve_run(folder, spec), first)
    _console.print_result(Group(verdict_table(listed, spec), Text(), summary_table(summary, spec)))


def _show_case(folder: RunFolder, case_id: str, n_lines: int | None, as_json: bool) -> None:
    record = read_case(folder, folder.spec(), case_id)
    if record is None:
        raise UnknownComponent("case", case_id, (case.id for case in folder.cases()))
    if as_json:
        _console.print_json(record)
    else:
        _console.print_result(case_view(record, n_lines))
