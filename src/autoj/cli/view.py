"""`autoj view`: stored runs on a page of this computer, live while they are written."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.serve.view.reported import open_view
from autoj.serve.view.server import serve_view


def view(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of runs or juries on the same cases, finished or not; or of runs of "
            "select, or of classify."
        ),
    ],
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            help="The port on 127.0.0.1; 0 takes one that is free.",
            rich_help_panel=_options.OUTPUT,
        ),
    ] = 0,
    no_open: Annotated[
        bool,
        typer.Option(
            "--no-open",
            help="Print the address and open no browser.",
            rich_help_panel=_options.OUTPUT,
        ),
    ] = False,
) -> None:
    """Look at runs in a browser, live while they are written, up to a million cases.

    The page is served to this computer alone, until Ctrl-C. With several runs, the list is of the
    first one's cases, each with the verdicts of all. Picks, scenarios, constructions and audits
    have the page of autoj report, made again when it is loaded after they have changed.

    Example: autoj view runs/pairs-embedded-1a2b3c4d
    """

    def started(address: str) -> None:
        _console.print_message(f"{address} (Ctrl-C ends it)")
        if not no_open:
            webbrowser.open(address)

    serve_view(open_view(runs), port, started)
