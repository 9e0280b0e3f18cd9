"""Scenarios and their criteria as tables and as plain values; 80 columns are enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.errors import DataError
from autoj.reports.text import visible_text
from autoj.scenarios import Criterion, Scenario, render_message
from autoj.scenarios.criteria import TYPES, count_distinct

_NO_GROUP = "your own"


def library_view(found: Sequence[Scenario]) -> RenderableType:
    """Scenarios by group, with how many criteria each has."""
    parts: list[RenderableType] = [
        _group_table(group, [scenario for scenario in found if scenario.group == group])
        for group in dict.fromkeys(scenario.group for scenario in found)
    ]
    n_criteria = count_distinct(found)
    counted = f"{len(found)} scenarios, {n_criteria:,} criteria (shared ones counted once)"
    return Group(*parts, Text(counted))


def _group_table(group: str | None, found: Sequence[Scenario]) -> Table:
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


def scenario_view(scenario: Scenario) -> RenderableType:
    """A scenario: what the user wants, and the criteria by type, with their weights."""
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


def scenario_record(scenario: Scenario) -> dict[str, Any]:
    """A scenario with its criteria and the message that a judge reads, as plain values."""
    written = [_criterion_record(criterion) for criterion in scenario.criteria]
    return outline_record(scenario) | {"criteria": written, "message": render_message(scenario)}


def outline_record(scenario: Scenario) -> dict[str, Any]:
    """A scenario without its criteria, as plain values."""
    return {
        "name": scenario.name,
        "group": scenario.group,
        "description": scenario.description,
        "n_criteria": len(scenario.criteria),
        "n_own": len(scenario.own),
        "path": str(scenario.path),
    }


def _criterion_record(criterion: Criterion) -> dict[str, Any]:
    return asdict(criterion) | {"path": str(criterion.path)}


def fault_record(fault: DataError) -> dict[str, Any]:
    """A fault of a folder of scenarios as plain values."""
    return {
        "path": str(fault.path),
        "line": fault.line,
        "field": fault.field,
        "message": fault.reason,
        "hint": fault.hint,
    }
