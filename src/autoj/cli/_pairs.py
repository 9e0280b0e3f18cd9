"""Measure a judge on labelled pairs: what `bench eval-p` and `bench pairs` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.eval_p.evaluate import (
    TieBand,
    evaluate,
    fit_tie_band,
    read_unseen,
    trivial_results,
)
from autoj.bench.eval_p.paired import Comparison, compare
from autoj.cli import _console
from autoj.cli._bench import (
    Judged,
    JudgeSettings,
    labelled_pairs,
    open_set,
    sampled,
    stored,
    verdicts_of_judge,
)
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.metrics.result import Result, save_result
from autoj.records import Case
from autoj.reports.bench_eval_p import comparison_table, parts_table, result_view, trivial_table

__all__ = ["PairFlags", "measure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFlags:
    """What both commands can be told; each field is documented at its flag."""

    settings: JudgeSettings
    run: Path | None
    predictions: Path | None
    swapped: Path | None
    scores: Path | None
    validation: Path | None
    validation_scores: Path | None
    against: Path | None
    against_swapped: Path | None
    against_scores: Path | None
    by: str
    out: Path | None
    save: Path | None
    name: str | None
    sample: int | None
    seed: int
    as_json: bool


def measure(path: Path, flags: PairFlags, *, bench: str, unseen: Path | None = None) -> None:
    """Judge a set or look its verdicts up, make the figures, keep and show them."""
    _console.set_json(flags.as_json)
    whole = open_set(path)
    data, cases = sampled(whole, labelled_pairs(whole), flags.sample, flags.seed)
    judged = _judged(flags, data, cases)
    band = _tie_band(flags, judged, cases)
    result = evaluate(
        cases,
        judged.verdicts,
        judge=judged.judge,
        source=judged.source,
        tie_band=band,
        calibration=judged.calibration,
        unseen=None if unseen is None else read_unseen(unseen),
        bench=bench,
    )
    other = _other(flags, cases)
    differences = (
        [] if other is None else compare(cases, judged.verdicts, other.verdicts, flags.by, band)
    )
    _finish(flags, result, cases, judged, differences, other)


def _judged(flags: PairFlags, data: Cases, cases: Sequence[Case]) -> Judged:
    sources = [flags.settings.name or None, flags.run, flags.predictions, flags.scores]
    if sum(source is not None for source in sources) != 1:
        raise ConfigError("give one of --judge, --run, --predictions and --scores")
    if flags.swapped is not None and flags.predictions is None:
        raise ConfigError("--swapped goes with --predictions")
    if data.derivation is not None and (flags.predictions or flags.scores):
        raise ConfigError("--sample goes with --judge and --run; predictions are of the whole set")
    if flags.settings.name:
        found = verdicts_of_judge(flags.settings, data, cases, flags.out)
    else:
        found = stored(
            cases,
            run=flags.run,
            predictions=flags.predictions,
            swapped=flags.swapped,
            scores=flags.scores,
        )
    sample = f", {data.derivation}" if data.derivation else ""
    return replace(found, judge=flags.name or found.judge, source=found.source + sample)


def _tie_band(flags: PairFlags, judged: Judged, tested: Sequence[Case]) -> TieBand | None:
    """The tie band chosen on a validation set; None where there is no such set."""
    if flags.validation is None:
        if flags.validation_scores is not None:
            raise ConfigError("--validation-scores goes with --validation")
        return None
    if not any(verdict.ratings for verdict in judged.verdicts):
        raise ConfigError(
            "--validation chooses a tie band of ratings; this judge compares pairs itself"
        )
    if judged.calibration is not None:
        raise ConfigError(
            "--validation chooses a tie band of ratings; this judge's card has a calibration, "
            "which says what a tie is"
        )
    data = open_set(flags.validation)
    cases = labelled_pairs(data)
    if flags.validation_scores is not None:
        its = stored(cases, scores=flags.validation_scores)
    elif flags.settings.name:
        folder = None if flags.out is None else flags.out / "validation"
        its = verdicts_of_judge(flags.settings, data, cases, folder)
    else:
        raise ConfigError("--validation needs --judge, or --validation-scores beside --scores")
    shared = len({case.cluster for case in cases} & {case.cluster for case in tested})
    overlap = f" (in-sample: {shared:,} of its queries are in the set)" if shared else ""
    return fit_tie_band(cases, its.verdicts, f"{flags.validation}{overlap}")


def _other(flags: PairFlags, cases: Sequence[Case]) -> Judged | None:
    """The judge that is compared with; None where none is named."""
    against, swapped, scores = flags.against, flags.against_swapped, flags.against_scores
    if against is not None and scores is not None:
        raise ConfigError("give one of --against and --against-scores")
    if swapped is not None and (against is None or against.is_dir()):
        raise ConfigError("--against-swapped goes with a file of predictions in --against")
    if against is None:
        return None if scores is None else stored(cases, scores=scores)
    if against.is_dir():
        return stored(cases, run=against)
    return stored(cases, predictions=against, swapped=swapped)


def _finish(
    flags: PairFlags,
    result: Result,
    cases: Sequence[Case],
    judged: Judged,
    comparisons: Sequence[Comparison],
    other: Judged | None,
) -> None:
    """Keep the result, show it beside the trivial judges; exit with 1 where something failed."""
    in_sample = _in_sample(cases, judged, result)
    place = flags.save or (judged.folder and judged.folder / f"{result.bench}.json")
    if place is not None:
        save_result(place, result)
    trivial = trivial_results(cases, result.bench)
    if flags.as_json:
        _console.print_json(
            asdict(result)
            | {"trivial": [asdict(found) for found in trivial]}
            | ({"in_sample": asdict(in_sample)} if in_sample else {})
            | ({"differences": [asdict(found) for found in comparisons]} if other else {})
        )
    else:
        parts: list[RenderableType] = [result_view(result), Text()]
        if in_sample is not None:
            parts += [parts_table("tie band chosen in-sample", {"all": in_sample.estimates})]
            parts += [Text(f"{in_sample.notes[0]} It flatters.", style="dim"), Text()]
        for breakdown in dict.fromkeys([flags.by, "seen and unseen"]):
            if breakdown in result.parts:
                parts += [parts_table(breakdown, result.parts[breakdown]), Text()]
        parts.append(trivial_table(trivial))
        if other is not None:
            parts += [Text(), comparison_table(comparisons, f"{other.judge} ({other.source})")]
        _console.print_result(Group(*parts))
    if result.details["n_failed"]:
        raise typer.Exit(1)


def _in_sample(cases: Sequence[Case], judged: Judged, result: Result) -> Result | None:
    """The release's way: the tie band that suits this very set best.

    None for pairwise judges, and where a calibration says what a tie is.
    """
    if judged.calibration is not None or not any(verdict.ratings for verdict in judged.verdicts):
        return None
    return evaluate(
        cases,
        judged.verdicts,
        judge=judged.judge,
        source=judged.source,
        tie_band=fit_tie_band(cases, judged.verdicts, "this very set (in-sample)"),
        bench=result.bench,
    )
