"""`autoj construct classifier-data`: a scenario classifier's data, and the classifier."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.bench.scenario_classifier.measure import measure_on_unseen
from autoj.cli import _console, _options, _progress
from autoj.construct.classifier_data.estimate import estimate_classifier_data
from autoj.construct.classifier_data.pipeline import comparable, construct_classifier_data
from autoj.construct.classifier_data.recipe import read_classifier_data_recipe
from autoj.reports.construct_classifier_data import (
    classifier_data_estimate_view,
    classifier_data_record,
    classifier_data_view,
)
from autoj.runs.budget import Budget
from autoj.training.classifier.job import ClassifierTrainer


def classifier_data(
    recipe: Annotated[
        Path,
        typer.Argument(help="A recipe of classifier data, such as examples/classifier-data.yaml."),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", help="The data's folder.", rich_help_panel=_options.OUTPUT),
    ],
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Say what the teacher would cost, and do nothing.",
            rich_help_panel=_options.SPENDING,
        ),
    ] = False,
    as_reviewed: Annotated[
        bool,
        typer.Option(
            "--as-reviewed",
            help="Go on with the names that are reviewed so far, where others are still open.",
            rich_help_panel=_options.ASKING,
        ),
    ] = False,
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    as_json: _options.Json = False,
) -> None:
    """Make a scenario classifier's data: seeds by a teacher, your queries, your review; train it.

    It stops until you have reviewed the first model's names: autoj construct review FOLDER. The
    same command then goes on, as it does when it was killed.

    Example: autoj construct classifier-data examples/classifier-data.yaml --out data/names
    """
    wanted = read_classifier_data_recipe(recipe)
    if dry_run:
        _console.show(estimate_classifier_data(wanted), asdict, classifier_data_estimate_view)
        return
    trainer = ClassifierTrainer(
        recipe=Path(wanted.training),
        title=wanted.title,
        tier=wanted.tier,
        shipped_seeds=wanted.shipped_seeds,
    )
    budget = Budget(max_usd, max_requests)
    with _progress.watching() as watch:
        done = construct_classifier_data(
            wanted, out, trainer, budget=budget, watch=watch, as_reviewed=as_reviewed
        )
        names = [str(done.classifier), *comparable(wanted)]
        measured = measure_on_unseen(names, done.test, done.test_reviewed, watch=watch)
    _console.show(
        done,
        lambda its: classifier_data_record(its, measured),
        lambda its: classifier_data_view(its, measured),
    )
