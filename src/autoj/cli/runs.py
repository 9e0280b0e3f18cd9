"""`autoj runs`: the runs of a folder."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.reports.runs import runs_view
from autoj.tasks.runs import list_runs


def runs(
    folder: Annotated[
        Path | None, typer.Argument(help="A folder of runs, or a run. Default: runs/.")
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """List runs: judge, cases, failures, agreement with labels or win rate, and age.

    The figure is the agreement of both orders with the labels where cases have labels (accuracy
    where there is one order, or a jury), else the win rate of the model behind a, or the mean
    rating. Folders that hold no run or a damaged one are listed with the reason.

    Example: autoj runs
    """
    _console.show(list_runs(folder), lambda its: [*map(asdict, its)], runs_view)
