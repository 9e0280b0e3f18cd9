"""Flags of `autoj collect`."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from autoj.cli._options import COLLECTED, OUTPUT

Sources: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        help="Files of pairs in any format that autoj reads, or hf-dataset:NAME[:CONFIG]:SPLIT "
        "(stanfordnlp/SHP, lmsys/chatbot_arena_conversations and others).",
        rich_help_panel=COLLECTED,
    ),
]
RowsOut: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--out",
        help="The file of rows, NAME.jsonl; NAME.dropped.jsonl and NAME.summary.json stand beside "
        "it.",
        rich_help_panel=OUTPUT,
    ),
]
Languages: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Keep queries in these languages alone, as py3langid identifies them: en,zh.",
        rich_help_panel=COLLECTED,
    ),
]
FixedScenario: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scenario",
        help="The scenario of all rows, for sources of one kind (autoj scenarios).",
        rich_help_panel=COLLECTED,
    ),
]
Name: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The source's name in ids and tables, where there is one source.",
        rich_help_panel=COLLECTED,
    ),
]
FirstRows: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--limit",
        min=1,
        help="Read the first N rows of each source only.",
        rich_help_panel=COLLECTED,
    ),
]
QueriesAlone: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--queries",
        help="Keep queries alone, of any source; ShareGPT has nothing else.",
        rich_help_panel=COLLECTED,
    ),
]
Purpose: TypeAlias = Annotated[
    Literal["training", "testing"],
    typer.Option(
        help="What the rows are for: testing admits MT-Bench, which serves nothing else.",
        rich_help_panel=COLLECTED,
    ),
]
Turns: TypeAlias = Annotated[
    Literal["first", "single"],
    typer.Option(
        help="Of longer conversations keep the first turn, with the vote on all, or none.",
        rich_help_panel=COLLECTED,
    ),
]
Unlabelled: TypeAlias = Annotated[
    Literal["drop", "keep"],
    typer.Option(
        help="Drop pairs without a label, or keep them for a teacher to label.",
        rich_help_panel=COLLECTED,
    ),
]
MaxCharacters: TypeAlias = Annotated[
    int,
    typer.Option(
        min=100,
        help="The most characters of a query or a response.",
        rich_help_panel=COLLECTED,
    ),
]
Seed: TypeAlias = Annotated[
    int,
    typer.Option(
        help="The seed that draws which response stands first.", rich_help_panel=COLLECTED
    ),
]
Format: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The sources' format, if their fields fit several.", rich_help_panel=COLLECTED
    ),
]
Columns: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--map",
        help="Columns of other names: query=COLUMN,a=COLUMN,b=COLUMN,label=COLUMN.",
        rich_help_panel=COLLECTED,
    ),
]
Scenarios: TypeAlias = Annotated[
    str | None,
    typer.Option(help="A folder of scenarios of your own.", rich_help_panel=COLLECTED),
]
