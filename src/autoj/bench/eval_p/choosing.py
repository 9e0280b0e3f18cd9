"""The sources of verdicts on pairs that a caller names, each one of several."""

from pathlib import Path

from autoj.bench.eval_p.measure import ValidationSet
from autoj.bench.sources import JudgeSettings, Predictions, Scores, StoredRun, VerdictSource
from autoj.datasets import catalog
from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.runs.fit import OnOverflow
from autoj.runs.scenario_settings import OnUnknownScenario
from autoj.runs.spec_checks import check_one


def default_set(language: str) -> Path:
    """The released set of a language, "en" or "zh".

    Raises:
        DataError: it is not on this machine.
    """
    return catalog.find("eval-p" if language == "en" else f"eval-p-{language}")


def asked_judge(
    name: str | None,
    protocol: str | None = None,
    language: str = "en",
    on_overflow: OnOverflow = "error",
    unknown_scenario: OnUnknownScenario | None = None,
    scenarios: Path | None = None,
) -> JudgeSettings | None:
    """The judge of a name with the settings of its run, as `JudgeSettings` has them.

    Raises:
        UnknownComponent: there is no such judge.
    """
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
    judge: JudgeSettings | None = None,
    run: Path | None = None,
    predictions: Path | None = None,
    swapped: Path | None = None,
    scores: Path | None = None,
) -> VerdictSource:
    """The one source of verdicts that is given.

    Args:
        judge: a judge that is asked.
        run: the folder of a finished run.
        predictions: a file of labels.
        swapped: the labels of the same pairs with the responses exchanged.
        scores: a file of scores.

    Raises:
        ConfigError: none is given, or several.
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
    against: Path | None = None, swapped: Path | None = None, scores: Path | None = None
) -> VerdictSource | None:
    """The judge to compare with; None where none is given.

    Args:
        against: the folder of its run, or its file of predictions.
        swapped: as in `one_source`.
        scores: as in `one_source`.

    Raises:
        ConfigError: several are given, or the swapped labels are of none.
    """
    check_one({"--against": against, "--against-scores": scores}, least=0)
    if swapped is not None and (against is None or against.is_dir()):
        raise ConfigError("--against-swapped needs a file of predictions in --against")
    if against is None:
        return None if scores is None else Scores(scores)
    return StoredRun(against) if against.is_dir() else Predictions(against, swapped)


def validation_set(path: Path | None, scores: Path | None = None) -> ValidationSet | None:
    """The set to choose a tie band on; None where none is given.

    Raises:
        ConfigError: its scores are given alone.
    """
    if path is None and scores is not None:
        raise ConfigError("--validation-scores needs --validation")
    return None if path is None else ValidationSet(path=path, scores=scores)
