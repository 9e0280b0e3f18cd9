"""`autoj diff`: two runs on the same cases."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.reports.diff import diff_stored_view
from autoj.tasks.diff_selections import diff_stored


def diff(
    one: Annotated[
        Path,
        typer.Argument(help="The folder of a run or jury, or of a finished selection."),
    ],
    other: Annotated[Path, typer.Argument(help="Another one's, on the same cases.")],
    first: Annotated[
        int,
        _options.shown(min=0, help="The number of cases to list."),
    ] = 20,
    as_json: _options.Json = False,
) -> None:
    """Compare two runs on the same cases: verdicts that differ, agreement, kappa.

    Cases are matched by id, query and responses; those of only one run are counted. Where cases
    have labels, the runs' accuracies are compared case by case. Ratings that are at least 1 apart
    are listed, the furthest first. Of two finished selections, picks that differ are listed and
    counted.

    Example: autoj diff runs/pairs-embedded-1a2b3c4d runs/pairs-gpt-4-5e6f7a8b
    """
    _console.show(diff_stored(one, other), asdict, lambda its: diff_stored_view(its, first))
