"""`autoj train`: train a judge by a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from autoj.cli import _console, _options
from autoj.cli.train_classifier import names_classifier, run_classifier_training
from autoj.errors import ConfigError
from autoj.training.judge.estimate import Estimated
from autoj.training.judge.recipe import read_recipe
from autoj.training.judge.train import Report, TrainingJob, plan
from autoj.training.judge.train import train as run_training

__all__ = ["train"]

_GIB = 1 << 30


def train(
    recipe: Annotated[
        Path,
        typer.Argument(
            help="A recipe (recipes/embedded.yaml is one), or the word classifier for the "
            "shipped scenario classifier's."
        ),
    ],
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data",
            help="A file to train on; say it once per file.",
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
            help="Say what it will take, and do not train.",
            rich_help_panel=_options.SPENDING,
        ),
    ] = False,
    skip_bad_rows: Annotated[
        bool,
        typer.Option(
            "--skip-bad-rows",
            help="Leave out rows that cannot be used.",
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
    """Train a judge on judgments, labels or ratings; it is a judge at once: --judge OUT.

    Killed at any moment, the same command goes on from the last checkpoint.

    Example: autoj train recipes/embedded.yaml --data pairs.jsonl --validation held-out.jsonl
    --out judges/mine
    """
    if names_classifier(recipe):
        run_classifier_training(recipe, data, out, tier, show_plan)
        return
    if not data:
        raise ConfigError("give --data: what to train on")
    if not show_plan and out is None:
        raise ConfigError("give --out: the folder of the judge", hint="Or --plan, to look ahead.")
    job = TrainingJob(
        recipe=read_recipe(recipe),
        data=tuple(data),
        validation=validation,
        budget_tokens=budget_tokens,
        lenient=skip_bad_rows,
    )
    if show_plan:
        with _console.watching() as watch:
            estimated = plan(job, watch.progress)
        _console.print_result(_plan_table(estimated))
        return
    assert out is not None
    with _console.watching() as watch:
        report = run_training(job, out, watch.progress, watch.message)
    _announce(report)


def _plan_table(estimated: Estimated) -> Table:
    table = Table(title="What training will take", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("updates", f"{estimated.n_steps:,}")
    table.add_row("samples", f"{estimated.n_samples:,}")
    table.add_row("tokens", f"{estimated.n_tokens:,}")
    table.add_row("weights", f"{estimated.n_weights:,}")
    table.add_row("of them trained", f"{estimated.n_trained:,}")
    table.add_row("memory, at most about", f"{estimated.memory_bytes / _GIB:.1f} GiB")
    table.add_row("memory that is free", f"{estimated.available_bytes / _GIB:.1f} GiB")
    if estimated.tokens_per_second is not None and estimated.hours is not None:
        table.add_row("pace here", f"{estimated.tokens_per_second:,.0f} tokens/s")
        table.add_row("time here", _duration(estimated.hours))
    return table


def _duration(hours: float) -> str:
    return f"{hours:.1f} h" if hours >= 2 else f"{hours * 60:.0f} min"


def _announce(report: Report) -> None:
    if report.n_steps is not None:
        figures = ", ".join(f"{name} {value:.4g}" for name, value in sorted(report.best.items()))
        _console.print_message(f"{report.n_steps:,} updates" + (f"; {figures}" if figures else ""))
        _console.print_message(
            f"the judge is in {report.folder}: autoj judge … --judge {report.folder}"
        )
