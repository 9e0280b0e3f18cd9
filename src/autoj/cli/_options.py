"""Flags that several commands share, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from autoj.cli import _completion, _console

JUDGED = "What to judge"
MEASURED = "What to measure"
TRAINED_ON = "What to train on"
COLLECTED = "What to collect"
SHOWN = "What to show"
REMOVED = "What to remove"
ASKING = "How to ask"
COMPUTING = "How to compute"
SPENDING = "What to spend"
OUTPUT = "Output"
TITLES = (
    JUDGED,
    MEASURED,
    TRAINED_ON,
    COLLECTED,
    SHOWN,
    REMOVED,
    ASKING,
    COMPUTING,
    SPENDING,
    OUTPUT,
)
"""Titles of the sections of `--help`, in the order in which they are shown."""

JudgeName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--judge",
        autocompletion=_completion.judges,
        help="A judge's name (autoj judges), the path of a card, or backend:model.",
        rich_help_panel=ASKING,
    ),
]
ProtocolName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        "--prompt",
        autocompletion=_completion.protocols,
        help="The prompt and how its answer is read: a protocol's name (autoj prompts), or a file "
        "of your own (….md). Default: the judge's own.",
        rich_help_panel=ASKING,
    ),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="The run's folder. Default: one under runs/, named after the data and the settings.",
        rich_help_panel=OUTPUT,
    ),
]
WantsCritique: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--critique/--no-critique",
        help="Ask for a critique after the verdict, if the protocol has none. Default: as the "
        "judge's card says for its default protocol, else no.",
        rich_help_panel=ASKING,
    ),
]
Overflow: TypeAlias = Annotated[
    Literal["error", "truncate"],
    typer.Option(
        "--on-overflow",
        help="If a case is too long for the judge's context: let it fail, or cut its longest "
        "response.",
        rich_help_panel=ASKING,
    ),
]
MaxTokens: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, help="The most tokens of an answer.", rich_help_panel=ASKING),
]
MaxUsd: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--max-usd",
        help="Stop before the run costs more US dollars than this, by the prices in the card.",
        rich_help_panel=SPENDING,
    ),
]
MaxRequests: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--max-requests",
        help="Stop after this many requests.",
        rich_help_panel=SPENDING,
    ),
]
Cache: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--cache/--no-cache",
        help="Reuse answers of earlier runs, and keep new ones for later runs (autoj cache). "
        "Default: for judges that cost.",
        rich_help_panel=SPENDING,
    ),
]
Plan: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Judge nothing; show the requests, tokens, dollars and minutes that are left.",
        rich_help_panel=SPENDING,
    ),
]
Samples: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Sample each answer N times and take the majority; the spread is shown. Needs a "
        "--temperature above 0 and a protocol that generates text.",
        rich_help_panel=ASKING,
    ),
]
Temperature: TypeAlias = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="The sampling temperature; 0 is greedy. Default: the judge's.",
        rich_help_panel=ASKING,
    ),
]
By: TypeAlias = Annotated[
    Literal["scenario", "group"] | None,
    typer.Option(help="Show the figures by scenario or by group, too.", rich_help_panel=OUTPUT),
]
Json: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json",
        callback=_console.set_json,
        help="Print JSON on stdout; messages go to stderr.",
        rich_help_panel=OUTPUT,
    ),
]
"""The console knows of it as soon as it is read, so no command needs to pass it on."""
