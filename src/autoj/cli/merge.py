"""`autoj merge`: shards of a run, or runs that overlap, as one run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from autoj.cli import _console, _options
from autoj.reports.text import visible_text
from autoj.runs import Merged, merge_runs

__all__ = ["merge"]


def merge(
    runs: Annotated[
        list[Path],
        typer.Argument(help="The runs' folders; of two answers, the first run's is kept."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="The joined run's folder; a run that is there already is joined, too."
        ),
    ],
    as_json: _options.Json = False,
) -> None:
    """Join runs of the same settings: shards judged on several machines, or runs that overlap.

    Equal questions must have equal answers. The result is a run like any other, and missing shards
    are named. The runs that are joined stay as they are.

    Example: autoj merge runs/pairs-embedded-1a2b3c4d-shard-* --out runs/pairs-embedded-1a2b3c4d
    """
    _console.set_json(as_json)
    merged = merge_runs(runs, out)
    if as_json:
        _console.print_json(asdict(merged))
    else:
        _console.print_result(_table(merged))
    _say_what_is_missing(merged)


def _table(merged: Merged) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    answers = f"{merged.n_answers:,}"
    if merged.n_repeated:
        answers += f" ({merged.n_repeated:,} more were the same)"
    rows = [("run", merged.run), ("joined from", f"{merged.n_runs:,}")]
    if merged.shard is not None:
        rows.append(("shard", merged.shard))
    rows += [
        ("cases", f"{merged.n_cases:,}"),
        ("answers", answers),
        ("failed", f"{merged.n_failed:,}"),
        ("not judged yet", f"{merged.n_unjudged:,}"),
    ]
    for label, value in rows:
        table.add_row(label, visible_text(value))
    return table


def _say_what_is_missing(merged: Merged) -> None:
    if merged.several_data:
        _console.print_message(
            "the runs are of different data: their cases follow each other, and no command goes on "
            "with the joined run; go on with each, and join them again"
        )
    if merged.missing is not None:
        _console.print_message(
            f"shards {merged.missing} are missing, {merged.n_missing:,} cases: judge them with "
            f"--shard {merged.missing}, then join them with {merged.run}"
        )
    if (merged.n_unjudged or merged.n_failed) and not merged.several_data:
        shard = "without --shard" if merged.shard is None else f"with --shard {merged.shard}"
        _console.print_message(
            f"some questions have no answer yet: the command that judged, with --out {merged.run} "
            f"and {shard}, goes on"
        )
