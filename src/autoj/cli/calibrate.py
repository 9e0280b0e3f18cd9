"""`autoj calibrate`: probabilities and ties fitted on a judged set of labelled pairs."""

from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.cli._progress import watching
from autoj.errors import ConfigError
from autoj.reports.calibrate import fitted_view
from autoj.reports.sureness import sureness_view
from autoj.tasks.calibrate import NATURAL_TIE_SHARE, FittedRun
from autoj.tasks.calibrate import calibrate as fit_to_run
from autoj.tasks.sureness import FittedSureness, fit_run_sureness


def calibrate(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run on labelled pairs.")],
    tie_share: Annotated[
        str,
        _options.computing(
            help="Weight ties to this share of the pairs. The default is about what people "
            "vote where they may; many files have fewer. `file` takes the file's own share."
        ),
    ] = f"{NATURAL_TIE_SHARE:.2f}",
    write: Annotated[
        Path | None,
        _options.output(
            help="The card (….yaml) or the judge's folder to write the calibration to."
        ),
    ] = None,
    surface: Annotated[
        Path | None,
        _options.computing(
            metavar="LABELLED_PAIRS",
            help="Use style features (length, layout, markup) beside the judge: their weights are "
            "fitted on these labelled pairs, without a judge, and their overall weight on the "
            "run. The run's queries are left out of the pairs.",
        ),
    ] = None,
    right: Annotated[
        float | None,
        _options.computing(
            help="Fit no calibration, but the confidence below which a verdict is marked unsure, "
            "so that of the others this share (such as 0.85) is right. The calibration that the "
            "judge has is used."
        ),
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """Fit a judge's temperature and tie band to human labels, and write them to its card.

    Use a run on a validation file, never on a test set: `autoj judge VALIDATION --judge NAME
    --no-critique`. A calibration that the judge already has is not used.

    Example: autoj calibrate runs/validation --write judges/mine.yaml
    """
    if right is not None:
        _show_sureness(run, right, surface, write)
        return
    share = None if tie_share == "file" else _share(tie_share)
    with watching() as watch:
        found = fit_to_run(run, tie_share=share, surface=surface, write=write, watch=watch)
    written = f"the calibration of {found.spec.protocol} was written to {found.card}"
    messages = [] if found.card is None else [written]
    _console.show(found, FittedRun.as_json, fitted_view, *messages)


def _show_sureness(run: Path, right: float, surface: Path | None, write: Path | None) -> None:
    if surface is not None:
        raise ConfigError("--surface belongs to a calibration; --right fits none")
    found = fit_run_sureness(run, right=right, write=write)
    written = f"the threshold of {found.spec.protocol} was written to {found.card}"
    messages = [] if found.card is None else [written]
    _console.show(found, FittedSureness.as_json, sureness_view, *messages)


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(
            f"--tie-share is {text!r}; expected a number between 0 and 1, or file"
        ) from None
