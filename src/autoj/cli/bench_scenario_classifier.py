"""`autoj bench scenario-classifier`: how well scenarios are named, by which classifier."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.base import align
from autoj.bench.scenario_classifier.guesses import Classified, classify, guesses_of_run
from autoj.bench.scenario_classifier.measuring import Measured, measure
from autoj.bench.scenario_classifier.query_set import BENCH, QuerySet, read_set, without_seen
from autoj.cli import _console, _options
from autoj.cli._judging import judge_whole
from autoj.datasets import catalog, open_queries
from autoj.errors import ConfigError, DataError, MissingExtra
from autoj.jsonl import write_records
from autoj.judges import load_card
from autoj.metrics.result import save_result
from autoj.reports.bench_scenario_classifier import (
    classifier_view,
    difference_table,
    published_table,
    set_view,
)
from autoj.runs import resolve_run
from autoj.runs.budget import Budget
from autoj.scenarios.classifier import ScenarioClassifier, load_classifier
from autoj.scenarios.classifier.loading import SHIPPED
from autoj.scenarios.seeds import known_scenarios, query_digest, seed_files
from autoj.tasks.classify import make_classify_spec

__all__ = ["scenario_classifier"]

_TEST, _TRAINING, _SECOND = "scenario-classifier-test", "scenario-classifier-train", "eval-p"
_NONE = "none"


def scenario_classifier(
    classifier: Annotated[
        list[str] | None,
        typer.Option(
            metavar="fast|best|FOLDER",
            help="Measure this classifier; may be repeated. A folder is one that autoj train "
            "classifier wrote. Default, without --judge: fast, and best where it is installed.",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure a language model (autoj judges, the path of a card, or backend:model), "
            "which is asked once a query; may be repeated."
        ),
    ] = None,
    protocol: Annotated[
        Literal["scenario", "scenario-menu"],
        typer.Option(
            help="How a --judge is asked: with the paper's prompt, or the same after a list of all "
            "scenarios, for models that did not learn their names."
        ),
    ] = "scenario",
    data: Annotated[
        Path | None,
        typer.Option(
            help="Queries with their scenarios. Default: the release's test file (autoj data get "
            "scenario-classifier-test)."
        ),
    ] = None,
    second: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|eval-p|none",
            help="A second set, without the rows whose query stands in training data. Default: "
            "eval-p, where it is on this machine and no --data is given.",
        ),
    ] = None,
    trained_on: Annotated[
        list[Path] | None,
        typer.Option(
            help="Further training data whose queries are left out of the second set, besides the "
            "seeds, the labelled queries and the release's training file; may be repeated."
        ),
    ] = None,
    by: Annotated[
        Literal["group", "scenario"],
        typer.Option(help="List the worst scenarios below the groups, or all scenarios."),
    ] = "group",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="A folder for the results as JSON, and for the runs of judges. Default: runs of "
            "judges lie under runs/, with their results.",
        ),
    ] = None,
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    as_json: _options.Json = False,
) -> None:
    """Measure what names scenarios: accuracy, F1, calibration, what is taken for what.

    Beside them stand classifiers that read nothing and what was published. A judge's run that is
    killed goes on where it stopped with the same command.

    Example: autoj bench scenario-classifier --classifier fast --classifier my-classifier
    """
    _console.set_json(as_json)
    if out is not None:
        _make_folder(out)
    budget = Budget(max_usd, max_requests)
    sets = list(_sets(data, second, trained_on or ()))
    guesses = _classified(_load(classifier, has_judge=bool(judge)), sets)
    measured: list[Measured] = []
    for found, its in zip(sets, guesses, strict=True):
        its += [_asked(name, protocol, found, out, budget) for name in judge or ()]
        measured.append(measure(found, its))
        _keep(measured[-1], its, out)
    if out is not None:
        write_records(out / f"{BENCH}.json", [_as_json(measured)])
    if as_json:
        _console.print_json(_as_json(measured))
    else:
        _console.print_result(Group(*_tables(measured, by)))
    if any(result.details["n_failed"] for each in measured for result in each.results):
        raise typer.Exit(1)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out {path}: no folder can be made there: {error.strerror}") from None


def _sets(data: Path | None, second: str | None, trained_on: Sequence[Path]) -> Iterator[QuerySet]:
    """The test set whole, and the second without what stands in training data."""
    training = _training_queries(trained_on)
    path = data or catalog.find(_TEST)
    yield without_seen(_open(path, BENCH), training, keep=True)
    name = second or (_SECOND if data is None else _NONE)
    if name == _NONE:
        return
    if second is None and not catalog.is_here(_SECOND):
        _console.print_message(
            f"{_SECOND} is not on this machine and is left out; autoj data get {_SECOND}"
        )
        return
    if _TRAINING not in training:
        _console.print_message(
            f"the release's training file is not on this machine: rows of {name} whose query "
            f"stands in it are not left out (autoj data get {_TRAINING})"
        )
    path = catalog.find(_SECOND) if name == _SECOND else Path(name)
    bench = _SECOND if name == _SECOND else path.name.partition(".")[0]
    yield without_seen(_open(path, f"{BENCH}-{bench}"), training)


def _open(path: Path, bench: str) -> QuerySet:
    data = open_queries(path)
    _console.print_message(f"reading {path} as {data.format}")
    return read_set(data, path.name, bench)


def _training_queries(trained_on: Sequence[Path]) -> Mapping[str, Set[str]]:
    """The digests of the queries that classifiers may have learnt from, by the data's name."""
    found: dict[str, Set[str]] = {
        "the seeds": _digests(*seed_files()),
        "the labelled queries": known_scenarios().keys(),
    }
    if catalog.is_here(_TRAINING):
        found[_TRAINING] = _digests(catalog.find(_TRAINING))
    return found | {str(path): _digests(path) for path in trained_on}


