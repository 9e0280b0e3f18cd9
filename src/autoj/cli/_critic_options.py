"""Flags of `autoj bench eval-c`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from autoj.cli._options import ASKING, JUDGED, MEASURED, OUTPUT

Critic: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The critic: a judge that writes the critiques (autoj judges).",
        rich_help_panel=MEASURED,
    ),
]
Critiques: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help='The critic\'s critiques: {"output": "…"} on each line in the set\'s order, or the '
        'set with "critiques".',
        rich_help_panel=MEASURED,
    ),
]
CriticName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The critic to take from the file, or a name for the critic.", rich_help_panel=MEASURED
    ),
]
Against: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The other critic: a judge that writes the critiques.", rich_help_panel=MEASURED
    ),
]
AgainstCritiques: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="The other critic's critiques. Default: ChatGPT's, the release's reference (autoj "
        "data get eval-c-reference).",
        rich_help_panel=MEASURED,
    ),
]
AgainstName: TypeAlias = Annotated[
    str | None,
    typer.Option(help="As --critic-name, for the other critic.", rich_help_panel=MEASURED),
]
Judge: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The judge that compares the critiques; required (autoj judges).",
        rich_help_panel=ASKING,
    ),
]
Run: TypeAlias = Annotated[
    Path | None,
    typer.Option("--run", help="The folder of a finished comparison.", rich_help_panel=MEASURED),
]
Votes: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help='Votes in the release\'s format: {"output": "A: …", "meta": {"exchange": true}} on '
        "each line, in the set's order.",
        rich_help_panel=MEASURED,
    ),
]
WriteVotes: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Write the votes of the comparison to this file, in the release's format.",
        rich_help_panel=OUTPUT,
    ),
]
Data: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="The set of responses. Default: Eval-C (autoj data get eval-c).",
        rich_help_panel=JUDGED,
    ),
]
Language: TypeAlias = Annotated[
    Literal["en", "zh"],
    typer.Option(help="The English set, or its Chinese translation.", rich_help_panel=JUDGED),
]
KeepRatings: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--keep-ratings",
        help="Keep the ratings in the critiques, as the released leaderboard does; the paper "
        "removes them.",
        rich_help_panel=ASKING,
    ),
]
Orders: TypeAlias = Annotated[
    Literal["shuffled", "both"],
    typer.Option(
        help="Ask in one order drawn by --seed, as the paper did, or in both.",
        rich_help_panel=ASKING,
    ),
]
Seed: TypeAlias = Annotated[
    int, typer.Option(help="The seed of the shuffled orders.", rich_help_panel=ASKING)
]
OnConflict: TypeAlias = Annotated[
    Literal["tie", "unresolved"],
    typer.Option(
        help="With --orders both, if the orders disagree: neither critique is better, or the "
        "case is unscored.",
        rich_help_panel=ASKING,
    ),
]
Protocol: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The protocol of the comparison. Default: critique-comparison (Table 15).",
        rich_help_panel=ASKING,
    ),
]
CriticProtocol: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The protocol of the critiques. Default: single (Table 17), or the one a judge was "
        "trained on.",
        rich_help_panel=ASKING,
    ),
]
By: TypeAlias = Annotated[
    Literal["group", "scenario"],
    typer.Option(help="The breakdown to show; --json has both.", rich_help_panel=OUTPUT),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="The comparison's folder. Default: one under runs/. Judges' critiques are always kept "
        "under runs/, for other comparisons.",
        rich_help_panel=OUTPUT,
    ),
]
Save: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="The file of the result, as JSON. Default: in the comparison's folder.",
        rich_help_panel=OUTPUT,
    ),
]
