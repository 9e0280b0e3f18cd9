"""The end of `autoj bench eval-p` and `autoj bench pairs`: sources, tables, exit code."""

from __future__ import annotations

from pathlib import Path

from autoj.bench.eval_p.measure import PairMeasurement, ValidationSet
from autoj.bench.sources import JudgeSettings, Predictions, Scores, StoredRun, VerdictSource
from autoj.cli import _console
from autoj.cli._checks import check_one
from autoj.errors import ConfigError
from autoj.judges import load_card
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
    check_one({"--judge": judge, "--run": run, "--predictions": predictions, "--scores": scores})
    if swapped is not None and predictions is None:
        raise ConfigError("--swapped needs --predictions")
    if run is not None:
        return StoredRun(run)
    if predictions is not None:
        return Predictions(predictions, swapped)
    source = judge if scores is None else Scores(scores)
    assert source is not None
    return source


def other_source(
    against: Path | None, swapped: Path | None, scores: Path | None
) -> VerdictSource | None:
    """The judge to compare with; None where none is named.

    Raises:
        ConfigError: the flags cannot be used together.
    """
    check_one({"--against": against, "--against-scores": scores}, least=0)
    if swapped is not None and (against is None or against.is_dir()):
        raise ConfigError("--against-swapped needs a file of predictions in --against")
    if against is None:
        return None if scores is None else Scores(scores)
    return StoredRun(against) if against.is_dir() else Predictions(against, swapped)


def validation_set(path: Path | None, scores: Path | None) -> ValidationSet | None:
    """The set to choose a tie band on; None where none is named."""
    if path is None and scores is not None:
        raise ConfigError("--validation-scores needs --validation")
    return None if path is None else ValidationSet(path=path, scores=scores)


def show_pairs(found: PairMeasurement, by: str, save: Path | None) -> None:
    """Keep the figures and show them; exit with 1 where a judgment failed."""
    found.keep(save)
    _console.show(found, PairMeasurement.as_json, lambda its: pairs_view(its, by))
    _console.exit_if(found.result.details["n_failed"])
