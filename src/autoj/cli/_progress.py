"""Progress of long tasks on stderr."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from autoj.cli._console import print_message
from autoj.errors import Unfinished
from autoj.reports.cost import spent_text
from autoj.reports.text import visible
from autoj.runs.watch import Watch

_PLAIN_SECONDS = 30.0
"""The interval of progress reports where stderr is not a terminal."""
_PATIENCE_SECONDS = 2.0
"""Shorter work shows no progress."""
_TELLING = 10
"""So many done, or a twentieth of all, say how long the rest takes: one of a batch does not."""


class TerminalWatch(Watch):
    """Draws progress on stderr: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task: Any = None
        self._what = self._cost = ""
        self._n_before = 0
        self._started = self._reported = time.monotonic()

    def progress(self, what: str, n_done: int, n_total: int) -> None:
        """Show progress; a change of `what` starts a new bar."""
        now = time.monotonic()
        if what != self._what:
            self._what, self._task, self._started, self._n_before = what, None, now, n_done
        if not self._bar.console.is_terminal:
            self._report(now, n_done, n_total)
        elif now - self._started > _PATIENCE_SECONDS or self._task is not None:
            if self._task is None:
                self._task = self._bar.add_task(visible(what), total=n_total, cost="")
                self._bar.start()
            self._bar.update(self._task, completed=n_done, total=n_total, cost=self._cost)

    def cost(self, spent_usd: float, expected_usd: float | None) -> None:
        """Show the money beside the next progress."""
        self._cost = spent_text(spent_usd, expected_usd)

    def message(self, text: str) -> None:
        """Print a message on stderr, in place of the bar."""
        self.stop()
        print_message(text)

    def stop(self) -> None:
        """Stop this bar; the next progress starts another."""
        if self._task is not None:
            self._bar.stop()
            self._task, self._what = None, ""

    def _report(self, now: float, n_done: int, n_total: int) -> None:
        if now - self._reported < _PLAIN_SECONDS:
            return
        self._reported = now
        money = f", {self._cost}" if self._cost else ""
        if n_total <= n_done:
            # Whoever reads a file lazily knows no more than what was read.
            print_message(f"{self._what}: {n_done:,} done{money}")
            return
        rest = self._time_left(now, n_done, n_total)
        print_message(f"{self._what}: {n_done:,} of {n_total:,}{rest}{money}")

    def _time_left(self, now: float, n_done: int, n_total: int) -> str:
        # What an earlier session did took this one no time.
        n_new = n_done - self._n_before
        if n_new < max(1, min(_TELLING, n_total // 20)):
            return ""
        minutes = (n_total - n_done) * (now - self._started) / n_new / 60
        return f", about {minutes:.0f} min left" if minutes >= 1 else ", less than a minute left"


@contextmanager
def watching() -> Iterator[TerminalWatch]:
    """Draw progress and show messages on stderr while the block runs.

    A run that a cap stopped ends the command with exit code 1; its message says how to resume.
    """
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[cost]}"),
        console=Console(stderr=True),
        transient=True,
    )
    watch = TerminalWatch(bar)
    try:
        yield watch
    except Unfinished as error:
        print_message(error.message)
        raise typer.Exit(1) from None
    finally:
        watch.stop()
