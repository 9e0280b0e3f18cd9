"""`autoj bench eval-p`: a judge's verdicts on pairs compared with human labels."""

from pathlib import Path
from typing import Annotated

from autoj.bench.eval_p import choosing
from autoj.bench.eval_p.evaluate import read_unseen
from autoj.bench.eval_p.measure import measure_pairs
from autoj.bench.sources import open_set
from autoj.cli import _console, _data_options, _options, _pair_options
from autoj.cli._progress import watching
from autoj.reports.bench_eval_p import pairs_view
from autoj.runs.budget import Budget


def eval_p(
    judge: _pair_options.MeasuredJudge = None,
    run: _pair_options.Run = None,
    predictions: _pair_options.Predictions = None,
    swapped: _pair_options.Swapped = None,
    scores: _pair_options.Scores = None,
    data: _pair_options.EvalPData = None,
    language: _pair_options.Language = "en",
    protocol: _options.ProtocolName = None,
    validation: _pair_options.Validation = None,
    validation_scores: _pair_options.ValidationScores = None,
    unseen: Annotated[
        Path | None,
        _options.judged(
            help="A file of the scenarios (or groups) that the judge was not trained on, one per "
            "line, to add columns for seen, unseen and complete."
        ),
    ] = None,
    against: _pair_options.Against = None,
    against_swapped: _pair_options.AgainstSwapped = None,
    against_scores: _pair_options.AgainstScores = None,
    by: _pair_options.PairsBy = "group",
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
    """Measure a judge on Eval-P: accuracy, agreement, consistency, averaged accuracy, intervals.

    Every figure can be computed again from a stored run or from published predictions, without a
    model. After an interruption, repeat the command to resume.

    Example: autoj bench eval-p --predictions labels.jsonl --swapped labels_exchanged.jsonl
    """
    with watching() as watch:
        cases = open_set(data or choosing.default_set(language), watch)
        asked = choosing.asked_judge(
            judge, protocol, language, on_overflow, unknown_scenario, scenarios
        )
        found = measure_pairs(
            cases,
            choosing.one_source(asked, run, predictions, swapped, scores),
            bench="eval-p",
            validation=choosing.validation_set(validation, validation_scores),
            unseen=None if unseen is None else read_unseen(unseen),
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
