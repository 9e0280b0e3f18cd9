"""`autoj check`: what of a run is whole, and the repair of what is not."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.reports.check import checked_view
from autoj.tasks.check import check_folders


def check(
    run: Annotated[Path, typer.Argument(help="A run's folder, or a folder that holds runs.")],
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Make again what follows from the rest, and move what is damaged into the "
            "folder `damaged`. Nothing is deleted.",
            rich_help_panel=_options.OUTPUT,
        ),
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Check the files of a run, by their digests, their checksums and each other.

    Ends with exit code 1 if something is damaged, after a repair if something is left.

    Example: autoj check runs/pairs-embedded-1a2b3c4d
    """
    _console.set_json(as_json)
    found = check_folders(run, repair=repair)
    if repair and not all(folder.is_whole for folder in found):
        done, found = found, check_folders(run)
        for folder in done:
            for file in folder.files:
                if file.mended is not None:
                    _console.print_message(f"{folder.path}/{file.name}: {file.mended}")
    if as_json:
        _console.print_json(
            {
                "folders": [{**asdict(folder), "whole": folder.is_whole} for folder in found],
                "whole": all(folder.is_whole for folder in found),
            }
        )
    else:
        _console.print_result(checked_view(found))
    if not all(folder.is_whole for folder in found):
        raise typer.Exit(1)
