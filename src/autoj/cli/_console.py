"""Output: results go to stdout, everything else to stderr."""

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import orjson
import typer
from rich.console import Console, RenderableType
from rich.text import Text

from autoj.errors import AutojError
from autoj.reports.text import visible_text

if TYPE_CHECKING:
    # Every command prints, and few show runs.
    from autoj.reports.show import Shown


class Measurement(Protocol):
    """The figures of a benchmark."""

    @property
    def n_failed(self) -> int:
        """Judgments without an answer."""

    def as_json(self) -> dict[str, Any]:
        """The figures as plain values."""

    def keep(self, place: Path | None = None) -> None:
        """Saves the figures in a place, else beside their run."""


Found = TypeVar("Found")
Measured = TypeVar("Measured", bound=Measurement)

_PIPED_COLUMNS = 80


class _Mode:
    """The output mode of this command, which its errors use, too."""

    json = False


def set_json(wanted: bool) -> bool:
    """Set whether stdout is for a machine; the flag `--json` calls this as it is read."""
    _Mode.json = wanted
    return wanted


def show(
    found: Found,
    record: Callable[[Found], Any],
    view: Callable[[Found], RenderableType],
    *messages: str,
) -> None:
    """Show a result on stdout, in the one form that is wanted.

    Args:
        found: the result.
        record: makes plain values of it, for `--json`.
        view: makes a table of it, for a terminal.
        messages: printed on stderr after the table, and not for a machine.
    """
    if _Mode.json:
        print_json(record(found))
        return
    print_result(view(found))
    for message in messages:
        print_message(message)


def show_either(found: "Shown") -> None:
    """Show what is stored or was just made, and end with exit code 1 where something failed."""
    show(found, lambda its: its.record(), lambda its: its.view(), *found.hints)
    exit_if(found.failed)


def show_measured(
    found: Measured,
    place: Path | None,
    view: Callable[[Measured], RenderableType],
    *messages: str,
) -> None:
    """Keep a measurement, show it, and end with exit code 1 where a judgment failed.

    Args:
        found: the measurement.
        place: a file for it; None keeps it in the folder of its run.
        view: makes a table of it, for a terminal.
        messages: as for `show`.
    """
    found.keep(place)
    show(found, lambda its: its.as_json(), view, *messages)
    exit_if(found.n_failed)


def exit_if(failed: object) -> None:
    """End the command with exit code 1 if something failed or is left to do."""
    if failed:
        raise typer.Exit(1)


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


def spell_out_unknown_characters() -> None:
    """Write a code where stdout's encoding lacks a character; JSON is always UTF-8."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def print_error(error: AutojError) -> None:
    """Print an error on stderr, and as JSON on stdout in JSON mode."""
    text = Text("error: ", style="bold red").append_text(visible_text(str(error)))
    Console(stderr=True, highlight=False, soft_wrap=True).print(text)
    if _Mode.json:
        # The error may be that stdout cannot be written.
        with suppress(OSError):
            print_json(
                {
                    "error": {
                        "kind": type(error).__name__,
                        "message": error.message,
                        "hint": error.hint,
                    }
                }
            )
