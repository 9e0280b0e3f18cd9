"""`autoj train`: train a judge by a recipe."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from autoj.cli import _console, _options
from autoj.cli._progress import watching
from autoj.cli.train_classifier import run_classifier_training
from autoj.errors import ConfigError
from autoj.reports.train import plan_view, report_lines, scale_view
from autoj.training.classifier.job import trains_classifier
from autoj.training.judge.loading import TrainingJob
from autoj.training.judge.recipe import read_recipe
from autoj.training.judge.rows import training_file
from autoj.training.judge.scale import plan_scale
from autoj.training.judge.train import plan
from autoj.training.judge.train import train as run_training


def train(
    recipe: Annotated[
        Path,
        typer.Argument(
            help="A recipe (recipes/pairs.yaml learns from pairs with labels), or the word "
            "classifier for the shipped scenario classifier's."
        ),
    ],
    data: Annotated[
        list[Path] | None,
        _options.trained_on(
            "--data",
            help="A file to train on, or the folder train/ of autoj construct; say it once per "
            "file.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        _options.output(help="The folder of the judge and its checkpoints."),
    ] = None,
    validation: Annotated[
        Path | None,
        _options.trained_on(help="A file to look at while training: what is best on it is kept."),
    ] = None,
    budget_tokens: Annotated[
        int | None,
        _options.spending(
            min=1, help="Train on about so many tokens. Default: the recipe's epochs."
        ),
    ] = None,
    show_plan: Annotated[
        bool,
        _options.spending(
            "--plan", help="Estimate what it will take from some samples, and do not train."
        ),
    ] = False,
    skip_bad_rows: Annotated[
        bool,
        _options.trained_on(
            "--skip-bad-rows", help="Leave out rows that cannot be read, and count them."
        ),
    ] = False,
    tier: Annotated[
        Literal["fast", "best"] | None,
        _options.asking(help="Scenario classifiers: another tier than the recipe's."),
    ] = None,
) -> None:
    """Train a judge on labelled pairs, judgments or ratings; it is a judge at once: --judge OUT.

    Killed at any moment, the same command goes on from the last checkpoint.

    Example: autoj train recipes/pairs.yaml --data pairs.jsonl --out judges/mine
    """
    if trains_classifier(recipe):
        run_classifier_training(recipe, data, out, tier, show_plan)
        return
    read = read_recipe(recipe)
    if show_plan and read.base.shape is not None:
        files = tuple(map(training_file, data or ()))
        _console.print_result(scale_view(plan_scale(read, files, lenient=skip_bad_rows)))
        return
    if not data:
        raise ConfigError("give --data: what to train on")
    if not show_plan and out is None:
        raise ConfigError("give --out: the folder of the judge", hint="Or --plan, to look ahead.")
    job = TrainingJob(
        recipe=read,
        data=tuple(map(training_file, data)),
        validation=validation,
        budget_tokens=budget_tokens,
        lenient=skip_bad_rows,
    )
    if show_plan:
        with watching() as watch:
            estimated = plan(job, watch)
        _console.print_result(plan_view(estimated))
        return
    assert out is not None
    with watching() as watch:
        report = run_training(job, out, watch)
    for line in report_lines(report):
        _console.print_message(line)
