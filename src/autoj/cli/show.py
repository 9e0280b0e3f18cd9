"""`autoj show`: a run, or one of its cases with its judgments."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from autoj.cli import _console, _options
from autoj.reports.show import shown
from autoj.verdicts.only import Only


def show(
    run: Annotated[
        Path, typer.Argument(help="A run's folder; with --convention also a file of verdicts.")
    ],
    case: Annotated[str | None, typer.Argument(help="A case's id; without one, the run.")] = None,
    by: _options.By = None,
    first: Annotated[
        int,
        _options.shown(min=0, help="The number of verdicts to list."),
    ] = 20,
    full: Annotated[
        bool,
        _options.shown("--full", help="Show all lines of the query and of each response."),
    ] = False,
    only: Annotated[
        Only | None,
        _options.shown(
            help="Show cases of one kind: wrong (the winner is not the label), disagree (the "
            "orders, or the judges of a jury, name different winners), failed, unreadable, unsure "
            "(below the threshold of the judge's card or, without one, the two likeliest outcomes "
            "are less than 0.1 apart or, with --samples, less than two thirds of an order's "
            "samples agree), close (the two highest ratings differ by 0.5 or "
            "less)."
        ),
    ] = None,
    convention: Annotated[
        Literal["auto-j", "mt-bench", "pandalm", "alpaca-eval", "arena-hard", "all"] | None,
        _options.shown(
            metavar="TOOL",
            help="Show the win rate as this tool would report it: auto-j, mt-bench, pandalm, "
            "alpaca-eval, arena-hard, or all.",
        ),
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """Show a run, or one of its cases with its judgments, even while it is running.

    Example: autoj show runs/pairs-embedded-1a2b3c4d line-7
    """
    found = shown(run, case, by=by, first=first, full=full, only=only, convention=convention)
    _console.show_either(found)
