"""`autoj scenarios`: the kinds of query, the criteria of a good response to each, and your own."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from autoj.cli import _completion, _console, _options
from autoj.cli._help import App
from autoj.reports.scenarios import (
    checked_record,
    checked_view,
    faults_line,
    library_view,
    outline_record,
    scenario_record,
    scenario_view,
)
from autoj.reports.text import visible
from autoj.scenarios import check_folder, load_library, render_message

scenarios_app = App(invoke_without_command=True)

Folder: TypeAlias = Annotated[
    Path | None,
    _options.shown("--scenarios", help="A folder of YAML files that add scenarios or change ours."),
]


@scenarios_app.callback()
def scenarios(
    context: typer.Context, folder: Folder = None, as_json: _options.Json = False
) -> None:
    """List the scenarios with their numbers of criteria; `show NAME` shows one.

    Example: autoj scenarios
    """
    if context.invoked_subcommand is not None:
        return
    library = load_library(folder)
    found = [library.find(name) for name in library.names()]
    _console.show(found, lambda its: [*map(outline_record, its)], library_view)


@scenarios_app.command("show")
def show_scenario(
    name: Annotated[
        str,
        typer.Argument(help="A scenario's name or alias.", autocompletion=_completion.scenarios),
    ],
    folder: Folder = None,
    message: Annotated[
        bool,
        _options.shown("--message", help="Print only the system message that a judge reads."),
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Show a scenario: its description, and the criteria with their weights.

    Example: autoj scenarios show planning --message
    """
    scenario = load_library(folder).find(name)
    if message and not as_json:
        typer.echo(visible(render_message(scenario)))
    else:
        _console.show(scenario, scenario_record, scenario_view)


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
    checked = check_folder() if folder is None else check_folder(folder)
    if as_json or not checked.faults:
        _console.show(checked, checked_record, checked_view)
    else:
        for fault in checked.faults:
            typer.echo(visible(str(fault)))
        _console.print_message(faults_line(checked))
    if checked.faults:
        raise typer.Exit(2)
