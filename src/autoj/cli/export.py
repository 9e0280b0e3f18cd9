"""`autoj export`: a run's verdicts in the files of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from autoj.cli import _console, _options
from autoj.errors import ConfigError
from autoj.reports.exports import export_run
from autoj.runs import RunFolder
from autoj.runs.kind import is_jury
from autoj.tasks.classify import SCENARIOS


def export(
    run: Annotated[Path, typer.Argument(help="A run's folder, finished or not.")],
    format: Annotated[
        Literal["csv", "parquet", "jsonl", "alpaca_eval", "mt_bench", "reward_bench"],
        typer.Option(
            metavar="FORMAT",
            help="csv and parquet: a row per pair or rated response; jsonl: a case with its whole "
            "verdict; alpaca_eval: annotations.json; mt_bench: a model_judgment file; "
            "reward_bench: per-prompt results.",
            rich_help_panel=_options.OUTPUT,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The file to write.", rich_help_panel=_options.OUTPUT)],
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Replace an existing file.", rich_help_panel=_options.OUTPUT
        ),
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Write a run's verdicts in the format of another tool.

    Failed and unreadable judgments are never scores: they are empty, null or left out, and counted.

    Example: autoj export runs/pairs-embedded-1a2b3c4d --format alpaca_eval --out annotations.json
    """
    _console.set_json(as_json)
    if out.exists() and (out.is_dir() or not overwrite):
        what = "is a folder" if out.is_dir() else "exists; add --overwrite to replace it"
        raise ConfigError(f"{out} {what}")
    if is_jury(run):
        raise ConfigError(
            f"{run} is a jury's folder; export the run of one of its judges",
            hint=f"Each has a folder under {run / 'judges'}.",
        )
    folder = RunFolder.existing(run)
    if folder.spec().task == "classify":
        raise ConfigError(
            f"{run} is a run of autoj classify, which has no verdicts",
            hint=f"{run / SCENARIOS} has a row per query.",
        )
    written = export_run(folder, format, out)
    _console.print_message(f"{written.n_rows:,} rows written to {out}")
    for what, count in written.notes.items():
        _console.print_message(f"{count:,} {what}")
    if as_json:
        _console.print_json(
            {
                "run": str(run),
                "format": format,
                "out": str(out),
                "n_judged": written.n_judged,
                "n_rows": written.n_rows,
                "notes": dict(written.notes),
            }
        )
