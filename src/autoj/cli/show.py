"""`autoj show`: a run, or one of its cases with its judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from autoj.cli import _options
from autoj.cli._showing import (
    show_case,
    show_classified,
    show_judged,
    show_jury,
    show_only,
    show_selection,
    show_win_rates,
)
from autoj.errors import ConfigError
from autoj.runs.kind import kind_of
from autoj.verdicts.only import Only

_N_LINES = 12


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
    if sum(asked is not None for asked in (case, only, convention)) > 1:
        raise ConfigError("give one of a case, --only and --convention")
    if convention is not None:
        show_win_rates(run, convention)
        return
    kind = kind_of(run)
    if only is not None:
        show_only(run, only, first)
    elif case is not None:
        show_case(run, case, None if full else _N_LINES)
    elif kind == "jury":
        show_jury(run, by, first)
    elif kind == "classify":
        show_classified(run)
    elif kind == "select":
        show_selection(run, first)
    else:
        show_judged(run, by, first)
