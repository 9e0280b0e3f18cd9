"""Flags of `autoj bench eval-r`, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from autoj.cli import _completion
from autoj.cli._options import asking, judged, measured, output

Judges: TypeAlias = Annotated[
    str | None,
    measured(
        "--judge",
        autocompletion=_completion.judges,
        help="The judges to measure, NAME or NAME,NAME; existing runs of them are used.",
    ),
]
Runs: TypeAlias = Annotated[
    list[Path] | None,
    measured("--run", help="The folder of a run that rated the set; may be repeated."),
]
Published: TypeAlias = Annotated[
    str | None,
    measured(help="Judges whose ratings are in the data file, NAME or NAME,NAME."),
]
Data: TypeAlias = Annotated[
    Path | None,
    judged(help="The set. Default: Eval-R (autoj data get eval-r), else best-of-n."),
]
Sizes: TypeAlias = Annotated[
    str,
    judged("--n", help="The numbers of candidates to pick from."),
]
Grader: TypeAlias = Annotated[
    str | None,
    asking(help="A judge that grades the picks: its ratings are the reference scores."),
]
GraderProtocol: TypeAlias = Annotated[
    str,
    asking(help="The grader's protocol (Table 14 of the paper)."),
]
Save: TypeAlias = Annotated[
    Path | None,
    output(help="The file of one judge's result, as JSON. Default: in its run's folder."),
]
