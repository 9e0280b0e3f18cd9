"""`autoj bench pairs`: a judge's verdicts on any labelled pairs compared with the labels."""

from pathlib import Path
from typing import Annotated

import typer

from autoj.bench.eval_p import choosing
from autoj.bench.eval_p.measure import measure_pairs
from autoj.bench.sources import open_set
from autoj.cli import _console, _data_options, _options, _pair_options
from autoj.cli._progress import watching
from autoj.reports.bench_eval_p import pairs_view
from autoj.runs.budget import Budget


def pairs(
    data: Annotated[
        Path,
        typer.Argument(
            help="Labelled pairs in any format that autoj reads.", rich_help_panel=_options.JUDGED
        ),
    ],
    judge: _pair_options.MeasuredJudge = None,
    run: _pair_options.Run = None,
    predictions: _pair_options.Predictions = None,
    swapped: _pair_options.Swapped = None,
    scores: _pair_options.Scores = None,
    protocol: _options.ProtocolName = None,
    validation: _pair_options.Validation = None,
    validation_scores: _pair_options.ValidationScores = None,
    against: _pair_options.Against = None,
    against_swapped: _pair_options.AgainstSwapped = None,
    against_scores: _pair_options.AgainstScores = None,
    by: _pair_options.PairsBy = "subset",
    out: _options.Out = None,
    save: _pair_options.Save = None,
    name: _pair_options.Name = None,
    on_overflow: _options.Overflow = "error",
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    unknown_scenario: _data_options.UnknownScenario = None,
    scenarios: _data_options.Scenarios = None,
    limit: _pair_options.SampleSize = None,
    seed: _pair_options.Seed = 0,
    as_json: _options.Json = False,
) -> None:
    """Measure a judge on any labelled pairs (LLMBar, HHH, RM-Bench, RewardBench, …), by subset.

    Example: autoj bench pairs llmbar.jsonl --judge embedded
    """
    with watching() as watch:
        cases = open_set(data, watch)
        asked = choosing.asked_judge(
            judge, protocol, "en", on_overflow, unknown_scenario, scenarios
        )
        found = measure_pairs(
            cases,
            choosing.one_source(asked, run, predictions, swapped, scores),
            bench=f"pairs-{data.name.partition('.')[0]}",
            validation=choosing.validation_set(validation, validation_scores),
            against=choosing.other_source(against, against_swapped, against_scores),
            by=by,
            sample=limit,
            seed=seed,
            name=name,
            out=out,
            budget=Budget(max_usd, max_requests),
            watch=watch,
        )
    _console.show_measured(found, save, lambda its: pairs_view(its, by))
