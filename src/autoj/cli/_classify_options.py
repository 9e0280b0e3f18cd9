"""Flags of `autoj classify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Queries: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="Queries: a file of cases in any format that autoj reads, rows with a query "
        "alone, or a .txt with a query on each line."
    ),
]
WhichClassifier: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        metavar="fast|best|FOLDER",
        help="The embedded classifier: fast, best, or a folder that autoj train classifier "
        "wrote. Default: fast.",
    ),
]
AskedJudge: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="Ask a language model instead: a judge's name, the path of a card, or "
        "backend:model. Use --protocol scenario-menu for one that did not learn the names.",
    ),
]
ScenarioProtocol: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        help="With --judge: scenario (the paper's prompt) or scenario-menu (the same after a "
        "list of all scenarios). Default: the judge's own, else scenario.",
    ),
]
RowsOut: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="The file of rows to write; with --judge, the run's folder. Default: one under runs/.",
    ),
]
Top: TypeAlias = Annotated[
    int, typer.Option("--top", min=1, help="How many of the likeliest scenarios a row names.")
]
Confidence: TypeAlias = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="Count queries whose scenario is less probable than this."),
]
FirstQueries: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="Classify the first N queries only.")
]
QueryMap: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="Which column holds what, where no format fits: query=question, and with it "
        "id=, scenario= where there are such columns.",
    ),
]
SkipBadQueries: TypeAlias = Annotated[
    bool,
    typer.Option("--skip-bad-rows", help="Go on without bad rows; they are counted."),
]
