"""`autoj scenarios`: the kinds of query, the criteria of a good response to each, and your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.text import Text

from autoj.cli import _completion, _console, _options
from autoj.cli._help import App
from autoj.reports.scenarios import (
    fault_record,
    library_view,
    outline_record,
    scenario_record,
    scenario_view,
)
from autoj.reports.text import visible
from autoj.scenarios import check_folder, load_library, render_message
from autoj.scenarios.criteria import count_distinct

scenarios_app = App(invoke_without_command=True)

Folder: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--scenarios",
        help="A folder of YAML files that add scenarios or change ours.",
        rich_help_panel=_options.SHOWN,
    ),
]


@scenarios_app.callback()
def scenarios(
    context: typer.Context, folder: Folder = None, as_json: _options.Json = False
) -> None:
    """List the scenarios with their numbers of criteria; `show NAME` shows one.

    Example: autoj scenarios
    """
    _console.set_json(as_json)
    if context.invoked_subcommand is not None:
        return
    library = load_library(folder)
    found = [library.find(name) for name in library.names()]
    if as_json:
        _console.print_json([outline_record(scenario) for scenario in found])
    else:
        _console.print_result(library_view(found))


@scenarios_app.command("show")
def show_scenario(
    name: Annotated[
        str,
        typer.Argument(help="A scenario's name or alias.", autocompletion=_completion.scenarios),
    ],
    folder: Folder = None,
    message: Annotated[
        bool,
        typer.Option(
            "--message",
            help="Print only the system message that a judge reads.",
            rich_help_panel=_options.SHOWN,
        ),
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Show a scenario: its description, and the criteria with their weights.

    Example: autoj scenarios show planning --message
    """
    _console.set_json(as_json)
    scenario = load_library(folder).find(name)
    if as_json:
        _console.print_json(scenario_record(scenario))
    elif message:
        typer.echo(visible(render_message(scenario)))
    else:
        _console.print_result(scenario_view(scenario))


@scenarios_app.command("check")
def check_scenarios(
    folder: Annotated[
        Path | None, typer.Argument(help="A folder of scenarios. Default: the shipped ones.")
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """Check a folder of scenarios: print each error with file and line; exit code 2 for errors.

    Example: autoj scenarios check my-scenarios
    """
    _console.set_json(as_json)
    checked = check_folder() if folder is None else check_folder(folder)
    n_criteria = count_distinct(checked.scenarios)
    counted = f"{_count(len(checked.scenarios), 'scenario')} with {n_criteria:,} criteria"
    if as_json:
        _console.print_json(
            {
                "n_scenarios": len(checked.scenarios),
                "n_criteria": n_criteria,
                "n_files": checked.n_files,
                "faults": [fault_record(fault) for fault in checked.faults],
            }
        )
    elif checked.faults:
        for fault in checked.faults:
            typer.echo(visible(str(fault)))
        _console.print_message(f"{_count(len(checked.faults), 'fault')}; {counted} can be read.")
    else:
        _console.print_result(Text(f"{counted} in {checked.n_files} files, no errors"))
    if checked.faults:
        raise typer.Exit(2)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n:,} {noun}s"
