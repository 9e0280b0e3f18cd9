"""Values that the shell completes: names of judges, protocols, scenarios and data sets."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from autoj.cli._lazy import find

Completion: TypeAlias = Callable[[str], list[str]]
"""The values that begin with what was typed."""


def _beginning(typed: str, names: Iterable[str]) -> list[str]:
    """The names that begin with what was typed; after a comma, another name follows."""
    before, comma, last = typed.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]


def judges(incomplete: str) -> list[str]:
    """Judges that have a card."""
    names = [*find("autoj.judges:ALIASES"), *find("autoj.judges:judge_names")()]
    return _beginning(incomplete, names)


def protocols(incomplete: str) -> list[str]:
    """Protocols, ours."""
    return _beginning(incomplete, find("autoj.protocols:protocol_names")())


def scenarios(incomplete: str) -> list[str]:
    """Scenarios, ours."""
    return _beginning(incomplete, find("autoj.scenarios:load_library")().names())


def data_sets(incomplete: str) -> list[str]:
    """Public data sets of the catalog."""
    return _beginning(incomplete, find("autoj.datasets.catalog:data_names")())
