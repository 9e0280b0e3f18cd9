"""Recipes of classifier data: YAML files of `kind: classifier-data`."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from autoj.construct.folder import PER_SCENARIO
from autoj.construct.recipe import Collect, ConstructRecipe, Deduplicate, PairFile
from autoj.yaml_files import read_fields

STAGES = ("seeds", "queries", "classify", "split", "train")
"""The stages, in the only order that makes sense."""
BY_SEEDS = "seeds"
MOST_AT_ONCE = 10
"""The most queries that one request asks for: in longer lists they grow alike."""


class _DataPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SeedQueries(_DataPart):
    """The first queries of each scenario (Appendix B, step 1)."""

    teacher: str | None = None
    """A judge's name, card, or `backend:model`, that writes them; None takes those of files."""
    per_scenario: int = Field(10, ge=2, le=1000)
    """Queries of each scenario that the teacher writes."""
    data: tuple[str, ...] = ()
    """Files of queries with their scenarios, which are taken besides."""
    examples: int = Field(3, ge=0, le=20)
    """Queries of ours that the teacher is shown for a scenario, where we have some; it must write
    others."""
    rounds: int = Field(3, ge=1, le=20)
    """The most requests about a scenario, until it has its queries."""
    max_tokens: int | None = Field(None, ge=16)
    """The most tokens of a reply; None takes the card's."""
    temperature: float | None = Field(None, ge=0, le=2)
    """The sampling temperature; None takes the card's."""

    @model_validator(mode="after")
    def _has_any(self) -> Self:
        if self.teacher is None and not self.data:
            raise ValueError("name a teacher that writes queries, or data: files that hold some")
        if self.teacher is not None and self.per_scenario > MOST_AT_ONCE * self.rounds:
            raise ValueError(
                f"a request asks for {MOST_AT_ONCE} queries at most: {self.per_scenario} need more "
                f"than {self.rounds} rounds"
            )
        return self


class ClassifierDataRecipe(_DataPart):
    """A classifier's data: where queries come from, and what is done with them."""

    kind: Literal["classifier-data"]
    title: str
    seed: int = 0
    """The seed of all draws."""
    scenarios: str | None = None
    """A folder with scenarios of the user's own; None uses ours."""
    names: tuple[str, ...] = ()
    """The scenarios that the classifier shall know; empty takes all."""
    language: Literal["en", "zh"] = "en"
    """The language of the seed queries."""
    seeds: SeedQueries | None = None
    """The first queries of each scenario; None where another classifier is the first model."""
    queries: tuple[PairFile, ...] = Field(min_length=1)
    """Files of real queries, or of rows that have some, as `autoj classify` reads them."""
    languages: tuple[str, ...] = ()
    """ISO 639-1 codes of the real queries to keep, by `py3langid`; empty keeps all."""
    max_characters: int = Field(24_000, ge=100)
    """The most characters of a query; longer ones are dropped."""
    threshold: float | None = Field(0.8, gt=0, le=1)
    """The least similarity of near duplicates, as of the stage deduplicate; None drops exact ones
    alone."""
    against: tuple[str, ...] = ()
    """Test files whose queries must not be learnt from."""
    first: str = BY_SEEDS
    """The first model, which names the real queries: "seeds" trains it on the seed queries, else
    fast, best, or a classifier's folder."""
    per_scenario: int = Field(PER_SCENARIO, ge=1)
    """Names of each scenario that a person checks (Appendix B, step 2)."""
    test_share: float = Field(0.2, gt=0, lt=1)
    """The share of each scenario's queries that is kept for testing."""
    training: str = "classifier"
    """The recipe of the training: classifier for the shipped one, else a file."""
    tier: Literal["fast", "best"] = "fast"
    shipped_seeds: bool = False
    """True trains on the seed queries of this package besides."""
    compare: tuple[str, ...] = ("fast",)
    """Classifiers to measure beside the new one: fast, best, or folders."""

    @model_validator(mode="after")
    def _named_apart(self) -> Self:
        names = [source.called for source in self.queries]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"two files are called {twice[0]!r}: give one a name of its own")
        if self.seeds is None and self.first == BY_SEEDS:
            raise ValueError(
                "give seeds, which the first model learns from, or name it: first: fast"
            )
        if BY_SEEDS in names:
            raise ValueError(f"no file may be called {BY_SEEDS!r}, as the teacher's queries are")
        return self

    @property
    def stages(self) -> tuple[str, ...]:
        """The names of its stages, in order."""
        return STAGES if self.seeds is not None else STAGES[1:]

    @property
    def near(self) -> Deduplicate:
        """The filter of near duplicates."""
        return Deduplicate(stage="deduplicate", threshold=self.threshold, per_query=1)

    @property
    def collected(self) -> tuple[ConstructRecipe, Collect]:
        """The collection of the real queries, as `collecting.collect` reads it."""
        stage = Collect(
            stage="collect", languages=self.languages, max_characters=self.max_characters
        )
        recipe = ConstructRecipe(
            title=self.title,
            seed=self.seed,
            sources=self.queries,
            stages=(stage,),
            scenarios=self.scenarios,
        )
        return recipe, stage

    def record(self) -> dict[str, Any]:
        """The recipe as a construction's folder keeps it, with its stages."""
        stages = [{"stage": name} for name in self.stages]
        return {**self.model_dump(mode="json"), "stages": stages}


def read_classifier_data_recipe(path: Path) -> ClassifierDataRecipe:
    """Reads a recipe.

    Raises:
        DataError: the file is missing or is not a recipe; the message names line and field.
    """
    return read_fields(path, ClassifierDataRecipe, "recipe of classifier data")
