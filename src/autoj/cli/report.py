"""`autoj report`: runs as one HTML file that a person opens."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options, _progress
from autoj.reports.html.report import MOST_CASES, write_report, written_view


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of runs or juries on the same cases, finished or not; of runs of select "
            "or of classify on the same queries; or one of construct or audit."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="The HTML file.", rich_help_panel=_options.OUTPUT)
    ] = Path("report.html"),
    most_cases: Annotated[
        int,
        typer.Option(
            "--cases",
            min=0,
            help="The most rows in the page; the others go into a file beside it.",
            rich_help_panel=_options.SHOWN,
        ),
    ] = MOST_CASES,
    figures: Annotated[
        Path | None,
        typer.Option(
            help="A folder for each chart as SVG, PNG and CSV.", rich_help_panel=_options.OUTPUT
        ),
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """Write runs as one HTML file to open, filter and send: figures, cases, differences.

    The file needs no network and no server. With several runs, the first is compared with each of
    the others on the cases that both judged, picked from or named. Constructions and audits have
    pages of their own.

    Example: autoj report runs/pairs-embedded-1a2b3c4d --out report.html
    """
    with _progress.watching() as watch:
        written = write_report(runs, out, most_cases=most_cases, figures=figures, watch=watch)
    _console.show(written, asdict, written_view)
