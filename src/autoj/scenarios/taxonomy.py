"""The taxonomy: names of scenarios, their groups, and other spellings."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from autoj.errors import UnknownComponent


@cache
def _taxonomy() -> dict[str, Any]:
    text = (Path(__file__).parent / "data" / "taxonomy.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def groups() -> dict[str, tuple[str, ...]]:
    """The scenario names of each group, in the paper's order.

    >>> groups()["Summarization"]
    ('post_summarization', 'text_summarization', 'note_summarization')
    """
    return {group: tuple(names) for group, names in _taxonomy()["groups"].items()}


@cache
def _group_by_scenario() -> dict[str, str]:
    return {name: group for group, names in groups().items() for name in names}


def scenario_names() -> tuple[str, ...]:
    """All 58 names, group by group."""
    return tuple(_group_by_scenario())


def plain_name(name: str) -> str:
    """Joins the words of a name as the taxonomy does.

    >>> plain_name(" Code-Generation ")
    'code_generation'
    """
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def resolve_scenario(name: str) -> str:
    """Finds a scenario's name from any of its spellings.

    Raises:
        UnknownComponent: the name is not a spelling of a scenario.

    >>> resolve_scenario("default")
    'others'
    """
    plain = plain_name(name)
    known = _taxonomy()["aliases"].get(plain, plain)
    if known not in _group_by_scenario():
        raise UnknownComponent("scenario", name, scenario_names())
    return str(known)


def group_of(scenario: str) -> str:
    """Finds the group of a scenario.

    Raises:
        UnknownComponent: there is no such scenario.

    >>> group_of("planning")
    'General Communication'
    """
    return _group_by_scenario()[resolve_scenario(scenario)]
