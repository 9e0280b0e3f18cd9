"""`autoj train classifier`: train the embedded scenario classifier by a recipe."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

from rich.table import Table

from autoj.cli import _console
from autoj.errors import ConfigError
from autoj.scenarios.seeds import seed_files
from autoj.training.classifier.queries import ScenarioQueries, read_scenario_queries
from autoj.training.classifier.recipe import (
    ClassifierRecipe,
    is_classifier_recipe,
    read_classifier_recipe,
    shipped_recipe,
)
from autoj.training.classifier.train import ClassifierReport, train_classifier

__all__ = ["names_classifier", "run_classifier_training"]


def names_classifier(recipe: Path) -> bool:
    """Whether what the user named trains a classifier: that word, or a recipe of that kind."""
    return recipe == Path("classifier") or is_classifier_recipe(recipe)


def run_classifier_training(
    recipe: Path,
    data: list[Path] | None,
    out: Path | None,
    tier: Literal["fast", "best"] | None,
    show_plan: bool,
) -> None:
    """Train, or with `show_plan` only say on what.

    Args:
        recipe: `classifier` for ours, or a file.
        data: files of queries with scenarios; None takes the seed queries of the package alone.
        out: the classifier's folder.
        tier: another tier than the recipe's.
        show_plan: whether to stop after the plan.

    Raises:
        ConfigError: there is no `out`.
        DataError: the recipe or a data file is wrong.
    """
    if not show_plan and out is None:
        raise ConfigError(
            "give --out: the folder of the classifier", hint="Or --plan, to look ahead."
        )
    read = shipped_recipe() if recipe == Path("classifier") else read_classifier_recipe(recipe)
    if tier is not None:
        read = read.model_copy(update={"tier": tier})
    seeds = seed_files() if read.with_seeds or not data else ()
    queries = read_scenario_queries([*seeds, *(data or ())])
    _console.print_result(_plan_table(read, queries))
    if out is None or show_plan:
        return
    report = train_classifier(read, queries, out, _console.print_message)
    _console.print_result(_report_table(report))
    _console.print_message(f"the classifier is in {report.folder}: --classifier {report.folder}")


def _plan_table(recipe: ClassifierRecipe, queries: ScenarioQueries) -> Table:
    counts = Counter(queries.scenarios)
    rarest, n_rarest = min(counts.items(), key=lambda item: item[1])
    table = Table(title="What is trained", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("tier", recipe.tier)
    table.add_row("queries", f"{len(queries.queries):,}")
    table.add_row("scenarios", f"{len(counts)}")
    table.add_row("queries of the rarest", f"{n_rarest} ({rarest})")
    table.add_row("features", ", ".join(recipe.features))
    return table


def _report_table(report: ClassifierReport) -> Table:
    table = Table(title=f"On {report.n_held_out:,} held-out queries", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("queries", f"{report.n_queries:,}")
    table.add_row("that are no near-duplicates", f"{report.n_clusters:,}")
    for name in ("accuracy", "macro_f1", "top_3"):
        table.add_row(name.replace("_", " "), f"{report.figures[name] * 100:.1f} %")
    table.add_row("mean probability", f"{report.figures['mean_probability'] * 100:.1f} %")
    table.add_row("log loss", f"{report.figures['log_loss']:.3f}")
    table.add_row("size", f"{report.n_bytes / 1e6:.1f} MB")
    return table
