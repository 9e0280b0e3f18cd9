"""Names the scenarios of rows that have none: by the embedded classifier, a judge, or both.

Where a judge is asked, the stage's folder has more files:

```
judge/          the run, with its ledger
names.jsonl     the judge's names, or the reasons for which there is none; it closes the run
```
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from autoj.construct.recipe import Classify
from autoj.construct.stages import Dropped, Outcome, Spent
from autoj.construct.teacher import Teacher
from autoj.jsonl import read_records, write_records
from autoj.judges import load_card
from autoj.protocols import protocols_of
from autoj.records import Case
from autoj.runs import RunFolder, RunSpec
from autoj.scenarios.classifier import ScenarioGuess, load_classifier
from autoj.tasks.classify import classified_run, make_classify_spec

JUDGE, NAMES = "judge", "names.jsonl"
_BATCH = 512
# A general model has not learnt the names, and is shown them.
_PROTOCOL = "scenario-menu"
_REASONS = {"unreadable": "no readable scenario", "failed": "judge failed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """A line of the judge's names."""

    id: str
    scenario: str | None = None
    reason: str | None = None
    """The reason for which there is no scenario."""
    detail: str | None = None


def naming_spec(stage: Classify, scenarios: Path | None = None) -> RunSpec:
    """Makes the settings of the run that names scenarios.

    Args:
        stage: names a judge, and may name its prompt.
        scenarios: the user's own, which scenario-menu lists besides; None uses ours.

    Raises:
        UnknownComponent: there is no such judge or protocol.
        ConfigError: the protocol does not name scenarios.
    """
    assert stage.judge is not None
    card = load_card(stage.judge)
    own = next((its.name for its in protocols_of(card) if its.subject == "query"), _PROTOCOL)
    return make_classify_spec(card, stage.protocol or own, scenarios=scenarios)


def classify(cases: Iterable[Case], stage: Classify) -> Iterator[Outcome]:
    """Names scenarios by the embedded classifier; rows that state one keep it.

    Args:
        cases: read lazily, a batch at a time.
        stage: names the classifier, and the probability below which a guess is unsure.

    Yields:
        Cases with a scenario, those that were guessed with `meta.scenario_by` and
        `meta.scenario_probability`.

    Raises:
        UnknownComponent: there is no such classifier.
    """
    classifier = load_classifier(stage.classifier)
    source = iter(cases)
    while batch := list(islice(source, _BATCH)):
        queries = [case.query for case in batch if case.scenario is None]
        guesses = iter(classifier.classify(queries) if queries else ())
        for case in batch:
            if case.scenario is not None:
                yield case
            else:
                yield _guessed(case, next(guesses), classifier.name, stage.least_probability)


def _guessed(case: Case, guess: ScenarioGuess, name: str, least_probability: float) -> Outcome:
    """A case by the classifier's guess."""
    probability = round(guess.probability, 4)
    meta = {**case.meta, "scenario_by": name, "scenario_probability": probability}
    named = replace(case, scenario=guess.scenario, meta=meta)
    if guess.probability >= least_probability:
        return named
    detail = f"{guess.scenario} ({guess.probability:.2f})"
    return Dropped(id=case.id, reason="unsure scenario", detail=detail, case=named)


def classify_by_judge(
    cases: Sequence[Case],
    stage: Classify,
    spec: RunSpec,
    judge: Teacher,
    folder: Path,
    spent: Spent,
) -> Iterator[Outcome]:
    """Names scenarios by a judge, alone or beside the classifier; rows that state one keep it.

    With `by: both` the judge is asked about what the classifier is sure of, and the rows that they
    name alike are kept.

    Args:
        cases: the rows.
        stage: names the judge and the classifier.
        spec: the settings, from `naming_spec`.
        judge: the judge.
        folder: the stage's folder.
        spent: receives the counts of the run.

    Yields:
        Cases with a scenario, in their order, or the reasons they were dropped.

    Raises:
        Unfinished: a cap was reached; the same call with a higher one resumes.
        BackendError: most requests failed.
    """
    by_both = stage.by == "both"
    outcomes = list(classify(cases, stage)) if by_both else list(cases)
    unnamed = [
        case
        for case, outcome in zip(cases, outcomes, strict=True)
        if case.scenario is None and isinstance(outcome, Case)
    ]
    names = _names(unnamed, spec, judge, folder, spent)
    for outcome in outcomes:
        if isinstance(outcome, Dropped) or outcome.id not in names:
            yield outcome
        else:
            yield _judged(outcome, names[outcome.id], spec.judge.name)


def _names(
    cases: Sequence[Case], spec: RunSpec, judge: Teacher, folder: Path, spent: Spent
) -> dict[str, _Named]:
    """Asks the judge for names, or reads those of a run that is closed; by the cases' ids."""
    if not cases:
        return {}
    is_closed = (folder / NAMES).is_file()
    if not is_closed:
        # The query is all that is asked about.
        queries = [replace(case, responses=(), label=None, meta={}) for case in cases]
        run = judge.ask(queries, spec, folder / JUDGE)
        write_records(folder / NAMES, _read_names(run, spec))
    judge.count(folder / JUDGE, spent, earlier=is_closed)
    return {named.id: named for named in read_records(folder / NAMES, _Named)}


def _read_names(run: RunFolder, spec: RunSpec) -> Iterator[_Named]:
    for case, row in classified_run(run, spec):
        reason = None if row.scenario is not None else _REASONS.get(row.state, "not asked")
        yield _Named(id=case.id, scenario=row.scenario, reason=reason, detail=row.reason)


def _judged(case: Case, named: _Named, judge: str) -> Outcome:
    """A case by the judge's name, and by the classifier's where the case has one."""
    if named.scenario is None:
        reason = named.reason or "not asked"
        return Dropped(id=case.id, reason=reason, detail=named.detail, case=case)
    if case.scenario is None:
        return replace(case, scenario=named.scenario, meta={**case.meta, "scenario_by": judge})
    classifier, probability = case.meta["scenario_by"], case.meta["scenario_probability"]
    if case.scenario != named.scenario:
        detail = f"{classifier}: {case.scenario} ({probability:.2f}), {judge}: {named.scenario}"
        return Dropped(id=case.id, reason="classifier and judge disagree", detail=detail, case=case)
    return replace(case, meta={**case.meta, "scenario_by": f"{classifier} and {judge}"})
