"""`autoj bench eval-p` and `autoj bench pairs`: verdicts on labelled pairs against people's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.base import Result, save_result
from autoj.bench.eval_p import (
    Comparison,
    TieBand,
    compare,
    evaluate,
    fit_tie_band,
    read_unseen,
    trivial_results,
)
from autoj.cli import _console, _options
from autoj.cli._bench import (
    Judged,
    JudgeSettings,
    labelled_pairs,
    open_set,
    sampled,
    stored,
    verdicts_of_judge,
)
from autoj.datasets import catalog
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.records import Case
from autoj.reports.bench_tables import comparison_table, parts_table, result_view, trivial_table

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
    sample: _Sample = None,
    seed: _Seed = 0,
    as_json: _options.Json = False,
) -> None:
    """Measure a judge on Eval-P: accuracy, agreement, consistency, averaged accuracy, intervals.

    Every figure can be computed again from a stored run or from published predictions, without a
    model. Killed at any moment, the same command goes on where it stopped.

    Example: autoj bench eval-p --predictions labels.jsonl --swapped labels_exchanged.jsonl
    """
    _console.set_json(as_json)
    default = "eval-p" if language == "en" else "eval-p-zh"
    found = open_set(data, catalog.find(default) if data is None else data)
    settings = JudgeSettings(
        name=judge or "", protocol=protocol, language=language, on_overflow=on_overflow
    )
    found, cases = sampled(found, labelled_pairs(found), sample, seed)
    judged = _judged(settings, found, cases, out, run, predictions, swapped, scores)
    judged = replace(
        judged,
        judge=name or judged.judge,
        source=judged.source + (f", {found.derivation}" if found.derivation else ""),
    )
    band = _tie_band(settings, judged, cases, validation, validation_scores, out)
    result = evaluate(
        cases,
        judged.verdicts,
        judge=judged.judge,
        source=judged.source,
        tie_band=band,
        unseen=None if unseen is None else read_unseen(unseen),
    )
    other = _other(cases, against, against_swapped, against_scores)
    differences = [] if other is None else compare(cases, judged.verdicts, other.verdicts, by, band)
    _finish(result, cases, judged, by, save, differences, other, as_json)


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
    sample: _Sample = None,
    seed: _Seed = 0,
    as_json: _options.Json = False,
) -> None:
    """Measure a judge on any labelled pairs (LLMBar, HHH, RM-Bench, RewardBench, …), by subset.

    Example: autoj bench pairs llmbar.jsonl --judge embedded
    """
    _console.set_json(as_json)
    found = open_set(data, data)
    settings = JudgeSettings(
        name=judge or "", protocol=protocol, language="en", on_overflow=on_overflow
    )
    found, cases = sampled(found, labelled_pairs(found), sample, seed)
    judged = _judged(settings, found, cases, out, run, predictions, swapped, scores)
    judged = replace(
        judged,
        judge=name or judged.judge,
        source=judged.source + (f", {found.derivation}" if found.derivation else ""),
    )
    band = _tie_band(settings, judged, cases, validation, validation_scores, out)
    result = evaluate(
        cases,
        judged.verdicts,
        judge=judged.judge,
        source=judged.source,
        tie_band=band,
        bench=f"pairs-{data.name.partition('.')[0]}",
    )
    other = _other(cases, against, against_swapped, against_scores)
    differences = [] if other is None else compare(cases, judged.verdicts, other.verdicts, by, band)
    _finish(result, cases, judged, by, save, differences, other, as_json)


def _judged(
    settings: JudgeSettings,
    data: Cases,
    cases: Sequence[Case],
    out: Path | None,
    run: Path | None,
    predictions: Path | None,
    swapped: Path | None,
    scores: Path | None,
) -> Judged:
    sources = [settings.name or None, run, predictions, scores]
    if sum(source is not None for source in sources) != 1:
        raise ConfigError("give one of --judge, --run, --predictions and --scores")
    if swapped is not None and predictions is None:
        raise ConfigError("--swapped goes with --predictions")
    if data.derivation is not None and (predictions or scores):
        raise ConfigError("--sample goes with --judge and --run; predictions are of the whole set")
    if settings.name:
        return verdicts_of_judge(settings, data, cases, out)
    return stored(cases, run=run, predictions=predictions, swapped=swapped, scores=scores)


def _tie_band(
    settings: JudgeSettings,
    judged: Judged,
    tested: Sequence[Case],
    validation: Path | None,
    validation_scores: Path | None,
    out: Path | None,
) -> TieBand | None:
    """The tie band chosen on a validation set; None where there is no such set."""
    if validation is None:
        if validation_scores is not None:
            raise ConfigError("--validation-scores goes with --validation")
        return None
    if not any(verdict.ratings for verdict in judged.verdicts):
        raise ConfigError(
            "--validation chooses a tie band of ratings; this judge compares pairs itself"
        )
    data = open_set(validation, validation)
    cases = labelled_pairs(data)
    if validation_scores is not None:
        its = stored(cases, scores=validation_scores)
    elif settings.name:
        folder = None if out is None else out / "validation"
        its = verdicts_of_judge(settings, data, cases, folder)
    else:
        raise ConfigError("--validation needs --judge, or --validation-scores beside --scores")
    shared = len({case.cluster for case in cases} & {case.cluster for case in tested})
    overlap = f" (in-sample: {shared:,} of its queries are in the set)" if shared else ""
    return fit_tie_band(cases, its.verdicts, f"{validation}{overlap}")


def _finish(
    result: Result,
    cases: Sequence[Case],
    judged: Judged,
    by: str,
    save: Path | None,
    comparisons: Sequence[Comparison],
    other: Judged | None,
    as_json: bool,
) -> None:
    """Keep the result, show it beside the trivial judges; exit with 1 where something failed."""
    in_sample = _in_sample(cases, judged, result)
    place = save or (judged.folder and judged.folder / f"{result.bench}.json")
    if place is not None:
        save_result(place, result)
    if as_json:
        _console.print_json(
            asdict(result)
            | {"trivial": [asdict(found) for found in trivial_results(cases, result.bench)]}
            | ({"in_sample": asdict(in_sample)} if in_sample else {})
            | ({"differences": [asdict(found) for found in comparisons]} if other else {})
        )
    else:
        parts: list[RenderableType] = [result_view(result), Text()]
        if in_sample is not None:
            parts += [parts_table("tie band chosen in-sample", {"all": in_sample.estimates})]
            parts += [Text(f"{in_sample.notes[0]} It flatters.", style="dim"), Text()]
        for breakdown in dict.fromkeys([by, "seen and unseen"]):
            if breakdown in result.parts:
                parts += [parts_table(breakdown, result.parts[breakdown]), Text()]
        parts.append(trivial_table(trivial_results(cases, result.bench)))
        if other is not None:
            parts += [Text(), comparison_table(comparisons, f"{other.judge} ({other.source})")]
        _console.print_result(Group(*parts))
    if result.details["n_failed"]:
        raise typer.Exit(1)


def _in_sample(cases: Sequence[Case], judged: Judged, result: Result) -> Result | None:
    """The release's way: the tie band that suits this very set best; None for pairwise judges."""
    if not any(verdict.ratings for verdict in judged.verdicts):
        return None
    return evaluate(
        cases,
        judged.verdicts,
        judge=judged.judge,
        source=judged.source,
        tie_band=fit_tie_band(cases, judged.verdicts, "this very set (in-sample)"),
        bench=result.bench,
    )


def _other(
    cases: Sequence[Case], against: Path | None, swapped: Path | None, scores: Path | None
) -> Judged | None:
    """The judge that is compared with; None where none is named."""
    if against is not None and scores is not None:
        raise ConfigError("give one of --against and --against-scores")
    if swapped is not None and (against is None or against.is_dir()):
        raise ConfigError("--against-swapped goes with a file of predictions in --against")
    if against is None:
        return None if scores is None else stored(cases, scores=scores)
    if against.is_dir():
        return stored(cases, run=against)
    return stored(cases, predictions=against, swapped=swapped)
