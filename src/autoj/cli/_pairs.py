"""The end of `autoj bench eval-p` and `autoj bench pairs`: sources, tables, exit code."""

from __future__ import annotations

from pathlib import Path

import typer

from autoj.bench.eval_p.measure import PairMeasurement, Validation
from autoj.bench.sources import JudgeSettings, Predictions, Scores, StoredRun, VerdictSource
from autoj.cli import _console
from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.metrics.result import save_result
from autoj.reports.bench_eval_p import pairs_view
from autoj.runs.fit import OnOverflow
from autoj.runs.scenario_settings import OnUnknownScenario


def asked_judge(
    name: str | None,
    protocol: str | None,
    language: str,
    on_overflow: OnOverflow,
    unknown_scenario: OnUnknownScenario | None,
    scenarios: Path | None,
) -> JudgeSettings | None:
    """The judge that `--judge` names; None without one."""
    if name is None:
        return None
    return JudgeSettings(
        card=load_card(name),
        protocol=protocol,
        language=language,
        on_overflow=on_overflow,
        unknown_scenario=unknown_scenario,
        scenarios=scenarios,
    )


def one_source(
    judge: JudgeSettings | None,
    run: Path | None,
    predictions: Path | None,
    swapped: Path | None,
    scores: Path | None,
) -> VerdictSource:
    """The one source of verdicts that the flags name.

    Raises:
        ConfigError: they name none, or several.
    """
    named: list[VerdictSource | None] = [
        judge,
        None if run is None else StoredRun(run),
        None if predictions is None else Predictions(predictions, swapped),
        None if scores is None else Scores(scores),
    ]
    sources = [source for source in named if source is not None]
    if len(sources) != 1:
        raise ConfigError("give one of --judge, --run, --predictions and --scores")
    if swapped is not None and predictions is None:
        raise ConfigError("--swapped needs --predictions")
    return sources[0]


def other_source(
    against: Path | None, swapped: Path | None, scores: Path | None
) -> VerdictSource | None:
    """The judge to compare with; None where none is named.

    Raises:
        ConfigError: the flags cannot be used together.
    """
    if against is not None and scores is not None:
        raise ConfigError("give one of --against and --against-scores")
    if swapped is not None and (against is None or against.is_dir()):
        raise ConfigError("--against-swapped needs a file of predictions in --against")
    if against is None:
        return None if scores is None else Scores(scores)
    return StoredRun(against) if against.is_dir() else Predictions(against, swapped)


def validation_set(path: Path | None, scores: Path | None) -> Validation | None:
    """The set to choose a tie band on; None where none is named."""
    if path is None and scores is not None:
        raise ConfigError("--validation-scores needs --validation")
    return None if path is None else Validation(path=path, scores=scores)


def show_pairs(found: PairMeasurement, by: str, save: Path | None, as_json: bool) -> None:
    """Keep the figures and show them; exit with 1 where a judgment failed."""
    place = save or (found.folder and found.folder / f"{found.result.bench}.json")
    if place is not None:
        save_result(place, found.result)
    if as_json:
        _console.print_json(found.as_json())
    else:
        _console.print_result(pairs_view(found, by))
    if found.result.details["n_failed"]:
        raise typer.Exit(1)
