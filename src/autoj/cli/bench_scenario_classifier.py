"""`autoj bench scenario-classifier`: accuracy of scenario classifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from autoj.bench.scenario_classifier.measure import SetMeasurement, measure_classifiers
from autoj.bench.scenario_classifier.open_sets import SetChoice
from autoj.bench.scenario_classifier.query_set import BENCH
from autoj.cli import _console, _options
from autoj.cli._progress import watching
from autoj.errors import ConfigError
from autoj.jsonl import write_records
from autoj.judges import load_card
from autoj.metrics.result import save_result
from autoj.reports.bench_scenario_classifier import sets_view
from autoj.runs.budget import Budget
from autoj.tasks.classify import make_classify_spec
from autoj.tasks.default_paths import slug


def scenario_classifier(
    classifier: Annotated[
        list[str] | None,
        typer.Option(
            metavar="fast|best|FOLDER",
            help="The classifier to measure: fast, best, or a folder that autoj train classifier "
            "wrote; may be repeated. Default, without --judge: fast, and best if installed.",
            rich_help_panel=_options.MEASURED,
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            help="A language model to measure (autoj judges, the path of a card, or "
            "backend:model), with one request per query; may be repeated.",
            rich_help_panel=_options.MEASURED,
        ),
    ] = None,
    protocol: Annotated[
        Literal["scenario", "scenario-menu"],
        typer.Option(
            help="The prompt of a --judge: the paper's, or the same after a list of all scenarios, "
            "for models that were not trained on their names.",
            rich_help_panel=_options.ASKING,
        ),
    ] = "scenario",
    data: Annotated[
        Path | None,
        typer.Option(
            help="Queries with their scenarios. Default: the release's test file (autoj data get "
            "scenario-classifier-test).",
            rich_help_panel=_options.JUDGED,
        ),
    ] = None,
    second: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|eval-p|none",
            help="A second set, without the rows whose query is in training data. Default: eval-p, "
            "if it is on this machine and no --data is given.",
            rich_help_panel=_options.JUDGED,
        ),
    ] = None,
    trained_on: Annotated[
        list[Path] | None,
        typer.Option(
            help="More training data whose queries are left out of the second set, besides the "
            "seeds, the labelled queries and the release's training file; may be repeated.",
            rich_help_panel=_options.JUDGED,
        ),
    ] = None,
    by: Annotated[
        Literal["group", "scenario"],
        typer.Option(
            help="Show the groups and the worst scenarios, or all scenarios.",
            rich_help_panel=_options.OUTPUT,
        ),
    ] = "group",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="A folder for the results as JSON, and for judges' runs. Default: judges' runs "
            "are under runs/, with their results.",
            rich_help_panel=_options.OUTPUT,
        ),
    ] = None,
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    as_json: _options.Json = False,
) -> None:
    """Measure scenario classifiers: accuracy, F1, calibration, confusions.

    Baselines and published figures are shown with them. After an interruption, repeat the command
    to resume a judge's run.

    Example: autoj bench scenario-classifier --classifier fast --classifier my-classifier
    """
    _console.set_json(as_json)
    if out is not None:
        _make_folder(out)
    budget = Budget(max_usd, max_requests)
    with watching() as watch:
        measured = measure_classifiers(
            SetChoice(data=data, second=second, trained_on=trained_on or ()),
            classifiers=classifier or (),
            judges=[make_classify_spec(load_card(name), protocol) for name in judge or ()],
            out=out,
            budget=budget,
            watch=watch,
        )
    for each in measured:
        _keep(each, out)
    record: dict[str, Any] = {"sets": [each.as_json() for each in measured]}
    if out is not None:
        write_records(out / f"{BENCH}.json", [record])
    if as_json:
        _console.print_json(record)
    else:
        _console.print_result(sets_view(measured, all_scenarios=by == "scenario"))
    if any(result.details["n_failed"] for each in measured for result in each.results):
        raise typer.Exit(1)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out {path}: cannot create the folder: {error.strerror}") from None


def _keep(measured: SetMeasurement, out: Path | None) -> None:
    """Save each result: in `out`, else in the judge's run."""
    for result, folder in zip(measured.results, measured.folders, strict=True):
        if out is not None:
            save_result(out / f"{result.bench}-{slug(result.judge)}.json", result)
        elif folder is not None:
            save_result(folder / f"{result.bench}.json", result)
