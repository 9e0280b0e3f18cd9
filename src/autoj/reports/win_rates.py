"""Win rates by other tools' conventions, for each pair of models."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.records import Estimate
from autoj.reports.judge import convention_table
from autoj.reports.text import visible_text


def published_view(found: Mapping[tuple[str, str], Mapping[str, Estimate]]) -> RenderableType:
    """The win rates of each pair of models of a file of verdicts.

    Args:
        found: by the names of models a and b, the rates by the convention's name.
    """
    parts: list[RenderableType] = []
    for (a, b), rates in found.items():
        parts += [
            visible_text(f"a is {a}, b is {b}", style="bold"),
            convention_table(rates),
            Text(),
        ]
    return Group(*parts)
