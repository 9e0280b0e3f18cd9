"""`autoj scenarios`: the kinds of query, what makes a good response to each, and your own."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.cli import _console, _options
from autoj.errors import DataError
from autoj.reports.text import visible, visible_text
from autoj.scenarios import Criterion, Scenario, check_folder, load_library, render_message
from autoj.scenarios.criteria import TYPES, count_distinct

__all__ = ["scenarios_app"]

scenarios_app = typer.Typer(invoke_without_command=True)

Folder: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--scenarios", help="A folder of YAML with scenarios of your own, or changes to ours."
    ),
]
_NO_GROUP = "your own"


@scenarios_app.callback()
def scenarios(
    context: typer.Context, folder: Folder = None, as_json: _options.Json = False
) -> None:
    """List the scenarios with how many criteria each has; `show NAME` shows one.

    Example: autoj scenarios
    """
    _console.set_json(as_json)
    if context.invoked_subcommand is not None:
        return
    library = load_library(folder)
    found = [library.find(name) for name in library.names()]
    if as_json:
        _console.print_json([_outline(scenario) for scenario in found])
        return
    for group in dict.fromkeys(scenario.group for scenario in found):
        _console.print_result(
            _list_of(group, [scenario for scenario in found if scenario.group == group])
        )
    n_criteria = count_distinct(found)
    _console.print_result(
        Text(f"{len(found)} scenarios, {n_criteria:,} criteria (shared ones counted once)")
    )


@scenarios_app.command("show")
def show_scenario(
    name: Annotated[str, typer.Argument(help="A scenario's name, or another name of it.")],
    folder: Folder = None,
    message: Annotated[
        bool,
        typer.Option("--message", help="The system message that a judge reads, and nothing else."),
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Show a scenario: what the user wants, and the criteria with their weights.

    Example: autoj scenarios show planning --message
    """
    _console.set_json(as_json)
    scenario = load_library(folder).find(name)
    if as_json:
        written = [_criterion_json(criterion) for criterion in scenario.criteria]
        _console.print_json(
            _outline(scenario) | {"criteria": written, "message": render_message(scenario)}
        )
    elif message:
        typer.echo(visible(render_message(scenario)))
    else:
        _console.print_result(_scenario_page(scenario))


@scenarios_app.command("check")
def check_scenarios(
    folder: Annotated[
        Path | None, typer.Argument(help="A folder of scenarios. Default: the shipped ones.")
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """Check a folder of scenarios: each fault with file and line; exit code 2 where there is one.

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
                "faults": [_fault_json(fault) for fault in checked.faults],
            }
        )
    elif checked.faults:
        for fault in checked.faults:
            typer.echo(visible(str(fault)))
        _console.print_message(f"{_count(len(checked.faults), 'fault')}; {counted} can be read.")
    else:
        _console.print_result(Text(f"{counted} in {checked.n_files} files: nothing is wrong"))
    if checked.faults:
        raise typer.Exit(2)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n:,} {noun}s"


def _list_of(group: str | None, found: list[Scenario]) -> RenderableType:
    table = Table(box=None, header_style="bold", padding=(0, 1), title_justify="left")
    table.title = visible_text(group or _NO_GROUP, style="bold")
    table.add_column("scenario", no_wrap=True)
    table.add_column("criteria", justify="right", no_wrap=True)
    table.add_column("own", justify="right", no_wrap=True)
    table.add_column("what the user wants", overflow="fold")
    for each in found:
        table.add_row(
            visible_text(each.name),
            str(len(each.criteria)),
            str(len(each.own)),
            visible_text(each.description),
        )
    return table


def _scenario_page(scenario: Scenario) -> RenderableType:
    facts = Table(box=None, show_header=False, padding=(0, 1))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    facts.add_row("name", visible_text(scenario.name))
    facts.add_row("group", visible_text(scenario.group or _NO_GROUP))
    facts.add_row("what", visible_text(scenario.description))
    facts.add_row("file", visible_text(str(scenario.path)))
    table = Table(box=None, header_style="bold", padding=(0, 1))
    table.add_column("type", style="dim", no_wrap=True)
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column("criterion", overflow="fold")
    for wanted in TYPES:
        for number, criterion in enumerate(scenario.of_type(wanted)):
            name = visible_text(f"{criterion.name}: ", style="bold")
            kind = "" if number else wanted
            table.add_row(
                kind, str(criterion.weight), name.append_text(visible_text(criterion.content))
            )
    return Group(facts, Text(), table)


def _outline(scenario: Scenario) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "group": scenario.group,
        "description": scenario.description,
        "n_criteria": len(scenario.criteria),
        "n_own": len(scenario.own),
        "path": str(scenario.path),
    }


def _criterion_json(criterion: Criterion) -> dict[str, Any]:
    return asdict(criterion) | {"path": str(criterion.path)}


def _fault_json(fault: DataError) -> dict[str, Any]:
    return {
        "path": str(fault.path),
        "line": fault.line,
        "field": fault.field,
        "message": fault.reason,
        "hint": fault.hint,
    }
