"""`autoj plan`: what a stored run would have been with fewer questions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.reports.second_order import second_order_view
from autoj.tasks.second_order import plan_second_order


def plan(
    run: Annotated[
        Path, typer.Argument(help="The folder of a finished run on pairs, in both orders.")
    ],
    as_json: _options.Json = False,
) -> None:
    """Show what asking the second order only where the first is unsure would save, and change.

    Nothing is asked: both orders of the run are there, and each threshold is read off.

    Example: autoj plan runs/pairs-embedded-1a2b3c4d
    """
    _console.show(plan_second_order(run), asdict, second_order_view)
