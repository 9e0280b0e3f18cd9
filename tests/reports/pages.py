"""Reports as pages of text at several widths, and what holds of every page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

from rich.cells import cell_len
from rich.console import Console, RenderableType

from autoj.records import Estimate
from autoj.reports.text import visible

HOSTILE = "[bold]x[/bold] :smile: \x1b[2Jred\u202ereversed\rback"
"""A name that would be markup, an emoji, a cleared screen, and text that runs backwards."""
LONG = "a-judge-with-a-very-long-name-" * 6
WIDE = "评判模型" * 40
"""A name whose characters take two columns each."""
WIDTHS = (60, 80, 120)


def page(view: RenderableType, width: int = 80) -> str:
    """A view as a terminal of that width shows it."""
    file = io.StringIO()
    Console(file=file, width=width, highlight=False).print(view)
    return file.getvalue()


def rows(text: str) -> list[list[str]]:
    """A page's lines as their words."""
    return [line.split() for line in text.splitlines()]


def check_pages(view_of: Callable[[str], RenderableType], *numbers: str) -> None:
    """Whatever a name is: no line overflows, no number is cut, and no control character is left.

    Args:
        view_of: makes the view of a judge, model or part of that name.
        numbers: cells that stand in the view.
    """
    for name in ("plain", HOSTILE, LONG, WIDE):
        for width in WIDTHS:
            text = page(view_of(name), width)
            assert visible(text) == text
            assert max(map(cell_len, text.splitlines())) <= width, (name, width, text)
            assert re.search(r"(?<![\w\[])\d[\d,.]*…", text) is None, (name, width, text)
            missing = [number for number in numbers if number not in text]
            assert missing == [], (name, width, text)
    assert "[bold]" in page(view_of(HOSTILE), 120)


def estimate(
    name: str, value: float | None, low=None, high=None, n: int = 90, **others
) -> Estimate:
    """An estimate on as many queries as cases, unless told otherwise."""
    return Estimate(name=name, value=value, low=low, high=high, n=n, **{"n_clusters": n, **others})
