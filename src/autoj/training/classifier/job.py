"""A training of a scenario classifier before it begins: its recipe, and the queries it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autoj.scenarios.seeds import seed_files
from autoj.training.classifier.queries import ScenarioQueries, read_scenario_queries
from autoj.training.classifier.recipe import (
    ClassifierRecipe,
    is_classifier_recipe,
    read_classifier_recipe,
    shipped_recipe,
)

SHIPPED_RECIPE = Path("classifier")
"""Stands for the shipped classifier's recipe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierJob:
    """A recipe with the queries to train on."""

    recipe: ClassifierRecipe
    queries: ScenarioQueries


def trains_classifier(recipe: Path) -> bool:
    """True where a recipe is a scenario classifier's, and not a judge's."""
    return recipe == SHIPPED_RECIPE or is_classifier_recipe(recipe)


def read_classifier_job(
    recipe: Path,
    data: Sequence[Path] = (),
    tier: Literal["fast", "best"] | None = None,
) -> ClassifierJob:
    """Read a recipe and what it trains on.

    Args:
        recipe: `SHIPPED_RECIPE`, or a file.
        data: files of queries with scenarios; none takes the seed queries of the package alone.
        tier: another tier than the recipe's.

    Raises:
        DataError: the recipe or a data file is wrong.
    """
    read = shipped_recipe() if recipe == SHIPPED_RECIPE else read_classifier_recipe(recipe)
    if tier is not None:
        read = read.model_copy(update={"tier": tier})
    seeds = seed_files() if read.with_seeds or not data else ()
    return ClassifierJob(recipe=read, queries=read_scenario_queries([*seeds, *data]))
