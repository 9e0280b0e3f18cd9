"""`autoj testbed show`: a testbed at work, or a frozen one with its checksums checked."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.construct.testbed.folder import Testbed
from autoj.construct.testbed.freezing import is_frozen, open_frozen
from autoj.construct.testbed.labels import read_labelling
from autoj.reports.testbed import frozen_view, labelling_view, scenario_rows


def show(
    testbed: Annotated[Path, typer.Argument(help="A testbed's folder, or a frozen one.")],
    limit: Annotated[
        int,
        typer.Option(min=0, help="Disputed pairs to list.", rich_help_panel=_options.SHOWN),
    ] = 20,
    as_json: _options.Json = False,
) -> None:
    """Show a testbed: pairs by scenario, annotators, their agreement and disputes.

    Of a frozen one, each file is checked by its checksum.

    Example: autoj testbed show data/testbed
    """
    _console.set_json(as_json)
    if is_frozen(testbed):
        frozen = open_frozen(testbed)
        if as_json:
            _console.print_json(frozen.manifest)
        else:
            _console.print_result(frozen_view(frozen))
        return
    opened = Testbed.open(testbed)
    labelling = read_labelling(opened)
    if as_json:
        found = asdict(labelling) | {"scenarios": scenario_rows(opened, labelling)}
        _console.print_json({"testbed": str(testbed), **found})
    else:
        _console.print_result(labelling_view(opened, labelling, limit))
