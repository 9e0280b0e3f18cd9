"""Flags that several commands share, each defined once."""

from functools import partial
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
LIMITS = "What to accept"
OUTPUT = "Output"
TITLES = (
    JUDGED, MEASURED, TRAINED_ON, COLLECTED, SHOWN, REMOVED,
    ASKING, COMPUTING, SPENDING, LIMITS, OUTPUT,
)  # fmt: skip
"""Titles of the sections of `--help`, in the order in which they are shown."""

# An option under each title.
judged = partial(typer.Option, rich_help_panel=JUDGED)
measured = partial(typer.Option, rich_help_panel=MEASURED)
trained_on = partial(typer.Option, rich_help_panel=TRAINED_ON)
shown = partial(typer.Option, rich_help_panel=SHOWN)
removed = partial(typer.Option, rich_help_panel=REMOVED)
asking = partial(typer.Option, rich_help_panel=ASKING)
computing = partial(typer.Option, rich_help_panel=COMPUTING)
spending = partial(typer.Option, rich_help_panel=SPENDING)
accepted = partial(typer.Option, rich_help_panel=LIMITS)
output = partial(typer.Option, rich_help_panel=OUTPUT)

JudgeName: TypeAlias = Annotated[
    str,
    asking(
        "--judge",
        autocompletion=_completion.judges,
        help="A judge's name (autoj judges), the path of a card, or backend:model.",
    ),
]
ProtocolName: TypeAlias = Annotated[
    str | None,
    asking(
        "--protocol",
        "--prompt",
        autocompletion=_completion.protocols,
        help="The prompt and how its answer is read: a protocol's name (autoj prompts), or a file "
        "of your own (….md). Default: the judge's own.",
    ),
]
Out: TypeAlias = Annotated[
    Path | None,
    output(
        "--out",
        help="The run's folder. Default: one under runs/, named after the data and the settings.",
    ),
]
OutOrAddress: TypeAlias = Annotated[
    str | None,
    output(
        "--out",
        help="The run's folder, or its address in an object store, as s3://bucket/runs/part-1. "
        "Default: a folder under runs/, named after the data and the settings.",
    ),
]
WantsCritique: TypeAlias = Annotated[
    bool | None,
    asking(
        "--critique/--no-critique",
        help="Ask for a critique after the verdict, if the protocol has none. Default: as the "
        "judge's card says for its default protocol, else no.",
    ),
]
Critic: TypeAlias = Annotated[
    str | None,
    asking(autocompletion=_completion.judges, help="A judge that writes the verdicts' critiques."),
]
Overflow: TypeAlias = Annotated[
    Literal["error", "truncate"],
    asking(
        "--on-overflow",
        help="If a case is too long for the judge's context: let it fail, or cut its longest "
        "response.",
    ),
]
MaxTokens: TypeAlias = Annotated[
    int | None,
    asking(min=1, help="The most tokens of an answer."),
]
MaxUsd: TypeAlias = Annotated[
    float | None,
    spending(
        "--max-usd",
        help="Stop before the run costs more US dollars than this, by the prices in the card.",
    ),
]
MaxRequests: TypeAlias = Annotated[
    int | None,
    spending("--max-requests", help="Stop after this many requests."),
]
Cache: TypeAlias = Annotated[
    bool | None,
    spending(
        "--cache/--no-cache",
        help="Reuse answers of earlier runs, and keep new ones for later runs (autoj cache). "
        "Default: for judges that cost.",
    ),
]
Plan: TypeAlias = Annotated[
    bool,
    spending(
        "--plan",
        help="Judge nothing; show the requests, tokens, dollars and minutes that are left.",
    ),
]
Samples: TypeAlias = Annotated[
    int | None,
    asking(
        min=1,
        help="Sample each answer N times and take the majority; the spread is shown. Needs a "
        "--temperature above 0 and a protocol that generates text.",
    ),
]
Temperature: TypeAlias = Annotated[
    float | None,
    asking(min=0.0, help="The sampling temperature; 0 is greedy. Default: the judge's."),
]
By: TypeAlias = Annotated[
    Literal["scenario", "group"] | None,
    output(help="Show the figures by scenario or by group, too."),
]
Json: TypeAlias = Annotated[
    bool,
    output(
        "--json", callback=_console.set_json, help="Print JSON on stdout; messages go to stderr."
    ),
]
"""The console knows of it as soon as it is read, so no command needs to pass it on."""
