"""`autoj merge`: shards of a run, or runs that overlap, as one run."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.reports.merge import merged_table, missing_parts
from autoj.runs import merge_runs
from autoj.runs.stores.fetching import folders_of


def merge(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="The runs' folders, or addresses in an object store: of a run, or of all in a "
            "folder. Where two have an answer, the first run's is kept."
        ),
    ],
    out: Annotated[
        Path,
        _options.output(
            "--out", help="The merged run's folder. A run that it already has is merged, too."
        ),
    ],
    as_json: _options.Json = False,
) -> None:
    """Merge runs of the same settings: shards judged on several machines, or runs that overlap.

    Equal questions must have equal answers. The result is a run like any other; missing shards are
    named. The merged runs are not changed.

    Example: autoj merge runs/pairs-embedded-1a2b3c4d-shard-* --out runs/pairs-embedded-1a2b3c4d
    """
    merged = merge_runs(folders_of(runs), out)
    _console.show(merged, asdict, merged_table)
    for line in missing_parts(merged):
        _console.print_message(line)
