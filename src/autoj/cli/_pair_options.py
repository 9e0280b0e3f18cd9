"""Flags of `autoj bench eval-p` and `autoj bench pairs`, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from autoj.cli import _completion, _options

MeasuredJudge: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--judge",
        autocompletion=_completion.judges,
        help="The judge to measure (autoj judges); an existing run of it is used.",
        rich_help_panel=_options.MEASURED,
    ),
]
Run: TypeAlias = Annotated[
    Path | None,
    typer.Option("--run", help="The folder of a finished run.", rich_help_panel=_options.MEASURED),
]
Predictions: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Labels in the release's format: {\"output\": 0} on each line, in the set's order.",
        rich_help_panel=_options.MEASURED,
    ),
]
Swapped: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Labels of the same pairs with the responses swapped: 0 is the one shown first.",
        rich_help_panel=_options.MEASURED,
    ),
]
Scores: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help='Scores of each response: {"scores": [1.2, -0.3]} on each line.',
        rich_help_panel=_options.MEASURED,
    ),
]
Validation: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Labelled pairs to choose the tie band of ratings or scores on; the judge is run on "
        "them, too.",
        rich_help_panel=_options.JUDGED,
    ),
]
ValidationScores: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="With --scores: the scores of the pairs in --validation.",
        rich_help_panel=_options.JUDGED,
    ),
]
Against: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Another judge's run folder or file of predictions, to show paired differences.",
        rich_help_panel=_options.MEASURED,
    ),
]
AgainstSwapped: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="With --against FILE: its labels with the responses swapped.",
        rich_help_panel=_options.MEASURED,
    ),
]
AgainstScores: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Another judge's file of scores, in place of --against.",
        rich_help_panel=_options.MEASURED,
    ),
]
Save: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="The file of the result, as JSON. Default: in the run's folder, where the "
        "leaderboard finds it.",
        rich_help_panel=_options.OUTPUT,
    ),
]
Name: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The judge's name, for predictions and scores from a file.",
        rich_help_panel=_options.OUTPUT,
    ),
]
Language: TypeAlias = Annotated[
    Literal["en", "zh"],
    typer.Option(
        help="The English set, or its Chinese translation.", rich_help_panel=_options.JUDGED
    ),
]
EvalPData: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="The set. Default: Eval-P (autoj data get eval-p).", rich_help_panel=_options.JUDGED
    ),
]
SampleSize: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--limit",
        min=1,
        help="Judge N cases at most: a random sample, stratified by scenario.",
        rich_help_panel=_options.JUDGED,
    ),
]
Seed: TypeAlias = Annotated[
    int,
    typer.Option(help="The seed of the sample of --limit.", rich_help_panel=_options.JUDGED),
]
PairsBy: TypeAlias = Annotated[
    Literal["group", "scenario", "subset", "style"],
    typer.Option(help="The breakdown to show; --json has all.", rich_help_panel=_options.OUTPUT),
]
