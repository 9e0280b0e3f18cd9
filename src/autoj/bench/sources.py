"""Sources of a meta-evaluation: a set's cases, and a judge, a run or a file with its verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, assert_never

from autoj.bench.base import align
from autoj.bench.predictions import read_predictions, read_scores
from autoj.datasets import open_cases
from autoj.datasets.base import Cases, ReadRow
from autoj.datasets.sampling import sample_cases
from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.protocols import find_protocol, protocol_names, protocols_of
from autoj.records import WINNERS, Calibration, Case, JudgeCard, Verdict
from autoj.runs import RunFolder, make_spec, resolve_run
from autoj.runs.budget import Budget
from autoj.runs.fit import OnOverflow
from autoj.runs.scenario_settings import OnUnknownScenario
from autoj.runs.spec import RunSpec
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.judge import judge
from autoj.tasks.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """A judge that is asked, and the settings of its run."""

    card: JudgeCard
    protocol: str | None = None
    """None takes the card's first for pairs, else its first for one response."""
    language: str = "en"
    """The set's, in which the card's own protocol is taken."""
    on_overflow: OnOverflow = "error"
    unknown_scenario: OnUnknownScenario | None = None
    scenarios: Path | None = None


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A finished run of the set."""

    path: Path


@dataclass(frozen=True, slots=True)
class Predictions:
    """Labels of pairs that somebody else's judge gave, in the release's format."""

    path: Path
    swapped: Path | None = None
    """The labels of the same pairs with the responses exchanged."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of each response alone, such as a reward model's."""

    path: Path


VerdictSource: TypeAlias = JudgeSettings | StoredRun | Predictions | Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A judge's verdicts on a set's cases, in the set's order."""

    judge: str
    source: str
    """Their origin, in words."""
    verdicts: Sequence[Verdict]
    folder: Path | None = None
    """The run that holds them, where one does."""
    calibration: Calibration | None = None
    """The calibration of the run's card, where it has one."""


def open_set(path: Path, watch: Watch = SILENT) -> Cases:
    """A file of cases, and a message on how it was recognised."""
    cases = open_cases(path)
    watch.message(f"reading {path} as {cases.format}")
    return cases


def labelled_pairs(data: Cases) -> list[Case]:
    """The cases of a set of labelled pairs.

    Raises:
        DataError: a row cannot be read, is not a pair or has no label; or there are none.
    """
    cases: list[Case] = []
    for line, case in data.readable():
        if len(case.responses) != 2 or case.label not in WINNERS:
            raise DataError(
                f"case {case.id!r} has {len(case.responses)} responses and the label "
                f"{case.label!r}; expected a pair with the label a, b or tie",
                path=data.paths[0],
                line=line,
            )
        cases.append(case)
    if not cases:
        raise DataError("is empty: it has no cases", path=data.paths[0])
    return cases


def sampled(
    data: Cases, cases: Sequence[Case], n: int | None, seed: int
) -> tuple[Cases, Sequence[Case]]:
    """The set, or a sample of it that holds each scenario in proportion.

    Args:
        data: the set.
        cases: its cases.
        n: the size of the sample; None takes all.
        seed: of the random draw.
    """
    if n is None or n >= len(cases):
        return data, cases
    drawn = sample_cases(cases, n, seed)
    derivation = f"a sample of {n:,} of {len(cases):,} cases, seed {seed}"
    return part_of(data, drawn, derivation), drawn


def part_of(data: Cases, cases: Sequence[Case], derivation: str) -> Cases:
    """Cases that were made from a set, as a set of their own.

    Args:
        data: the set that they were made from.
        cases: what was made.
        derivation: how, in words: it tells a run of them from a run of others.
    """
    return replace(
        data,
        read=lambda: (ReadRow(line, case) for line, case in enumerate(cases, start=1)),
        derivation=derivation,
    )


