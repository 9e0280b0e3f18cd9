"""`autoj train`: train a judge by a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from autoj.cli import _console, _options
from autoj.cli._progress import watching
from autoj.cli.train_classifier import run_classifier_training
from autoj.errors import ConfigError
from autoj.reports.train import plan_view, report_lines
from autoj.training.classifier.job import trains_classifier
from autoj.training.judge.loading import TrainingJob
from autoj.training.judge.recipe import read_recipe
from autoj.training.judge.rows import training_file
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
        typer.Option(
            "--data",
            help="A file to train on, or the folder train/ of autoj construct; say it once per "
            "file.",
            rich_help_panel=_options.TRAINED_ON,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the judge and its checkpoints.", rich_help_panel=_options.OUTPUT
        ),
    ] = None,
    validation: Annotated[
        Path | None,
        typer.Option(
            help="A file to look at while training: what is best on it is kept.",
            rich_help_panel=_options.TRAINED_ON,
        ),
    ] = None,
    budget_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Train on about so many tokens. Default: the recipe's epochs.",
            rich_help_panel=_options.SPENDING,
        ),
    ] = None,
    show_plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Estimate what it will take from 200 samples, and do not train.",
            rich_help_panel=_options.SPENDING,
        ),
    ] = False,
    skip_bad_rows: Annotated[
        bool,
        typer.Option(
            "--skip-bad-rows",
            help="Leave out rows that cannot be read, and count them.",
            rich_help_panel=_options.TRAINED_ON,
        ),
    ] = False,
    tier: Annotated[
        Literal["fast", "best"] | None,
        typer.Option(
            help="Scenario classifiers: another tier than the recipe's.",
            rich_help_panel=_options.ASKING,
        ),
    ] = None,
) -> None:
    """Train a judge on labelled pairs, judgments or ratings; it is a judge at once: --judge OUT.

    Killed at any moment, the same command goes on from the last checkpoint.

    Example: autoj train recipes/pairs.yaml --data pairs.jsonl --out judges/mine
    """
    if trains_classifier(recipe):
        run_classifier_training(recipe, data, out, tier, show_plan)
        return
    if not data:
        raise ConfigError("give --data: what to train on")
    if not show_plan and out is None:
        raise ConfigError("give --out: the folder of the judge", hint="Or --plan, to look ahead.")
    job = TrainingJob(
        recipe=read_recipe(recipe),
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
