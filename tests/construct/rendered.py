"""A view as the text that a terminal of 100 columns shows."""

from __future__ import annotations

from rich.console import Console, RenderableType


def text_of(view: RenderableType, columns: int = 100) -> str:
    console = Console(width=columns)
    with console.capture() as captured:
        console.print(view)
    return captured.get()
