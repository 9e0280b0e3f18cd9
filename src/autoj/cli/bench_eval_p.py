"""`autoj bench eval-p` and `autoj bench pairs`: verdicts on labelled pairs against people's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from autoj.cli import _options
from autoj.cli._bench import JudgeSettings
from autoj.cli._pairs import PairFlags, measure
from autoj.datasets import catalog
from autoj.runs.budget import Budget

__all__ = ["eval_p", "pairs"]

_JudgeName = Annotated[
    str | None,
    typer.Option("--judge", help="Run this judge (autoj judges), or look up its run."),
]
_Run = Annotated[Path | None, typer.Option("--run", help="The folder of a finished run.")]
_Predictions = Annotated[
    Path | None,
    typer.Option(help='Labels as the release has them, {"output": 0} a line, in the set\'s order.'),
]
_Swapped = Annotated[
    Path | None,
    typer.Option(help="Labels with the responses exchanged, in the page's frame."),
]
_Scores = Annotated[
    Path | None,
    typer.Option(help='Scores of each response alone: {"scores": [1.2, -0.3]} a line.'),
]
_Validation = Annotated[
    Path | None,
    typer.Option(
        help="Labelled pairs on which the tie band of ratings or scores is chosen; the judge is "
        "run on them, too."
    ),
]
_ValidationScores = Annotated[
    Path | None, typer.Option(help="With --scores: the scores of the pairs of --validation.")
]
_Against = Annotated[
    Path | None,
    typer.Option(
        help="Another judge's run folder or file of predictions: paired differences are shown."
    ),
]
_AgainstSwapped = Annotated[
    Path | None, typer.Option(help="With --against FILE: its labels with the responses exchanged.")
]
_AgainstScores = Annotated[
    Path | None, typer.Option(help="Another judge's file of scores, in place of --against.")
]
_Save = Annotated[
    Path | None,
    typer.Option(
        help="Where the result is kept as JSON. Default: in the run's folder, where the "
        "leaderboard finds it."
    ),
]
_Name = Annotated[
    str | None, typer.Option(help="The judge's name, for predictions and scores from a file.")
]
_Language = Annotated[
    Literal["en", "zh"], typer.Option(help="The English set, or its Chinese translation.")
]
_Data = Annotated[
    Path | None, typer.Option(help="The set. Default: Eval-P (autoj data get eval-p).")
]
_Sample = Annotated[
    int | None,
    typer.Option(min=1, help="Judge a random sample of N cases, each scenario in proportion."),
]
_Seed = Annotated[int, typer.Option(help="Which cases a sample holds.")]
_By = Annotated[
    Literal["group", "scenario", "subset", "style"],
    typer.Option(help="The parts that are listed; --json holds all."),
]


def eval_p(
    judge: _JudgeName = None,
    run: _Run = None,
    predictions: _Predictions = None,
    swapped: _Swapped = None,
    scores: _Scores = None,
    data: _Data = None,
    language: _Language = "en",
    protocol: _options.ProtocolName = None,
    validation: _Validation = None,
    validation_scores: _ValidationScores = None,
    unseen: Annotated[
        Path | None,
        typer.Option(
            help="Scenarios (or groups) that the judge was not trained on, one a line: adds "
            "columns for seen, unseen and complete."
        ),
    ] = None,
    against: _Against = None,
    against_swapped: _AgainstSwapped = None,
    against_scores: _AgainstScores = None,
    by: _By = "group",
    out: _options.Out = None,
    save: _Save = None,
    name: _Name = None,
    on_overflow: _options.Overflow = "error",
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    unknown_scenario: _options.UnknownScenario = None,
    scenarios: _options.Scenarios = None,
    sample: _Sample = None,
    seed: _Seed = 0,
    as_json: _options.Json = False,
) -> None:
    """Measure a judge on Eval-P: accuracy, agreement, consistency, averaged accuracy, intervals.

    Every figure can be computed again from a stored run or from published predictions, without a
    model. Killed at any moment, the same command goes on where it stopped.

    Example: autoj bench eval-p --predictions labels.jsonl --swapped labels_exchanged.jsonl
    """
    default = "eval-p" if language == "en" else "eval-p-zh"
    flags = PairFlags(
        settings=JudgeSettings(
            name=judge or "",
            protocol=protocol,
            language=language,
            on_overflow=on_overflow,
            budget=Budget(max_usd, max_requests),
            unknown_scenario=unknown_scenario,
            scenarios=scenarios,
        ),
        run=run,
        predictions=predictions,
        swapped=swapped,
        scores=scores,
        validation=validation,
        validation_scores=validation_scores,
        against=against,
        against_swapped=against_swapped,
        against_scores=against_scores,
        by=by,
        out=out,
        save=save,
        name=name,
        sample=sample,
        seed=seed,
        as_json=as_json,
    )
    measure(data or catalog.find(default), flags, bench="eval-p", unseen=unseen)


def pairs(
    data: Annotated[Path, typer.Argument(help="Labelled pairs in any format that autoj reads.")],
    judge: _JudgeName = None,
    run: _Run = None,
    predictions: _Predictions = None,
    swapped: _Swapped = None,
    scores: _Scores = None,
    protocol: _options.ProtocolName = None,
    validation: _Validation = None,
    validation_scores: _ValidationScores = None,
    against: _Against = None,
    against_swapped: _AgainstSwapped = None,
    against_scores: _AgainstScores = None,
    by: _By = "subset",
    out: _options.Out = None,
    save: _Save = None,
    name: _Name = None,
    on_overflow: _options.Overflow = "error",
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    unknown_scenario: _options.UnknownScenario = None,
    scenarios: _options.Scenarios = None,
    sample: _Sample = None,
    seed: _Seed = 0,
    as_json: _options.Json = False,
) -> None:
    """Measure a judge on any labelled pairs (LLMBar, HHH, RM-Bench, RewardBench, …), by subset.

    Example: autoj bench pairs llmbar.jsonl --judge embedded
    """
    flags = PairFlags(
        settings=JudgeSettings(
            name=judge or "",
            protocol=protocol,
            language="en",
            on_overflow=on_overflow,
            budget=Budget(max_usd, max_requests),
            unknown_scenario=unknown_scenario,
            scenarios=scenarios,
        ),
        run=run,
        predictions=predictions,
        swapped=swapped,
        scores=scores,
        validation=validation,
        validation_scores=validation_scores,
        against=against,
        against_swapped=against_swapped,
        against_scores=against_scores,
        by=by,
        out=out,
        save=save,
        name=name,
        sample=sample,
        seed=seed,
        as_json=as_json,
    )
    measure(data, flags, bench=f"pairs-{data.name.partition('.')[0]}")
