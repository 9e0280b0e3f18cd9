"""`autoj drift`: a run beside its baseline, with an exit code for CI."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.reports.drift import drift_view
from autoj.tasks.drift import Limits, find_drift


def drift(
    baseline: Annotated[Path, typer.Argument(help="The folder of the run from before.")],
    run: Annotated[Path, typer.Argument(help="The folder of the new run, on the same cases.")],
    most_flipped: Annotated[
        float | None,
        _options.accepted(
            "--max-flipped",
            metavar="PERCENT",
            min=0,
            max=100,
            help="Exit with 1 if more than this percentage of the verdicts flipped.",
        ),
    ] = None,
    most_lost: Annotated[
        float | None,
        _options.accepted(
            "--max-lost",
            metavar="POINTS",
            min=0,
            max=100,
            help="Exit with 1 if the agreement with labels fell by more than these points.",
        ),
    ] = None,
    certain: Annotated[
        bool,
        _options.accepted(
            "--certain",
            help="Exit with 1 only if the whole 95 % interval lies beyond a limit.",
        ),
    ] = False,
    first: Annotated[
        int,
        typer.Option(min=0, help="The number of cases to list.", rich_help_panel=_options.SHOWN),
    ] = 20,
    as_json: _options.Json = False,
) -> None:
    """Compare a run with its baseline: verdicts that flipped, repeatability, a limit for CI.

    Judge the same canary cases again after a model, a price tier or a prompt changed. Where all
    settings are equal, the share of equal verdicts is the judge's repeatability.

    Example: autoj drift runs/canary-may runs/canary-june --max-flipped 5
    """
    limits = Limits(most_flipped=_share(most_flipped), most_lost=_share(most_lost), certain=certain)
    found = find_drift(baseline, run, limits)
    _console.show(found, asdict, lambda its: drift_view(its, first))
    _console.exit_if(found.beyond)


def _share(percent: float | None) -> float | None:
    return None if percent is None else percent / 100
