"""`autoj plot`: one figure of stored runs as a file."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options, _progress
from autoj.reports.html.plot import FIGURES, plotted_view, write_figure


def plot(
    figure: Annotated[str, typer.Argument(help=f"One of: {', '.join(FIGURES)}.")],
    runs: Annotated[
        list[Path], typer.Argument(help="Folders or files of runs, as the figure needs.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="A file that ends in .svg, .png or .csv.", rich_help_panel=_options.OUTPUT
        ),
    ],
    as_json: _options.Json = False,
) -> None:
    """Write one figure of a run, or of several, as an SVG, PNG or CSV file.

    Example: autoj plot scenario runs/small --out scenario.svg
    """
    with _progress.watching() as watch:
        plotted = write_figure(figure, runs, out, watch=watch)
    _console.show(plotted, asdict, plotted_view)
