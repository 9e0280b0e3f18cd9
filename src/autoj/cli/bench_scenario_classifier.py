"""`autoj bench scenario-classifier`: accuracy of scenario classifiers."""

from pathlib import Path
from typing import Annotated, Literal

from autoj.bench.scenario_classifier.measure import keep_sets, measure_classifiers, sets_record
from autoj.bench.scenario_classifier.query_set import SetChoice
from autoj.cli import _console, _options
from autoj.cli._progress import watching
from autoj.judges import load_card
from autoj.reports.bench_scenario_classifier import sets_view
from autoj.runs.budget import Budget
from autoj.tasks.classify import make_classify_spec


def scenario_classifier(
    classifier: Annotated[
        list[str] | None,
        _options.measured(
            metavar="fast|best|FOLDER",
            help="The classifier to measure: fast, best, or a folder that autoj train classifier "
            "wrote; may be repeated. Default, without --judge: fast, and best if installed.",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        _options.measured(
            help="A language model to measure (autoj judges, the path of a card, or "
            "backend:model), with one request per query; may be repeated."
        ),
    ] = None,
    protocol: Annotated[
        Literal["scenario", "scenario-menu"],
        _options.asking(
            help="The prompt of a --judge: the paper's, or the same after a list of all scenarios, "
            "for models that were not trained on their names."
        ),
    ] = "scenario",
    data: Annotated[
        Path | None,
        _options.judged(
            help="Queries with their scenarios. Default: the release's test file (autoj data get "
            "scenario-classifier-test)."
        ),
    ] = None,
    second: Annotated[
        str | None,
        _options.judged(
            metavar="FILE|eval-p|none",
            help="A second set, without the rows whose query is in training data. Default: eval-p, "
            "if it is on this machine and no --data is given.",
        ),
    ] = None,
    trained_on: Annotated[
        list[Path] | None,
        _options.judged(
            help="More training data whose queries are left out of the second set, besides the "
            "seeds, the labelled queries and the release's training file; may be repeated."
        ),
    ] = None,
    by: Annotated[
        Literal["group", "scenario"],
        _options.output(help="Show the groups and the worst scenarios, or all scenarios."),
    ] = "group",
    out: Annotated[
        Path | None,
        _options.output(
            "--out",
            help="A folder for the results as JSON, and for judges' runs. Default: judges' runs "
            "are under runs/, with their results.",
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
    with watching() as watch:
        measured = measure_classifiers(
            SetChoice(data=data, second=second, trained_on=trained_on or ()),
            classifiers=classifier or (),
            judges=[make_classify_spec(load_card(name), protocol) for name in judge or ()],
            out=out,
            budget=Budget(max_usd, max_requests),
            watch=watch,
        )
    keep_sets(measured, out)
    _console.show(measured, sets_record, lambda its: sets_view(its, all_scenarios=by == "scenario"))
    _console.exit_if(any(each.n_failed for each in measured))
