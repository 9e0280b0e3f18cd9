"""Flags of `autoj bench eval-r`, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from autoj.cli import _completion
from autoj.cli._options import ASKING, JUDGED, MEASURED, OUTPUT

Judges: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--judge",
        autocompletion=_completion.judges,
        help="The judges to measure, NAME or NAME,NAME; existing runs of them are used.",
        rich_help_panel=MEASURED,
    ),
]
Runs: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--run",
        help="The folder of a run that rated the set; may be repeated.",
        rich_help_panel=MEASURED,
    ),
]
Published: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Judges whose ratings are in the data file, NAME or NAME,NAME.",
        rich_help_panel=MEASURED,
    ),
]
Data: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="The set. Default: Eval-R (autoj data get eval-r), else best-of-n.",
        rich_help_panel=JUDGED,
    ),
]
Sizes: TypeAlias = Annotated[
    str,
    typer.Option(
        "--n",
        help="The numbers of candidates to pick from.",
        rich_help_panel=JUDGED,
    ),
]
Grader: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="A judge that grades the picks: its ratings are the reference scores.",
        rich_help_panel=ASKING,
    ),
]
GraderProtocol: TypeAlias = Annotated[
    str,
    typer.Option(help="The grader's protocol (Table 14 of the paper).", rich_help_panel=ASKING),
]
Save: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="The file of one judge's result, as JSON. Default: in its run's folder.",
        rich_help_panel=OUTPUT,
    ),
]
