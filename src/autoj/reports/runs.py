"""The list of runs."""

import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.reports import render
from autoj.reports.verdict_cells import side_name
from autoj.tasks.runs import RunEntry

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
_NAME_COLUMNS = 16
_BRIEF = {"agreement": "agreement", "verdict accuracy": "accuracy"}


def runs_view(entries: Sequence[RunEntry], now: float | None = None) -> RenderableType:
    """The runs of a folder, and below them the folders that are none.

    Args:
        entries: from `list_runs`.
        now: the time that ages are told from, in seconds since 1970; None is the present.
    """
    now = time.time() if now is None else now
    whole = [entry for entry in entries if entry.state in ("run", "several runs")]
    others = [entry for entry in entries if entry.state not in ("run", "several runs")]
    parts: list[RenderableType] = [_table(whole, now)] if whole else []
    if others:
        parts += [Text()] * bool(whole) + [_others(others)]
    return Group(*parts) if parts else Text("There are no runs here.")


def _table(entries: Sequence[RunEntry], now: float) -> render.Listing:
    # On a narrow terminal the first columns are one table and the others another one.
    listing = render.Listing(
        render.Column.prose("run"),
        *map(render.Column.number, ("done", "failed", "unread", "figure", "age")),
        *map(render.Column.word, ("kind",)),
        render.Column.text("judge", 24),
        render.Column.text("protocol", 24),
    )
    for entry in entries:
        listing.add(
            Path(entry.path).name or entry.path,
            _done(entry),
            entry.n_failed,
            entry.n_unreadable,
            _figure(entry),
            age(None if entry.changed is None else now - entry.changed),
            entry.kind or entry.reason,
            entry.judge,
            entry.protocol,
        )
    return listing


def _done(entry: RunEntry) -> Text:
    if entry.n_cases is None:
        return Text(render.count(entry.n_judged))
    if entry.n_judged == 0 and entry.n_answers:
        return Text(f"{entry.n_answers:,} answers", style="yellow")
    if entry.n_judged == entry.n_cases:
        return Text(render.count(entry.n_cases))
    return Text(f"{entry.n_judged:,} of {entry.n_cases:,}", style="yellow")


def _figure(entry: RunEntry) -> str:
    """The main figure in few words; a win rate names its model."""
    if entry.figure is None or entry.figure.value is None:
        return render.MISSING
    name, value = entry.figure.name, render.estimate_value(entry.figure)
    if name == "win rate":
        return f"{side_name('a', entry.authors, _NAME_COLUMNS)} wins {value}"
    return f"{_BRIEF.get(name, name)} {value}"


def _others(entries: Sequence[RunEntry]) -> render.Listing:
    listing = render.Listing(render.Column.text("no run", 40), render.Column.prose("reason"))
    for entry in entries:
        listing.add(Path(entry.path).name or entry.path, f"{entry.state}: {entry.reason}")
    return listing


def age(seconds: float | None) -> str:
    """A time ago in its largest unit.

    >>> age(7200.5), age(59), age(None)
    ('2 h', '59 s', '-')
    """
    if seconds is None:
        return render.MISSING
    for unit, length in _UNITS:
        if seconds >= length:
            return f"{int(seconds // length):,} {unit}"
    return "now"
