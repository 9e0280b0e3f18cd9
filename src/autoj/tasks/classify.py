"""Names the scenarios of queries, with an embedded classifier or with a judge in a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from autoj.backends.base import Backend
from autoj.datasets.base import Cases
from autoj.errors import DataError, UnknownComponent
from autoj.protocols import protocols_of
from autoj.records import Case, Failure, JudgeCard, Judgment, Label, Unreadable
from autoj.runs.budget import Budget
from autoj.runs.folder import RunFolder
from autoj.runs.in_memory import ask_case
from autoj.runs.resolving import read_outcomes
from autoj.runs.spec import RunSpec, make_spec
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios import group_of
from autoj.scenarios.classifier import ScenarioClassifier, ScenarioGuess
from autoj.tasks.judge import judge
from autoj.tasks.run import Run

SCENARIOS = "scenarios.jsonl"
"""The file of rows of a judge's run."""
_BATCH = 512
_PROTOCOL = "scenario"
_ANSWER_TOKENS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedQuery:
    """A query's scenario and its probability: a line of the output of `autoj classify`."""

    id: str
    """The case's id."""
    scenario: str | None
    """None where the judge's answer could not be read, or there is none."""
    group: str | None
    """One of the taxonomy's eight; None for a scenario outside the taxonomy."""
    probability: float | None
    """0-1, calibrated; None where a judge named the scenario, as it states no probability."""
    alternatives: tuple[tuple[str, float], ...]
    """The next scenarios with their probabilities, most likely first; none from a judge."""
    classifier: str
    """The name of the classifier or of the judge."""
    digest: str | None
    """The digest of the classifier's weights; None for a judge."""
    row_scenario: str | None = None
    """The scenario named by the row itself."""
    state: Literal["named", "unreadable", "failed", "not asked"] = "named"
    """The outcome of asking a judge; always "named" from a classifier."""
    reason: str | None = None
    """The reason for which there is no scenario."""
    truncated: bool = False
    """True where the judge saw the query without its middle."""


def classify_cases(
    cases: Cases,
    classifier: ScenarioClassifier,
    *,
    top: int = 3,
    limit: int | None = None,
    bad_rows: list[DataError] | None = None,
) -> Iterator[tuple[Case, ClassifiedQuery]]:
    """Classifies a data set's queries, lazily.

    Args:
        cases: the data set.
        classifier: names the scenarios.
        top: the number of likeliest scenarios in a row, including the first.
        limit: the most queries; None takes all.
        bad_rows: receives rows that cannot be read; None raises the first error.

    Raises:
        DataError: a row cannot be read, or there is no readable one.
    """
    source = islice(_readable(cases, bad_rows), limit)
    n_cases = 0
    while batch := list(islice(source, _BATCH)):
        n_cases += len(batch)
        guesses = classifier.classify([case.query for case in batch])
        for case, guess in zip(batch, guesses, strict=True):
            yield case, _by_classifier(case, guess, classifier, top)
    if n_cases == 0:
        what = "has no row that can be read" if bad_rows else "is empty: it holds no rows"
        raise DataError(what, path=cases.place)


def classify_case(case: Case, classifier: ScenarioClassifier, top: int = 3) -> ClassifiedQuery:
    """Classifies one query.

    Args:
        case: the case whose query is classified.
        classifier: names the scenario.
        top: the number of likeliest scenarios to give, including the first.
    """
    (guess,) = classifier.classify([case.query])
    return _by_classifier(case, guess, classifier, top)


def _by_classifier(
    case: Case, guess: ScenarioGuess, classifier: ScenarioClassifier, top: int
) -> ClassifiedQuery:
    return ClassifiedQuery(
        id=case.id,
        scenario=guess.scenario,
        group=_group(guess.scenario),
        probability=guess.probability,
        alternatives=guess.alternatives[: max(0, top - 1)],
        classifier=classifier.name,
        digest=classifier.digest,
        row_scenario=case.scenario,
    )


