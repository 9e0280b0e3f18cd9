"""A training of a scenario classifier before it begins: its recipe, and the queries it names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autoj.runs.watch import Watch
from autoj.scenarios.seeds import seed_files
from autoj.training.classifier.queries import ScenarioQueries, read_scenario_queries
from autoj.training.classifier.recipe import (
    ClassifierRecipe,
    is_classifier_recipe,
    read_classifier_recipe,
    shipped_recipe,
)
from autoj.training.classifier.train import check_packages, train_classifier

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierTrainer:
    """Trains classifiers of one recipe on the data that it is given."""

    recipe: Path
    """`SHIPPED_RECIPE`, or a file."""
    title: str
    """The classifiers' title, in place of the shipped recipe's; a file keeps its own."""
    tier: Literal["fast", "best"] = "fast"
    shipped_seeds: bool = False
    """True trains on the seed queries of the package besides."""

    def check(self) -> None:
        """Checks the recipe and the packages.

        Raises:
            DataError: the recipe is wrong.
            MissingExtra: packages are not installed.
        """
        self._read()
        check_packages(self.tier)

    def train(self, data: Sequence[Path], out: Path, watch: Watch) -> Mapping[str, float]:
        """Trains on files of queries with scenarios.

        Args:
            data: the files.
            out: the classifier's folder.
            watch: told each stage.

        Returns:
            Its figures on held-out queries.

        Raises:
            DataError: the data do not suffice.
            MissingExtra: packages are not installed.
        """
        seeds = seed_files() if self.shipped_seeds else ()
        queries = read_scenario_queries([*seeds, *data])
        return train_classifier(self._read(), queries, out, watch).figures

    def _read(self) -> ClassifierRecipe:
        if self.recipe != SHIPPED_RECIPE:
            return read_classifier_recipe(self.recipe).model_copy(update={"tier": self.tier})
        # The shipped classifiers' licence is that of their own data.
        own = {"tier": self.tier, "title": self.title, "licence": None}
        return shipped_recipe().model_copy(update=own)
