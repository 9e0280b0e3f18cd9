"""The counts of a merged run, and the commands that complete it."""

from rich.table import Table

from autoj.reports import render
from autoj.runs import Merged


def merged_table(merged: Merged) -> Table:
    """The counts of a merged run."""
    answers = render.count(merged.n_answers)
    if merged.n_repeated:
        answers += f" ({merged.n_repeated:,} repeated)"
    rows = [("run", merged.run), ("merged from", render.count(merged.n_runs))]
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
    """Sentences on the missing parts of a merged run, with the commands that add them."""
    lines: list[str] = []
    if merged.several_data:
        lines.append(
            "the runs are of different data, so no command can resume the merged run; resume "
            "each run, and merge them again"
        )
    if merged.missing is not None:
        lines.append(
            f"shards {merged.missing} are missing, {merged.n_missing:,} cases: judge them with "
            f"--shard {merged.missing}, then merge them with {merged.run}"
        )
    if (merged.n_unjudged or merged.n_failed) and not merged.several_data:
        shard = "without --shard" if merged.shard is None else f"with --shard {merged.shard}"
        lines.append(
            f"some requests have no answer yet: resume with the command that judged, --out "
            f"{merged.run} and {shard}"
        )
    return lines
