"""The cases of a run that are of one kind, with the definition of the kind and their number."""

from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.reports import render
from autoj.reports.judge import verdict_table
from autoj.reports.jury import jury_table
from autoj.tasks.run import Run
from autoj.tasks.stored import Stored
from autoj.verdicts.only import KINDS, Found, Only


def only_record(path: Path, found: Found, only: Only) -> dict[str, Any]:
    """The cases of a kind as plain values, with their number and the definition of the kind."""
    return {
        "run": str(path),
        "only": only,
        "n": found.n,
        "n_told": found.n_told,
        "says": KINDS[only].says,
        "cases": [{"case": case, "verdict": verdict} for case, verdict in found.first],
    }


def only_view(stored: Stored, found: Found, only: Only) -> RenderableType:
    """The cases of a kind, as the run's own table lists them.

    Args:
        stored: the run or the jury.
        found: its cases of the kind.
        only: the kind.
    """
    counted = Text(f"{found.n:,} of {found.n_told:,} cases: {KINDS[only].says}")
    if not found.first:
        return counted
    if isinstance(stored, Run):
        table = verdict_table(found.first, stored.spec)
    else:
        table = jury_table(found.first, stored.jury)
    parts: list[RenderableType] = [table]
    if (n_more := found.n - len(found.first)) > 0:
        parts += render.notes([f" … {n_more:,} more; --first {found.n} lists all"])
    return Group(*parts, Text(), counted)
