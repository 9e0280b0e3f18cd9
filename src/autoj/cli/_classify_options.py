"""Flags of `autoj classify`."""

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
    _options.asking(
        "--classifier",
        metavar="fast|best|FOLDER",
        help="The embedded classifier: fast, best, or a folder that autoj train classifier "
        "wrote. Default: fast.",
    ),
]
AskedJudge: TypeAlias = Annotated[
    str | None,
    _options.asking(
        "--judge",
        autocompletion=_completion.judges,
        help="Ask a language model instead: a judge's name, the path of a card, or "
        "backend:model. Use --protocol scenario-menu for one that was not trained on the names.",
    ),
]
ScenarioProtocol: TypeAlias = Annotated[
    str | None,
    _options.asking(
        "--protocol",
        autocompletion=_completion.protocols,
        help="With --judge: scenario (the paper's prompt) or scenario-menu (the same after a "
        "list of all scenarios). Default: the judge's own, else scenario.",
    ),
]
RowsOut: TypeAlias = Annotated[
    Path | None,
    _options.output(
        "--out",
        help="The file of rows to write; with --judge, the run's folder. Default: one under runs/.",
    ),
]
Top: TypeAlias = Annotated[
    int,
    _options.output("--top", min=1, help="Write this many of the likeliest scenarios in each row."),
]
Confidence: TypeAlias = Annotated[
    float,
    _options.output(
        min=0.0, max=1.0, help="Count the queries whose scenario is less probable than this."
    ),
]
FirstQueries: TypeAlias = Annotated[
    int | None,
    _options.judged(min=1, help="Classify the first N queries only."),
]
QueryMap: TypeAlias = Annotated[
    list[str] | None,
    _options.judged(
        "--map",
        help="The columns, for files of no known format: query=question, and id=, scenario= if "
        "there are such columns.",
    ),
]
SkipBadQueries: TypeAlias = Annotated[
    bool,
    _options.judged("--skip-bad-rows", help="Leave out and count bad rows instead of stopping."),
]
