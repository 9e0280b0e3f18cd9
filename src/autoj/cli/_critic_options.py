"""Flags of `autoj bench eval-c`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

Critic: TypeAlias = Annotated[
    str | None, typer.Option(help="The critic: this judge writes the critiques (autoj judges).")
]
Critiques: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help='The critic\'s critiques: {"output": "…"} a line in the set\'s order, or the set with '
        '"critiques".'
    ),
]
CriticName: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Which critic of the file is meant, or what to call the critic."),
]
Against: TypeAlias = Annotated[
    str | None, typer.Option(help="The other critic: this judge writes the critiques.")
]
AgainstCritiques: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="The other critic's critiques. Default: ChatGPT's, the release's reference (autoj "
        "data get eval-c-reference)."
    ),
]
AgainstName: TypeAlias = Annotated[
    str | None, typer.Option(help="As --critic-name, for the other critic.")
]
Judge: TypeAlias = Annotated[
    str | None, typer.Option(help="Who compares the critiques; must be named (autoj judges).")
]
Run: TypeAlias = Annotated[
    Path | None, typer.Option("--run", help="The folder of a finished comparison.")
]
Votes: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help='Votes as the release has them: {"output": "A: …", "meta": {"exchange": true}} a '
        "line, in the set's order."
    ),
]
WriteVotes: TypeAlias = Annotated[
    Path | None, typer.Option(help="Keep the votes of a comparison in the release's format, too.")
]
Data: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="The set of responses. Default: Eval-C (autoj data get eval-c)."),
]
Language: TypeAlias = Annotated[
    Literal["en", "zh"], typer.Option(help="The English set, or its Chinese translation.")
]
KeepRatings: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--keep-ratings",
        help="Leave the ratings in the critiques, as the released leaderboard does; the paper "
        "takes them off.",
    ),
]
Orders: TypeAlias = Annotated[
    Literal["shuffled", "both"],
    typer.Option(help="Ask in one order drawn by --seed, as the paper did, or in both."),
]
Seed: TypeAlias = Annotated[int, typer.Option(help="What the shuffled orders follow from.")]
OnConflict: TypeAlias = Annotated[
    Literal["tie", "unresolved"],
    typer.Option(
        help="With --orders both, where the orders disagree: neither critique is better, or the "
        "case is unscored."
    ),
]
Protocol: TypeAlias = Annotated[
    str | None, typer.Option(help="How to compare. Default: critique-comparison (Table 15).")
]
CriticProtocol: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="How to ask for critiques. Default: single (Table 17), or what a judge was trained on."
    ),
]
By: TypeAlias = Annotated[
    Literal["group", "scenario"],
    typer.Option(help="The parts that are listed; --json holds both."),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="The comparison's folder. Default: one under runs/, where critiques that judges write "
        "always lie, so that other comparisons find them.",
    ),
]
Save: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Where the result is kept as JSON. Default: in the comparison's folder."),
]
