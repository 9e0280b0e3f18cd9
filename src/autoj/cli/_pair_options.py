"""Flags of `autoj bench eval-p` and `autoj bench pairs`, each defined once."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from autoj.cli import _completion, _options

MeasuredJudge: TypeAlias = Annotated[
    str | None,
    _options.measured(
        "--judge",
        autocompletion=_completion.judges,
        help="The judge to measure (autoj judges); an existing run of it is used.",
    ),
]
Run: TypeAlias = Annotated[
    Path | None,
    _options.measured("--run", help="The folder of a finished run."),
]
Predictions: TypeAlias = Annotated[
    Path | None,
    _options.measured(
        help="Labels in the release's format: {\"output\": 0} on each line, in the set's order."
    ),
]
Swapped: TypeAlias = Annotated[
    Path | None,
    _options.measured(
        help="Labels of the same pairs with the responses swapped: 0 is the one shown first."
    ),
]
Scores: TypeAlias = Annotated[
    Path | None,
    _options.measured(help='Scores of each response: {"scores": [1.2, -0.3]} on each line.'),
]
Validation: TypeAlias = Annotated[
    Path | None,
    _options.judged(
        help="Labelled pairs to choose the tie band of ratings or scores on; the judge is run on "
        "them, too."
    ),
]
ValidationScores: TypeAlias = Annotated[
    Path | None,
    _options.judged(help="With --scores: the scores of the pairs in --validation."),
]
Against: TypeAlias = Annotated[
    Path | None,
    _options.measured(
        help="Another judge's run folder or file of predictions, to show paired differences."
    ),
]
AgainstSwapped: TypeAlias = Annotated[
    Path | None,
    _options.measured(help="With --against FILE: its labels with the responses swapped."),
]
AgainstScores: TypeAlias = Annotated[
    Path | None,
    _options.measured(help="Another judge's file of scores, in place of --against."),
]
Save: TypeAlias = Annotated[
    Path | None,
    _options.output(
        help="The file of the result, as JSON. Default: in the run's folder, where the "
        "leaderboard finds it."
    ),
]
Name: TypeAlias = Annotated[
    str | None,
    _options.output(help="The judge's name, for predictions and scores from a file."),
]
Language: TypeAlias = Annotated[
    Literal["en", "zh"],
    _options.judged(help="The English set, or its Chinese translation."),
]
EvalPData: TypeAlias = Annotated[
    Path | None,
    _options.judged(help="The set. Default: Eval-P (autoj data get eval-p)."),
]
SampleSize: TypeAlias = Annotated[
    int | None,
    _options.judged(
        "--limit", min=1, help="Judge N cases at most: a random sample, stratified by scenario."
    ),
]
Seed: TypeAlias = Annotated[
    int,
    _options.judged(help="The seed of the sample of --limit."),
]
PairsBy: TypeAlias = Annotated[
    Literal["group", "scenario", "subset", "style"],
    _options.output(help="The breakdown to show; --json has all."),
]
