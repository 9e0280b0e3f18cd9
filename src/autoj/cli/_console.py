"""Output: results go to stdout, everything else to stderr."""

from __future__ import annotations

import os
import sys
from typing import Any

import orjson
from rich.console import Console, RenderableType
from rich.text import Text

from autoj.errors import AutojError
from autoj.reports.text import visible_text

_PIPED_COLUMNS = 80


class _Mode:
    """The output mode of this command, which its errors use, too."""

    json = False


def set_json(wanted: bool) -> None:
    """Set whether stdout is for a machine."""
    _Mode.json = wanted


def print_result(result: RenderableType) -> None:
    """Show a result on stdout, as wide as the terminal; $COLUMNS or 80 columns in a pipe."""
    wide = sys.stdout.isatty() or "COLUMNS" in os.environ
    Console(highlight=False, width=None if wide else _PIPED_COLUMNS).print(result)


def print_json(value: Any) -> None:
    """Write a result for a machine on stdout."""
    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()


def print_message(text: str) -> None:
    """Print a message on stderr."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(visible_text(text))


def print_error(error: AutojError) -> None:
    """Print an error on stderr, and as JSON on stdout in JSON mode."""
    text = Text("error: ", style="bold red").append_text(visible_text(str(error)))
    Console(stderr=True, highlight=False, soft_wrap=True).print(text)
    if _Mode.json:
        print_json(
            {"error": {"kind": type(error).__name__, "message": error.message, "hint": error.hint}}
        )
