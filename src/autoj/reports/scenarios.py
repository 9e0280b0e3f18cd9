"""Scenarios and their criteria as tables and as plain values."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from autoj.errors import DataError
from autoj.reports import render
from autoj.reports.text import visible_text
from autoj.scenarios import Criterion, Scenario, render_message
from autoj.scenarios.criteria import TYPES, count_distinct
from autoj.scenarios.library import CheckedScenarios

_NO_GROUP = "your own"


def library_view(found: Sequence[Scenario]) -> RenderableType:
    """Scenarios by group, with the numbers of their criteria."""
    parts: list[RenderableType] = [
        _group_table(group, [scenario for scenario in found if scenario.group == group])
        for group in dict.fromkeys(scenario.group for scenario in found)
    ]
    n_criteria = count_distinct(found)
    counted = f"{len(found)} scenarios, {n_criteria:,} criteria (shared ones counted once)"
    return Group(*parts, Text(counted))


def _group_table(group: str | None, found: Sequence[Scenario]) -> RenderableType:
    listing = render.Listing(
        render.Column.text("scenario"),
        render.Column.number("criteria"),
        render.Column.number("own"),
        render.Column.prose("what the user wants"),
    )
    for each in found:
        listing.add(each.name, len(each.criteria), len(each.own), each.description)
    return Group(Padding(visible_text(group or _NO_GROUP, style="bold"), 0), listing)


def scenario_view(scenario: Scenario) -> RenderableType:
    """A scenario: its description, and its criteria by type, with their weights."""
    facts = render.facts(
        [
            ("name", scenario.name),
            ("group", scenario.group or _NO_GROUP),
            ("what", scenario.description),
            ("file", str(scenario.path)),
        ]
    )
    columns = (render.Column.number("weight"), render.Column.prose("criterion"))
    listing = render.Listing(render.Column.word("type"), *columns)
    for wanted in TYPES:
        for number, criterion in enumerate(scenario.of_type(wanted)):
            name = visible_text(f"{criterion.name}: ", style="bold")
            kind = Text("" if number else wanted, style="dim")
            content = name.append_text(visible_text(criterion.content))
            listing.add(kind, str(criterion.weight), content)
    return Group(facts, Text(), listing)


def scenario_record(scenario: Scenario) -> dict[str, Any]:
    """A scenario with its criteria and its text in the judge's prompt, as plain values."""
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


def checked_record(checked: CheckedScenarios) -> dict[str, Any]:
    """A checked folder as plain values: its counts and its faults."""
    return {
        "n_scenarios": len(checked.scenarios),
        "n_criteria": count_distinct(checked.scenarios),
        "n_files": checked.n_files,
        "faults": [_fault_record(fault) for fault in checked.faults],
    }


def checked_view(checked: CheckedScenarios) -> Text:
    """The counts of a folder that has no faults."""
    return Text(f"{_counted(checked)} in {checked.n_files} files, no errors")


def faults_line(checked: CheckedScenarios) -> str:
    """The number of a folder's faults, and what can be read all the same."""
    return f"{_count(len(checked.faults), 'fault')}; {_counted(checked)} can be read."


def _counted(checked: CheckedScenarios) -> str:
    n_criteria = count_distinct(checked.scenarios)
    return f"{_count(len(checked.scenarios), 'scenario')} with {n_criteria:,} criteria"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n:,} {noun}s"


def _fault_record(fault: DataError) -> dict[str, Any]:
    """A fault of a folder of scenarios as plain values."""
    return {
        "path": str(fault.path),
        "line": fault.line,
        "field": fault.field,
        "message": fault.reason,
        "hint": fault.hint,
    }