def judge_all(
    cases: Cases,
    spec: RunSpec,
    out: Path | None = None,
    *,
    budget: Budget | None = None,
    watch: Watch = SILENT,
) -> Run:
    """A run with a verdict on every case.

    Args:
        cases: the data.
        spec: the settings.
        out: the run's folder; None takes one under `runs/`.
        budget: what may be spent; None sets no limit.
        watch: told what happens.

    Raises:
        Unfinished: the budget left some cases without one.
        BackendError: the engine broke down; what was judged is kept.
    """
    run = judge(cases, spec, out, budget=budget, watch=watch)
    run.check_whole()
    return run


def rating_spec(judge: str, protocol: str | None = None, **settings: Any) -> RunSpec:
    """The settings of a run in which a judge rates responses, without critiques.

    Args:
        judge: its name, the path of its card, or backend:model.
        protocol: None takes the judge's own.
        settings: further ones of `make_spec`.

    Raises:
        UnknownComponent: there is no such judge.
        ConfigError: it cannot rate by the protocol.
    """
    return make_spec("rate", load_card(judge), protocol=protocol, critique=False, **settings)


def get_verdicts(
    source: VerdictSource,
    data: Cases,
    cases: Sequence[Case],
    *,
    out: Path | None = None,
    budget: Budget | None = None,
    watch: Watch = SILENT,
) -> Judged:
    """The verdicts of a source on a set; only a judge is run, where its run is not there yet.

    Args:
        source: a judge, a run or a file.
        data: the set.
        cases: its cases.
        out: the folder of a judge's run; None takes one under `runs/`.
        budget: what a judge may spend; None sets no limit.
        watch: told what happens.

    Raises:
        ConfigError: the judge has no protocol for the set.
        DataError: a run or a file is not of these cases, or cannot be read.
        Unfinished: the budget left some cases without a verdict.
        BackendError: the engine broke down; what was judged is kept.
    """
    match source:
        case JudgeSettings():
            spec = _spec(source)
            run = judge_all(data, spec, out, budget=budget, watch=watch)
            return _aligned(run.folder, spec, cases)
        case StoredRun(path):
            folder = RunFolder.existing(path)
            return _aligned(folder, folder.spec(), cases)
        case Predictions(path, swapped):
            files = f"predictions {path}" + (f" and {swapped}" if swapped else "")
            verdicts = read_predictions(path, cases, swapped)
            return Judged(judge=path.stem, source=files, verdicts=verdicts)
        case Scores(path):
            verdicts = read_scores(path, cases)
            return Judged(judge=path.stem, source=f"scores {path}", verdicts=verdicts)
        case other:
            assert_never(other)


def _spec(settings: JudgeSettings) -> RunSpec:
    protocol = settings.protocol or _default_protocol(settings.card, settings.language)
    paired = find_protocol(settings.card, protocol).subject == "pair"
    return make_spec(
        "judge" if paired else "rate",
        settings.card,
        protocol=protocol,
        critique=False,
        on_overflow=settings.on_overflow,
        unknown_scenario=settings.unknown_scenario,
        scenarios=settings.scenarios,
    )


def _default_protocol(card: JudgeCard, language: str) -> str:
    """The card's first protocol for pairs, else for one response, in the language of the set."""
    subjects = {its.name: its.subject for its in protocols_of(card)}
    for wanted in ("pair", "response"):
        for name, subject in subjects.items():
            if subject == wanted:
                translated = f"{name}-{language}"
                return translated if translated in protocol_names() else name
    raise ConfigError(f"judge {card.name!r} has no protocol for pairs; choose one with --protocol")


def _aligned(folder: RunFolder, spec: RunSpec, cases: Sequence[Case]) -> Judged:
    if spec.second_order is not None:
        raise ConfigError(
            f"{folder.path} has the second orders of unsure pairs alone, and a judge is measured "
            "by both orders of all",
            hint="The command that made it asks the rest without --second-order.",
        )
    return Judged(
        judge=spec.judge.name,
        source=f"run {folder.path} ({spec.protocol})",
        verdicts=align(cases, resolve_run(folder, spec), folder.path),
        folder=folder.path,
        calibration=spec.calibration,
    )
