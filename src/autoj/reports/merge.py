"""A run that several were joined into, and how to go on where something is missing."""

from __future__ import annotations

from rich.table import Table

from autoj.reports import render
from autoj.runs import Merged


def merged_table(merged: Merged) -> Table:
    """The counts of a joined run."""
    answers = render.count(merged.n_answers)
    if merged.n_repeated:
        answers += f" ({merged.n_repeated:,} more were the same)"
    rows = [("run", merged.run), ("joined from", render.count(merged.n_runs))]
    if merged.shard is not None:
        rows.append(("shard", merged.shard))
    return render.facts(
        [
            *rows,
            ("cases", merged.n_cases),
            ("answers", answers),
            ("failed", merged.n_failed),
            ("not judged yet", merged.n_unjudged),
        ]
    )


def missing_parts(merged: Merged) -> list[str]:
    """What a joined run lacks, and how to go on with it: a sentence each."""
    lines: list[str] = []
    if merged.several_data:
        lines.append(
            "the runs are of different data: their cases follow each other, and no command goes on "
            "with the joined run; go on with each, and join them again"
        )
    if merged.missing is not None:
        lines.append(
            f"shards {merged.missing} are missing, {merged.n_missing:,} cases: judge them with "
            f"--shard {merged.missing}, then join them with {merged.run}"
        )
    if (merged.n_unjudged or merged.n_failed) and not merged.several_data:
        shard = "without --shard" if merged.shard is None else f"with --shard {merged.shard}"
        lines.append(
            f"some questions have no answer yet: the command that judged, with --out {merged.run} "
            f"and {shard}, goes on"
        )
    return lines
