"""`autoj testbed freeze`: the test sets as files that are never overwritten."""

from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.construct.testbed.folder import Testbed
from autoj.construct.testbed.freezing import FreezeSettings, Undecided
from autoj.construct.testbed.freezing import freeze as freeze_testbed
from autoj.reports.testbed import frozen_view


def freeze(
    testbed: Annotated[Path, typer.Argument(help="A testbed's folder.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="A new folder for the frozen sets.", rich_help_panel=_options.OUTPUT
        ),
    ],
    title: Annotated[
        str, typer.Option("--title", help="For the datasheet.", rich_help_panel=_options.OUTPUT)
    ] = FreezeSettings().title,
    licence: Annotated[
        str | None,
        typer.Option(
            "--licence",
            help="The licence of the sets, for the datasheet.",
            rich_help_panel=_options.OUTPUT,
        ),
    ] = None,
    least_annotators: Annotated[
        int,
        typer.Option(
            "--least-annotators",
            min=1,
            help="Answers that a pair needs that came without a label.",
            rich_help_panel=_options.COMPUTING,
        ),
    ] = 1,
    undecided: Annotated[
        Undecided,
        typer.Option(
            "--undecided",
            help="Pairs without a majority: refuse to freeze, or make ties of them.",
            rich_help_panel=_options.COMPUTING,
        ),
    ] = "refuse",
    partial: Annotated[
        bool,
        typer.Option(
            "--partial",
            help="Freeze what is labelled, although something is missing; the datasheet says so.",
            rich_help_panel=_options.COMPUTING,
        ),
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Write the three test sets with checksums and a datasheet; nothing is overwritten.

    Example: autoj testbed freeze data/testbed --out data/testbed-1.0 --licence CC-BY-4.0
    """
    _console.set_json(as_json)
    settings = FreezeSettings(
        title=title,
        licence=licence,
        least_annotators=least_annotators,
        undecided=undecided,
        partial=partial,
    )
    found = freeze_testbed(Testbed.open(testbed), out, settings)
    if not found.is_new:
        _console.print_message(f"{out} holds this very testbed already; nothing was written")
    if as_json:
        _console.print_json(found.manifest)
    else:
        _console.print_result(frozen_view(found))
