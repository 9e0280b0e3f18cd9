"""`autoj check`: what of a run is whole, and the repair of what is not."""

from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.reports.check import checked_record, checked_view, mended_lines
from autoj.tasks.check import are_whole, check_folders


def check(
    run: Annotated[Path, typer.Argument(help="A run's folder, or a folder that holds runs.")],
    repair: Annotated[
        bool,
        _options.output(
            "--repair",
            help="Make again what follows from the rest, and move what is damaged into the "
            "folder `damaged`. Nothing is deleted.",
        ),
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Check the files of a run, by their digests, their checksums and each other.

    Ends with exit code 1 if something is damaged, after a repair if something is left.

    Example: autoj check runs/pairs-embedded-1a2b3c4d
    """
    found = check_folders(run, repair=repair)
    if repair and not are_whole(found):
        done, found = found, check_folders(run)
        for line in mended_lines(done):
            _console.print_message(line)
    _console.show(found, checked_record, checked_view)
    _console.exit_if(not are_whole(found))
