"""Scenarios as tables: by group with their criteria, and one with its weights."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Group

from autoj.reports.scenarios import library_view, scenario_view
from autoj.scenarios import Library

from .pages import check_pages, page

PLANNING = Library().find("planning")


def test_pages():
    def view(name: str) -> Group:
        scenario = replace(PLANNING, name=name, description=name)
        return Group(library_view([scenario]), scenario_view(scenario))

    check_pages(view, str(len(PLANNING.criteria)))


def test_a_scenario_of_no_group_is_your_own():
    own = replace(PLANNING, name="mine", group=None)
    lines = page(library_view([PLANNING, own])).splitlines()
    assert [line.strip() for line in lines if line.strip() in (PLANNING.group, "your own")] == [
        PLANNING.group, "your own",
    ]  # fmt: skip
    assert lines[-1].startswith("2 scenarios, ")


def test_every_criterion_has_its_weight():
    text = page(scenario_view(PLANNING), 120)
    assert all(f"{criterion.name}: " in text for criterion in PLANNING.criteria)
