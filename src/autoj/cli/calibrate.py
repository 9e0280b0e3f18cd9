"""`autoj calibrate`: from a judged set of labelled pairs to probabilities and ties."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from autoj.cli import _console, _options
from autoj.errors import ConfigError
from autoj.reports.calibrate import calibration_view
from autoj.tasks.calibrate import NATURAL_TIE_SHARE
from autoj.tasks.calibrate import calibrate as fit_to_run


def calibrate(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run on labelled pairs.")],
    tie_share: Annotated[
        str,
        typer.Option(
            help="Ties are weighted to this share of the pairs. The default is about what people "
            "vote where they may; many files hold fewer ties. `file` takes the file's own share.",
            rich_help_panel=_options.COMPUTING,
        ),
    ] = f"{NATURAL_TIE_SHARE:.2f}",
    write: Annotated[
        Path | None,
        typer.Option(
            help="A card (….yaml) or a judge's folder: the calibration is put into it.",
            rich_help_panel=_options.OUTPUT,
        ),
    ] = None,
    surface: Annotated[
        Path | None,
        typer.Option(
            metavar="LABELLED_PAIRS",
            help="Let length, layout and marks count beside the judge: their weights are learnt "
            "from these labelled pairs (no judge reads them), and how much they count is fitted "
            "on the run. Its queries are left out of the pairs.",
            rich_help_panel=_options.COMPUTING,
        ),
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """Fit a judge's temperature and tie band to people's labels, and put them into its card.

    Take a run on a validation file, never one on a test set: `autoj judge VALIDATION --judge NAME
    --no-critique`. The run's judge may have a calibration already; it is not used.

    Example: autoj calibrate runs/validation --write judges/mine.yaml
    """
    _console.set_json(as_json)
    share = None if tie_share == "file" else _share(tie_share)
    with _console.watching() as watch:
        found = fit_to_run(run, tie_share=share, surface=surface, write=write, watch=watch)
    if as_json:
        _console.print_json(found.as_json())
        return
    parts: list[RenderableType] = [calibration_view(found.fit, found.spec)]
    if found.card is None:
        parts += [Text(), Text("--write CARD puts this into the judge's card.", style="dim")]
    _console.print_result(Group(*parts))
    if found.card is not None:
        written = f"the calibration of {found.spec.protocol} is written to {found.card}"
        _console.print_message(written)


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(
            f"--tie-share is {text!r}; expected a number between 0 and 1, or file"
        ) from None
