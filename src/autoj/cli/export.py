"""`autoj export`: a run's verdicts in the files of other tools."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from autoj.cli import _console, _options
from autoj.reports.exports import export_record, export_run


def export(
    run: Annotated[Path, typer.Argument(help="A run's folder, finished or not.")],
    format: Annotated[
        Literal["csv", "parquet", "jsonl", "alpaca_eval", "mt_bench", "reward_bench", "inspect"],
        _options.output(
            metavar="FORMAT",
            help="csv and parquet: a row per pair or rated response; jsonl: a case with its whole "
            "verdict; alpaca_eval: annotations.json; mt_bench: a model_judgment file; "
            "reward_bench: per-prompt results; inspect: scores that precomputed_scores reads.",
        ),
    ],
    out: Annotated[Path, _options.output(help="The file to write.")],
    overwrite: Annotated[
        bool,
        _options.output("--overwrite", help="Replace an existing file."),
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Write a run's verdicts in the format of another tool.

    Failed and unreadable judgments are never scores: they are empty, null or left out, and counted.

    Example: autoj export runs/pairs-embedded-1a2b3c4d --format alpaca_eval --out annotations.json
    """
    found = export_run(run, format, out, overwrite=overwrite)
    _console.print_message(f"{found.n_rows:,} rows written to {out}")
    for what, count in found.notes.items():
        _console.print_message(f"{count:,} {what}")
    if as_json:
        _console.print_json(export_record(found, format, out))
