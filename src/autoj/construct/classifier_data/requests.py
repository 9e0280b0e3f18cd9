"""Requests for seed queries, and a teacher's replies to them, taken apart.

A request names a scenario and shows queries of it, so that others are written.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autoj.construct.classifier_data.recipe import MOST_AT_ONCE, ClassifierDataRecipe, SeedQueries
from autoj.construct.teacher import drawn_by, fault_of
from autoj.datasets import open_queries
from autoj.protocols.scenario_seeds import written_queries
from autoj.records import Case, Failure, Judgment, Response, normalise_query
from autoj.scenarios import Library, load_library
from autoj.scenarios.seeds import seed_files

_MOST_SHOWN = 12
"""The most queries that a request shows, those of ours included."""
_SHOWN_CHARACTERS = 400
_LANGUAGES = {"en": "English", "zh": "Chinese"}
_LONGEST_REPLY = 40_000
# "[Paste the article here]", "<your code>", "[text]", "【在此粘贴】": not complete in itself.
_PLACEHOLDER = re.compile(
    r"[\[<{]\s*(?:insert|paste|enter|your)\b[^\]>}\n]{0,60}[\]>}]"
    r"|[\[<{][^\]>}\n]{0,60}\bhere\s*[\]>}]"
    r"|(?<![\w.)\]])\[(?:the )?(?:text|article|passage|paragraph|link|url|topic|code|document)\]"
    r"|[\[【{<][^\]】}>\n]{0,20}(?:此处|在此|你的|插入|粘贴)[^\]】}>\n]{0,20}[\]】}>]",
    re.IGNORECASE,
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundQuery:
    """A query in a reply, or the reason for which there is none."""

    query: str | None = None
    reason: str | None = None
    """None for a query that may be kept."""
    detail: str | None = None


def queries_in(outcome: Judgment | Failure | None, case: Case) -> Iterator[FoundQuery]:
    """Takes a reply apart.

    Args:
        outcome: the teacher's reply.
        case: the request that it replies to.

    Yields:
        Its queries, those that are not complete in themselves with the reason; or the reason for
        which it has none.
    """
    fault = fault_of(outcome, case, _LONGEST_REPLY)
    queries: list[str] = []
    if isinstance(outcome, Judgment):
        queries = written_queries(outcome.completion.text)
    if fault is not None and fault[0] == "cut off":
        # All but the last one are whole.
        queries = queries[:-1]
    elif fault is not None:
        reason = "no query is written" if fault[0] == "no readable verdict" else fault[0]
        yield FoundQuery(reason=reason, detail=fault[1])
        return
    if not queries:
        yield FoundQuery(reason="cut off", detail=None if fault is None else fault[1])
    for query in queries:
        if (found := _PLACEHOLDER.search(query)) is not None:
            yield FoundQuery(query=query, reason="placeholder", detail=found[0])
        else:
            yield FoundQuery(query=query)


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
