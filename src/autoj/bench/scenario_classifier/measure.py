"""Scenario classifiers and judges measured: `autoj bench scenario-classifier` as one call."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from autoj.bench.base import align
from autoj.bench.scenario_classifier.comparison import ClassifierDifference, compare_all
from autoj.bench.scenario_classifier.evaluate import check_labels, dropped_names, evaluate
from autoj.bench.scenario_classifier.guesses import (
    BASELINE_CLASSIFIERS,
    Classified,
    classify,
    classify_by_baseline,
    guesses_of_run,
)
from autoj.bench.scenario_classifier.published import PublishedClassifier, published_on
from autoj.bench.scenario_classifier.query_set import BENCH, NO_SET, QuerySet, SetChoice, open_sets
from autoj.bench.sources import judge_all
from autoj.errors import ConfigError, MissingExtra, NoRows
from autoj.jsonl import write_records
from autoj.metrics.result import Result, keep_result
from autoj.runs import RunSpec, resolve_run
from autoj.runs.budget import Budget
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios.classifier import ScenarioClassifier, load_classifier
from autoj.scenarios.classifier.folder import SHIPPED
from autoj.tasks.default_paths import slug


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMeasurement:
    """The figures of all classifiers on one set."""

    queries: QuerySet
    results: Sequence[Result]
    """One a classifier."""
    folders: Sequence[Path | None]
    """The run that each one's guesses are from, where it is a judge's."""
    baseline: Sequence[Result]
    """Of the baselines, which read nothing."""
    published: Sequence[PublishedClassifier]
    """Published figures on the same rows."""
    differences: Sequence[ClassifierDifference]
    """Of all pairs of classifiers."""

    def as_json(self) -> dict[str, Any]:
        """The same as plain values, the queries left out."""
        return {
            "name": self.queries.name,
            "bench": self.queries.bench,
            "n_rows": self.queries.n_rows,
            "n_cases": len(self.queries.cases),
            "seen": [asdict(seen) for seen in self.queries.seen],
            "results": [asdict(result) for result in self.results],
            "trivial": [asdict(result) for result in self.baseline],
            "published": [asdict(row) for row in self.published],
            "differences": [asdict(comparison) for comparison in self.differences],
        }

    @property
    def n_failed(self) -> int:
        """Queries without an answer of a judge."""
        return sum(result.details["n_failed"] for result in self.results)


def sets_record(measured: Sequence[SetMeasurement]) -> dict[str, Any]:
    """The measurements on all sets as plain values."""
    return {"sets": [each.as_json() for each in measured]}


def keep_sets(measured: Sequence[SetMeasurement], out: Path | None = None) -> None:
    """Saves the results of all sets.

    Args:
        measured: the measurements.
        out: the folder of each result and of all of them; None takes the runs' own folders, where
            there are some.

    Raises:
        StorageFull: the disk is full.
        DataError: a file cannot be written.
    """
    for each in measured:
        for result, folder in zip(each.results, each.folders, strict=True):
            place = out and out / f"{result.bench}-{slug(result.judge)}.json"
            keep_result(result, folder, place)
    if out is not None:
        write_records(out / f"{BENCH}.json", [sets_record(measured)])


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out {path}: cannot create the folder: {error.strerror}") from None


def measure_set(found: QuerySet, classified: Sequence[Classified]) -> SetMeasurement:
    """The figures of some classifiers on a set, all on the same rows.

    Args:
        found: the set.
        classified: each classifier's guesses at it.

    Raises:
        ConfigError: a classifier knows none of the set's scenarios.
    """
    for each in classified:
        check_labels(found, each)
    dropped = dropped_names(found, classified)
    baseline = [classify_by_baseline(name, found.cases) for name in BASELINE_CLASSIFIERS]
    return SetMeasurement(
        queries=found,
        results=[evaluate(found, each, dropped) for each in classified],
        folders=[each.folder for each in classified],
        baseline=[evaluate(found, each, dropped) for each in baseline],
        published=published_on(found),
        differences=compare_all(found, classified, dropped),
    )


def measure_classifiers(
    sets: SetChoice | None = None,
    *,
    classifiers: Sequence[str] = (),
    judges: Sequence[RunSpec] = (),
    out: Path | None = None,
    budget: Budget | None = None,
    watch: Watch = SILENT,
) -> list[SetMeasurement]:
    """Let classifiers and judges name the scenarios of labelled queries, and compute all figures.

    Args:
        sets: the queries; None takes the default sets.
        classifiers: `fast`, `best` or folders; none, without judges, takes all that are installed.
        judges: language models with their settings, from `make_classify_spec`.
        out: the folder of judges' runs, which is made; None takes `runs/`.
        budget: what all judges may cost together; None sets no limit.
        watch: told what happens.

    Returns:
        The measurement on each set.

    Raises:
        ConfigError: there is nothing to measure, or it knows none of a set's scenarios.
        DataError: a file cannot be read.
        Unfinished: the budget left some queries unnamed.
        BackendError: an engine broke down; what was answered is kept.
    """
    if out is not None:
        # A folder that cannot be made ends the command before anything is asked.
        _make_folder(out)
    queries = list(open_sets(sets or SetChoice(), watch))
    loaded = _load(classifiers, has_judge=bool(judges), watch=watch)
    guesses = [_classified(loaded, found, watch) for found in queries]
    measured: list[SetMeasurement] = []
    for found, its in zip(queries, guesses, strict=True):
        its += [_asked(spec, found, out, budget, watch) for spec in judges]
        measured.append(measure_set(found, its))
    return measured


def measure_on_unseen(
    classifiers: Sequence[str], whole: Path, unseen: Path, *, watch: Watch = SILENT
) -> list[SetMeasurement]:
    """Measure classifiers on a test file, and on the part of it that none of them has learnt.

    Args:
        classifiers: `fast`, `best` or folders.
        whole: the test file.
        unseen: the part of it to leave seen queries out of.
        watch: told if nothing is left of it; the test file alone is measured then.

    Raises:
        ConfigError: a classifier knows none of a set's scenarios.
        DataError: a file cannot be read.
    """
    try:
        sets = SetChoice(data=whole, second=str(unseen))
        return measure_classifiers(sets, classifiers=classifiers, watch=watch)
    except NoRows as error:
        # None is left where all are in the training data of another classifier.
        watch.message(f"{error.message}; the figures are those on the whole test file alone")
        sets = SetChoice(data=whole, second=NO_SET)
        return measure_classifiers(sets, classifiers=classifiers, watch=watch)


def _load(names: Sequence[str], *, has_judge: bool, watch: Watch) -> dict[str, ScenarioClassifier]:
    """The classifiers, by the name that each was asked for by."""
    if names:
        return {name: load_classifier(name) for name in names}
    loaded: dict[str, ScenarioClassifier] = {}
    for name in () if has_judge else SHIPPED:
        try:
            loaded[name] = load_classifier(name)
        except MissingExtra as error:
            watch.message(f"classifier {name!r} was left out: {error}")
    if not loaded and not has_judge:
        raise ConfigError("no classifier to measure: give --classifier or --judge")
    return loaded


def _classified(
    classifiers: Mapping[str, ScenarioClassifier], found: QuerySet, watch: Watch
) -> list[Classified]:
    """The guesses of all classifiers at a set."""
    return [
        classify(
            classifier,
            found.cases,
            partial(watch.progress, f"{name} on {found.name}"),
            name=name,
            source=f"classifier {given}",
        )
        for name, (given, classifier) in zip(
            _names(list(classifiers)), classifiers.items(), strict=True
        )
    ]


def _names(given: Sequence[str]) -> list[str]:
    """Names for classifiers: a folder's own, after as much of its path as tells it from others.

    Titles would not do: they are the recipe's, and tables cut them off.
    """
    places = [(name,) if name in SHIPPED else Path(name).absolute().parts for name in given]
    return [str(Path(*_own_end(place, places))) for place in places]


def _own_end(place: tuple[str, ...], places: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The shortest end of a path that no other path has; all of it where there is none."""
    for n in range(1, len(place)):
        if [other[-n:] for other in places].count(place[-n:]) == 1:
            return place[-n:]
    return place


def _asked(
    spec: RunSpec, found: QuerySet, out: Path | None, budget: Budget | None, watch: Watch
) -> Classified:
    """The guesses of a language model, from a run that is made, resumed, or looked up."""
    name = f"{found.bench}-{slug(spec.judge.name)}-{spec.protocol}"
    place = out and out / "runs" / name
    run = judge_all(found.data, spec, place, budget=budget, watch=watch)
    verdicts = align(found.cases, resolve_run(run.folder, spec), run.path)
    source = f"run {run.path} ({spec.protocol})"
    return guesses_of_run(spec.judge.name, source, verdicts, run.path)
