"""Flags of `autoj classify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from autoj.cli import _completion, _options

Queries: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="Queries: a file of cases in any format that autoj reads, rows with only a "
        "query, or a .txt with a query on each line.",
        rich_help_panel=_options.JUDGED,
    ),
]
WhichClassifier: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        metavar="fast|best|FOLDER",
        help="The embedded classifier: fast, best, or a folder that autoj train classifier "
        "wrote. Default: fast.",
        rich_help_panel=_options.ASKING,
    ),
]
AskedJudge: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--judge",
        autocompletion=_completion.judges,
        help="Ask a language model instead: a judge's name, the path of a card, or "
        "backend:model. Use --protocol scenario-menu for one that was not trained on the names.",
        rich_help_panel=_options.ASKING,
    ),
]
ScenarioProtocol: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        autocompletion=_completion.protocols,
        help="With --judge: scenario (the paper's prompt) or scenario-menu (the same after a "
        "list of all scenarios). Default: the judge's own, else scenario.",
        rich_help_panel=_options.ASKING,
    ),
]
RowsOut: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="The file of rows to write; with --judge, the run's folder. Default: one under runs/.",
        rich_help_panel=_options.OUTPUT,
    ),
]
Top: TypeAlias = Annotated[
    int,
    typer.Option(
        "--top",
        min=1,
        help="Write this many of the likeliest scenarios in each row.",
        rich_help_panel=_options.OUTPUT,
    ),
]
Confidence: TypeAlias = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Count the queries whose scenario is less probable than this.",
        rich_help_panel=_options.OUTPUT,
    ),
]
FirstQueries: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, help="Classify the first N queries only.", rich_help_panel=_options.JUDGED),
]
QueryMap: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="The columns, for files of no known format: query=question, and id=, scenario= if "
        "there are such columns.",
        rich_help_panel=_options.JUDGED,
    ),
]
SkipBadQueries: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--skip-bad-rows",
        help="Leave out and count bad rows instead of stopping.",
        rich_help_panel=_options.JUDGED,
    ),
]