def _digests(*paths: Path) -> set[str]:
    digests: set[str] = set()
    for path in paths:
        for _, case in open_queries(path).read():
            if isinstance(case, DataError):
                raise case
            digests.add(query_digest(case.query))
    return digests


def _load(names: Sequence[str] | None, *, has_judge: bool) -> dict[str, ScenarioClassifier]:
    """The classifiers, by the name that each was asked for by."""
    if names:
        return {name: load_classifier(name) for name in names}
    loaded: dict[str, ScenarioClassifier] = {}
    for name in () if has_judge else SHIPPED:
        try:
            loaded[name] = load_classifier(name)
        except MissingExtra as error:
            _console.print_message(f"classifier {name!r} is left out: {error}")
    if not loaded and not has_judge:
        raise ConfigError("there is no classifier to measure; give --classifier or --judge")
    return loaded


def _classified(
    classifiers: Mapping[str, ScenarioClassifier], sets: Sequence[QuerySet]
) -> list[list[Classified]]:
    """Each set's guesses, of all classifiers."""
    names = _names(list(classifiers))
    guesses: list[list[Classified]] = []
    with _console.watching() as watch:
        for found in sets:
            guesses.append([])
            for name, (given, classifier) in zip(names, classifiers.items(), strict=True):
                report = partial(watch.progress, f"{name} on {found.name}")
                guesses[-1].append(
                    classify(
                        classifier,
                        found.cases,
                        report,
                        name=name,
                        source=f"classifier {given}",
                    )
                )
    return guesses


def _names(given: Sequence[str]) -> list[str]:
    """What classifiers are called: a folder by its name, after as much as tells it from others.

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
    name: str, protocol: str, found: QuerySet, out: Path | None, budget: Budget
) -> Classified:
    """The guesses of a language model, from a run that is made, gone on with, or looked up."""
    spec = make_classify_spec(load_card(name), protocol)
    place = out and out / "runs" / f"{found.bench}-{_as_file_name(spec.judge.name)}-{protocol}"
    folder = judge_whole(spec, found.data, place, budget).folder
    verdicts = align(found.cases, resolve_run(folder, spec), folder.path)
    source = f"run {folder.path} ({protocol})"
    return guesses_of_run(spec.judge.name, source, verdicts, folder.path)


def _as_file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")


def _keep(measured: Measured, classified: Sequence[Classified], out: Path | None) -> None:
    """Save each result: in `out`, else in the judge's run."""
    for result, each in zip(measured.results, classified, strict=True):
        if out is not None:
            save_result(out / f"{result.bench}-{_as_file_name(result.judge)}.json", result)
        elif each.folder is not None:
            save_result(each.folder / f"{result.bench}.json", result)


def _as_json(measured: Sequence[Measured]) -> dict[str, Any]:
    return {"sets": [each.as_json() for each in measured]}


def _tables(measured: Sequence[Measured], by: str) -> Iterator[RenderableType]:
    for each in measured:
        yield set_view(each.queries, each.results, each.trivial)
        yield Text()
        if each.published:
            yield published_table(each.published)
            yield Text()
        if each.differences:
            yield difference_table(each.differences)
            yield Text()
    for result in measured[0].results:
        yield classifier_view(result, all_scenarios=by == "scenario")
        yield Text()
