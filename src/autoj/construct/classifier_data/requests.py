"""Requests for seed queries: a scenario, and queries of it, so that others are written."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from autoj.construct.classifier_data.recipe import MOST_AT_ONCE, ClassifierDataRecipe, SeedQueries
from autoj.construct.teacher import drawn_by
from autoj.datasets import open_queries
from autoj.records import Case, Response, normalise_query
from autoj.scenarios import Library, load_library
from autoj.scenarios.seeds import seed_files

_MOST_SHOWN = 12
"""The most queries that a request shows, those of ours included."""
_SHOWN_CHARACTERS = 400
_LANGUAGES = {"en": "English", "zh": "Chinese"}


class SeedRequests:
    """Makes the requests about each scenario.

    Args:
        recipe: states the scenarios, the language and the seed.
        seeds: states the numbers of queries and of examples.

    Raises:
        UnknownComponent: the recipe names an unknown scenario.
        DataError: the user's scenarios are invalid.
    """

    def __init__(self, recipe: ClassifierDataRecipe, seeds: SeedQueries) -> None:
        self._recipe, self._seeds = recipe, seeds
        self._library = wanted_library(recipe)
        self.names = wanted_names(recipe)
        """The scenarios, in the library's order."""
        self._examples = _examples_of(self.names, recipe.language)

    @property
    def shown(self) -> set[str]:
        """The queries of ours that requests may show, normalised."""
        return {normalise_query(query) for its in self._examples.values() for query in its}

    def first(self) -> Iterator[Case]:
        """The requests of the first round."""
        for name in self.names:
            yield self.about(name, self._seeds.per_scenario, 1, ())

    def about(self, name: str, n_lacking: int, number: int, written: Sequence[str]) -> Case:
        """A request for queries of a scenario.

        Args:
            name: the scenario.
            n_lacking: queries that it lacks; no more than 10 are asked for.
            number: the number of the round.
            written: queries that were written before.
        """
        brief = (
            f"{name}: {self._library.find(name).description}\n"
            f"Number of requests to write: {min(n_lacking, MOST_AT_ONCE)}, batch {number}\n"
            f"Language: {_LANGUAGES[self._recipe.language]}"
        )
        # Others are shown each time, as the same request would be answered in the same way.
        ours = self._drawn(self._examples[name], number)[: self._seeds.examples]
        shown = (*ours, *self._drawn(written, number))[:_MOST_SHOWN]
        there = "\n".join(f"<query>{_short(query)}</query>" for query in shown) or "(none yet)"
        return Case(
            id=f"{name}#{number}",
            query=brief,
            responses=(Response(text=there),),
            cluster=normalise_query(brief),
            scenario=name,
            language=self._recipe.language,
        )

    def _drawn(self, queries: Sequence[str], number: int) -> list[str]:
        """Queries in an order that follows from the seed and the round."""
        return sorted(queries, key=lambda query: drawn_by(self._recipe.seed, f"{number} {query}"))


def wanted_library(recipe: ClassifierDataRecipe) -> Library:
    """The scenarios that a recipe may name.

    Raises:
        DataError: the user's own are invalid.
    """
    return load_library(None if recipe.scenarios is None else Path(recipe.scenarios))


def wanted_names(recipe: ClassifierDataRecipe) -> tuple[str, ...]:
    """The scenarios that the classifier shall know.

    Raises:
        UnknownComponent: the recipe names an unknown one.
    """
    library = wanted_library(recipe)
    return tuple(library.find(name).name for name in recipe.names) or library.names()


def _examples_of(names: Sequence[str], language: str) -> dict[str, list[str]]:
    """Queries of ours for each scenario in a language; none for the user's own scenarios."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for path in seed_files():
        for _, case in open_queries(path).read():
            if isinstance(case, Case) and case.scenario in found and _is_of(case, language):
                found[case.scenario].append(case.query)
    return found


def _is_of(case: Case, language: str) -> bool:
    """True where a query of ours is in a language: the Chinese ones have Chinese characters."""
    has_chinese = any("\u4e00" <= character <= "\u9fff" for character in case.query)
    return has_chinese == (language == "zh")


def _short(query: str) -> str:
    return query if len(query) <= _SHOWN_CHARACTERS else f"{query[:_SHOWN_CHARACTERS]} …"
