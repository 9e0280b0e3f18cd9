"""What the commands on pairs share: where cases and verdicts come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.bench.base import align
from autoj.bench.predictions import read_predictions, read_scores
from autoj.cli import _console
from autoj.cli._judging import judge_whole
from autoj.datasets import open_cases
from autoj.datasets.base import Cases, Row
from autoj.datasets.sampling import sample_cases
from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.protocols import load_protocol, protocol_names
from autoj.records import WINNERS, Calibration, Case, JudgeCard, Verdict
from autoj.runs import RunFolder, make_spec, resolve_run
from autoj.runs.budget import Budget
from autoj.runs.fit import OnOverflow
from autoj.runs.scenario_settings import OnUnknownScenario
from autoj.runs.spec import RunSpec

__all__ = [
    "JudgeSettings",
    "Judged",
    "labelled_pairs",
    "open_set",
    "sampled",
    "stored",
    "verdicts_of_judge",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A judge's verdicts on a set's cases, in the set's order."""

    judge: str
    source: str
    verdicts: Sequence[Verdict]
    folder: Path | None = None
    """The run that holds them, where one does."""
    calibration: Calibration | None = None
    """What the run's card made the verdicts with, where it has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """How a judge is asked by a meta-evaluation on pairs."""

    name: str
    protocol: str | None
    language: str
    on_overflow: OnOverflow
    unknown_scenario: OnUnknownScenario | None = None
    scenarios: Path | None = None
    budget: Budget | None = None
    """What the judging may cost, that of a validation set included; None sets no limit."""


def labelled_pairs(data: Cases) -> list[Case]:
    """The cases of a set of labelled pairs.

    Raises:
        DataError: a row cannot be read, is no pair or has no label; or there are none.
    """
    cases: list[Case] = []
    for line, case in data.read():
        if isinstance(case, DataError):
            raise case
        if len(case.responses) != 2 or case.label not in WINNERS:
            raise DataError(
                f"case {case.id!r} has {len(case.responses)} responses and the label "
                f"{case.label!r}; expected a pair with the label a, b or tie",
                path=data.paths[0],
                line=line,
            )
        cases.append(case)
    if not cases:
        raise DataError("is empty: it holds no cases", path=data.paths[0])
    return cases


def sampled(
    data: Cases, cases: Sequence[Case], n: int | None, seed: int
) -> tuple[Cases, Sequence[Case]]:
    """The set, or what a sample leaves of it: from each scenario in proportion."""
    if n is None or n >= len(cases):
        return data, cases
    drawn = sample_cases(cases, n, seed)
    part = replace(
        data,
        read=lambda: (Row(line, case) for line, case in enumerate(drawn, start=1)),
        derivation=f"a sample of {n:,} of {len(cases):,} cases, seed {seed}",
    )
    return part, drawn


def verdicts_of_judge(
    settings: JudgeSettings, data: Cases, cases: Sequence[Case], out: Path | None
) -> Judged:
    """The verdicts of a judge that is run now, or was and is only looked up."""
    spec = _spec(settings, load_card(settings.name))
    return _aligned(judge_whole(spec, data, out, settings.budget).folder, spec, cases)


def _spec(settings: JudgeSettings, card: JudgeCard) -> RunSpec:
    protocol = settings.protocol or _default_protocol(card, settings.language)
    paired = load_protocol(protocol).subject == "pair"
    return make_spec(
        "judge" if paired else "rate",
        card,
        protocol=protocol,
        critique=False,
        on_overflow=settings.on_overflow,
        unknown_scenario=settings.unknown_scenario,
        scenarios=settings.scenarios,
    )


def _default_protocol(card: JudgeCard, language: str) -> str:
    """The card's first protocol for pairs, else for one response, in the language of the set."""
    subjects = {name: load_protocol(name).subject for name in card.protocols}
    for wanted in ("pair", "response"):
        for name, subject in subjects.items():
            if subject == wanted:
                translated = f"{name}-{language}"
                return translated if translated in protocol_names() else name
    raise ConfigError(
        f"judge {card.name!r} names no protocol for pairs; choose one with --protocol"
    )


def stored(
    cases: Sequence[Case],
    *,
    run: Path | None = None,
    predictions: Path | None = None,
    swapped: Path | None = None,
    scores: Path | None = None,
) -> Judged:
    """Verdicts that are there already: a run's, or files of published labels or scores.

    Raises:
        DataError: they are not of these cases, or cannot be read.
    """
    if run is not None:
        folder = RunFolder.existing(run)
        return _aligned(folder, folder.spec(), cases)
    if predictions is not None:
        files = f"predictions {predictions}" + (f" and {swapped}" if swapped else "")
        verdicts = read_predictions(predictions, cases, swapped)
        return Judged(judge=predictions.stem, source=files, verdicts=verdicts)
    assert scores is not None
    verdicts = read_scores(scores, cases)
    return Judged(judge=scores.stem, source=f"scores {scores}", verdicts=verdicts)


def _aligned(folder: RunFolder, spec: RunSpec, cases: Sequence[Case]) -> Judged:
    return Judged(
        judge=spec.judge.name,
        source=f"run {folder.path} ({spec.protocol})",
        verdicts=align(cases, resolve_run(folder, spec), folder.path),
        folder=folder.path,
        calibration=spec.calibration,
    )


def open_set(path: Path) -> Cases:
    """A file of cases, and a word on how it was recognised."""
    cases = open_cases(path)
    _console.print_message(f"reading {path} as {cases.format}")
    return cases
