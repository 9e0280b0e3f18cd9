"""Flags that several commands share, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

JUDGED = "What to judge"
MEASURED = "What to measure"
TRAINED_ON = "What to train on"
SHOWN = "What to show"
ASKING = "How to ask"
COMPUTING = "How to compute"
SPENDING = "What to spend"
OUTPUT = "Output"
TITLES = (JUDGED, MEASURED, TRAINED_ON, SHOWN, ASKING, COMPUTING, SPENDING, OUTPUT)
"""Titles of the sections of `--help`, in the order in which they are shown."""

Data: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        help="A file of cases (JSONL, JSON, CSV, TSV, Parquet; .gz too), or hf-dataset:NAME; its "
        "format is recognised.",
        rich_help_panel=JUDGED,
    ),
]
JudgeName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--judge",
        help="A judge's name (autoj judges), the path of a card, or backend:model.",
        rich_help_panel=ASKING,
    ),
]
ProtocolName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--protocol", help="How to ask. Default: the judge's own.", rich_help_panel=ASKING
    ),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="The run's folder. Default: one under runs/, the same for the same settings.",
        rich_help_panel=OUTPUT,
    ),
]
WantsCritique: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--critique/--no-critique",
        help="After a verdict-only protocol, write a critique for the verdict. Default: the "
        "judge's own with its default protocol, else no.",
        rich_help_panel=ASKING,
    ),
]
Overflow: TypeAlias = Annotated[
    Literal["error", "truncate"],
    typer.Option(
        "--on-overflow",
        help="A case too long for the judge's context: fails, or its longest response is cut.",
        rich_help_panel=ASKING,
    ),
]
MaxTokens: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1, help="The most tokens the judge may write an answer in.", rich_help_panel=ASKING
    ),
]
MaxUsd: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--max-usd",
        help="The most US dollars that the run may cost, by the card's prices; it stops before.",
        rich_help_panel=SPENDING,
    ),
]
MaxRequests: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--max-requests",
        help="The most requests of the run; it stops there.",
        rich_help_panel=SPENDING,
    ),
]
Limit: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="Judge the first N cases only.", rich_help_panel=JUDGED)
]
Shard: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Judge one part of the cases: 3/8 is the third of eight. autoj merge joins the parts.",
        rich_help_panel=JUDGED,
    ),
]
Samples: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Ask each question so many times; what most of them say counts, and the spread is "
        "shown. Needs a --temperature above 0 and a protocol that writes.",
        rich_help_panel=ASKING,
    ),
]
Temperature: TypeAlias = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="How freely answers are drawn; 0 is greedy. Default: the judge's.",
        rich_help_panel=ASKING,
    ),
]
By: TypeAlias = Annotated[
    Literal["scenario", "group"] | None,
    typer.Option(help="Break the figures down.", rich_help_panel=OUTPUT),
]
Classify: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--classify",
        help="Name the scenarios of rows that name none, by the embedded classifier: what --by and "
        "the criteria protocols need.",
        rich_help_panel=JUDGED,
    ),
]
Classifier: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        metavar="fast|best|FOLDER",
        help="Which classifier names them: fast, best, or a folder that autoj train classifier "
        "wrote. Implies --classify. Default: fast.",
        rich_help_panel=JUDGED,
    ),
]
UnknownScenario: TypeAlias = Annotated[
    Literal["error", "others", "keep"] | None,
    typer.Option(
        "--unknown-scenario",
        help="A row's scenario that is none of the known: an error, taken for others, or kept for "
        "--by. Default: an error (of autoj classify: kept).",
        rich_help_panel=JUDGED,
    ),
]
Scenarios: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--scenarios",
        help="A folder of YAML with scenarios of your own, or changes to ours, whose names and "
        "criteria are used (autoj scenarios check DIR).",
        rich_help_panel=JUDGED,
    ),
]
Format: TypeAlias = Annotated[
    str | None,
    typer.Option(help="The file's format, where its fields fit several.", rich_help_panel=JUDGED),
]
SkipBadRows: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--skip-bad-rows",
        help="Go on without bad rows; bad_rows.jsonl lists them.",
        rich_help_panel=JUDGED,
    ),
]
RejectEmpty: TypeAlias = Annotated[
    bool,
    typer.Option("--reject-empty", help="An empty response is a bad row.", rich_help_panel=JUDGED),
]
Json: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json", help="Machine output on stdout; messages go to stderr.", rich_help_panel=OUTPUT
    ),
]
