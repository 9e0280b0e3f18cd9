"""The scenario of each case of a run: its row's, or a classifier's guess, with its origin.

A case records in its `meta` the origin of its scenario where its row did not name it, so that a run
can be shown, merged and broken down without its input and without the classifier. Cases are named
once, when their run starts; a resumed run reads the stored names.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from autoj.errors import UnknownComponent
from autoj.records import Case, CaseOutline
from autoj.runs.scenario_settings import classifier_of
from autoj.runs.spec import RunSpec
from autoj.scenarios import Library, scenario_names
from autoj.scenarios.classifier import ScenarioClassifier, ScenarioGuess

_NAMED_BY = "scenario_named_by"
_GROUP = "scenario_group"
_OTHERS = "others"
_BATCH = 256
_AnyCase = TypeVar("_AnyCase", bound=Case)


def settle_scenario(case: Case, spec: RunSpec) -> Case:
    """A case with its row's scenario in the spelling of the run's scenarios.

    Args:
        case: the case as it was read; one without a scenario stays so.
        spec: states the known scenarios and the treatment of unknown names.

    Raises:
        UnknownComponent: the scenario is unknown, and that is an error.
    """
    if case.scenario is None or spec.task == "classify":
        return case
    try:
        scenario = spec.library.find(case.scenario)
    except UnknownComponent:
        match spec.on_unknown_scenario:
            case "error":
                raise
            case "others":
                naming = {"by": "unknown", "row": case.scenario}
                return _with_naming(case, _OTHERS, spec.library, naming)
            case "keep":
                return replace(case, meta={**case.meta, _NAMED_BY: {"by": "own name"}})
    return _with_naming(case, scenario.name, spec.library, None)


def name_scenarios(cases: Iterable[_AnyCase], spec: RunSpec) -> Iterator[_AnyCase]:
    """Names the scenarios of cases that have none, by the run's classifier.

    A scenario that the classifier knows and the run does not, as of other training data, becomes
    `others`.

    Args:
        cases: read lazily.
        spec: states the known scenarios and the classifier; without one cases stay as they are.
    """
    if spec.classifier is None:
        yield from cases
        return
    classifier = classifier_of(spec.classifier)
    source = iter(cases)
    while batch := list(islice(source, _BATCH)):
        queries = [case.query for case in batch if case.scenario is None]
        guesses = iter(classifier.classify(queries) if queries else ())
        for case in batch:
            yield _guessed(case, next(guesses), classifier, spec) if case.scenario is None else case


def _guessed(
    case: _AnyCase, guess: ScenarioGuess, classifier: ScenarioClassifier, spec: RunSpec
) -> _AnyCase:
    naming: dict[str, Any] = {
        "by": "classifier",
        "classifier": classifier.name,
        "digest": classifier.digest,
        "probability": guess.probability,
    }
    try:
        name = spec.library.find(guess.scenario).name
    except UnknownComponent:
        name = _OTHERS
    if name != guess.scenario:
        naming["guess"] = guess.scenario
    return _with_naming(case, name, spec.library, naming)


def _with_naming(
    case: _AnyCase, name: str, library: Library, naming: dict[str, Any] | None
) -> _AnyCase:
    meta = dict(case.meta)
    if naming is not None:
        meta[_NAMED_BY] = naming
    # The taxonomy has only our groups; the user's folder may be gone when the run is shown.
    group = library.find(name).group
    if name not in scenario_names() and group is not None:
        meta[_GROUP] = group
    return replace(case, scenario=name, meta=meta)


def without_guess(case: _AnyCase) -> _AnyCase:
    """A case as it was before a classifier named its scenario."""
    naming = naming_of(case)
    if naming is None or naming.get("by") != "classifier":
        return case
    meta = {name: value for name, value in case.meta.items() if name not in (_NAMED_BY, _GROUP)}
    return replace(case, scenario=None, meta=meta)


def naming_of(case: Case | CaseOutline) -> dict[str, Any] | None:
    """The origin of a case's scenario; None where its row names it, or nothing does.

    Returns:
        `by` is "classifier", with `classifier`, `digest` and `probability`, and `guess` where its
        name differs here; "unknown", with the unknown name as `row`; or "own name", where the row's
        name is unknown and was kept.
    """
    found = case.meta.get(_NAMED_BY)
    return found if isinstance(found, dict) else None


def group_in_meta(case: Case | CaseOutline) -> str | None:
    """The group of a user's own scenario; None where it is one of ours, or has none."""
    found = case.meta.get(_GROUP)
    return found if isinstance(found, str) else None
