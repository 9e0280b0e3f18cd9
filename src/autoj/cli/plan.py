"""`autoj plan`: what a stored run would have been with fewer questions."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.reports.second_order import second_order_view
from autoj.tasks.second_order import Figure, plan_second_order


def plan(
    run: Annotated[
        Path, typer.Argument(help="The folder of a finished run on pairs, in both orders.")
    ],
    at_most: Annotated[
        float | None,
        _options.computing(
            min=0.0, max=1.0, help="Fit the lowest threshold that moves the figure by at most this."
        ),
    ] = None,
    figure: Annotated[
        Figure,
        _options.computing(
            help="The figure: the share of pairs with another winner, or the accuracy by labels."
        ),
    ] = "winner",
    as_json: _options.Json = False,
) -> None:
    """Show what asking the second order only where the first is unsure would save, and change.

    Nothing is asked: both orders of the run are there, and each threshold is read off.

    Example: autoj plan runs/pairs-embedded-1a2b3c4d --at-most 0.01
    """
    _console.show(plan_second_order(run, at_most=at_most, figure=figure), asdict, second_order_view)