def _readable(cases: Cases, bad_rows: list[DataError] | None) -> Iterator[Case]:
    for _, case in cases.read():
        if isinstance(case, Case):
            yield case
        elif bad_rows is not None:
            bad_rows.append(case)
        else:
            if case.hint is None:
                case.hint = "Add --skip-bad-rows to leave such rows out and count them."
            raise case


def _group(scenario: str) -> str | None:
    try:
        return group_of(scenario)
    except UnknownComponent:
        return None


def make_classify_spec(card: JudgeCard, protocol: str | None = None, **settings: Any) -> RunSpec:
    """Makes the spec of a run that names scenarios.

    Args:
        card: the judge.
        protocol: None takes the card's first that names scenarios, else the paper's.
        settings: arguments of `make_spec`. The default limit of an answer is 30 tokens, as in the
            release's classifier; a name has fewer.

    Raises:
        ConfigError: the protocol does not name scenarios, or the judge was trained on others.
    """
    offered = (its.name for its in protocols_of(card) if its.subject == "query")
    chosen = protocol or next(offered, _PROTOCOL)
    max_tokens = settings.pop("max_tokens", None) or _ANSWER_TOKENS
    return make_spec(
        "classify", card, protocol=chosen, critique=False, max_tokens=max_tokens, **settings
    )


def classify(
    cases: Cases,
    spec: RunSpec,
    out: Path | None = None,
    *,
    budget: Budget | None = None,
    watch: Watch = SILENT,
    cache: bool | None = False,
) -> Run:
    """Asks a judge for the scenario of each query, and keeps the run.

    Args:
        cases: the data, of which only the queries are used.
        spec: the settings, from `make_classify_spec`.
        out: the run's folder; None takes one under `runs/`, the same for the same settings.
        budget: the caps; None sets no limit.
        watch: told of progress and events.
        cache: the use of earlier runs' answers, as in `tasks.judge.judge`.

    Returns:
        The run; the rows of `classified_run` are in its `scenarios.jsonl`.

    Raises:
        DataError: a row cannot be read.
        BackendError: the engine broke down; earlier answers are kept.
    """

    def write_rows(folder: RunFolder) -> None:
        folder.replace_rows(SCENARIOS, (row for _, row in classified_run(folder, spec)))

    return judge(cases, spec, out, budget=budget, watch=watch, derive=write_rows, cache=cache)


def ask_scenario(case: Case, spec: RunSpec, backend: Backend) -> ClassifiedQuery:
    """The scenario of one query by a judge, by the same steps as a run, in memory.

    Args:
        case: the case whose query is asked about.
        spec: the settings, of the task "classify".
        backend: runs the judge.

    Raises:
        BackendError: the engine broke down.
    """
    return _by_judge(case, ask_case(case, spec, backend), spec.judge.name)


def classified_run(folder: RunFolder, spec: RunSpec) -> Iterator[tuple[Case, ClassifiedQuery]]:
    """The rows of a judge's run with their cases, from its answers.

    Args:
        folder: the run, finished or not.
        spec: its settings, of the task "classify".
    """
    for case, found in read_outcomes(folder, spec):
        yield case, _by_judge(case, found, spec.judge.name)


def _by_judge(
    case: Case, outcomes: Sequence[Judgment | Failure | None], judge: str
) -> ClassifiedQuery:
    row = ClassifiedQuery(
        id=case.id,
        scenario=None,
        group=None,
        probability=None,
        alternatives=(),
        classifier=judge,
        digest=None,
        row_scenario=case.scenario,
        state="not asked",
    )
    # Each query is asked about once.
    match next(iter(outcomes), None):
        case Judgment(reading=Label(name=name), asked=asked):
            return replace(
                row, scenario=name, group=_group(name), state="named", truncated=asked.truncated
            )
        case Judgment(reading=Unreadable(reason=reason), asked=asked):
            return replace(row, state="unreadable", reason=reason, truncated=asked.truncated)
        case Failure(message=message):
            return replace(row, state="failed", reason=message)
    return row
