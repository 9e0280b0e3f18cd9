"""Answers of a person who checked guessed scenarios, and the share that they found right.

They are `reviews.jsonl` in the stage's folder. A line is an answer; the last one about a query
counts. An answer is about a query, so it holds for all rows of the stage that ask the same.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from autoj.jsonl import encode, read_records
from autoj.metrics.base import proportion_of
from autoj.records import Case, Estimate
from autoj.scenarios.seeds import query_digest

REVIEWS = "reviews.jsonl"
Answer: TypeAlias = Literal["right", "renamed", "dropped", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """An answer: a line of `reviews.jsonl`."""

    id: str
    """The row that was looked at."""
    query_sha256: str
    """The `query_digest` of its query."""
    guessed: str
    """The scenario that was guessed."""
    answer: Answer
    """"skipped" says nothing of the guess."""
    scenario: str | None = None
    """The right one; None where the query was dropped or skipped."""


def is_guessed(case: Case) -> bool:
    """True where the stage named a row's scenario; False where the row stated it itself."""
    return "scenario_by" in case.meta


def read_reviews(folder: Path) -> dict[str, Review]:
    """The last answer about each query, by its digest; empty where nobody reviewed the stage.

    Raises:
        DataError: the file is damaged.
    """
    return {review.query_sha256: review for review in read_records(folder / REVIEWS, Review)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrections:
    """The changes that follow from answers."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Other scenarios than the guessed ones, by the query's digest."""
    dropped: frozenset[str] = frozenset()
    """The digests of queries that were dropped."""

    @property
    def digest(self) -> str | None:
        """The sha256 of the changes; None where there are none."""
        if not self.names and not self.dropped:
            return None
        said = [sorted(self.names.items()), sorted(self.dropped)]
        return hashlib.sha256(encode(said)).hexdigest()

    def apply(self, case: Case) -> Case | None:
        """A row of the stage as it goes on; None where it was dropped."""
        if not (self.names or self.dropped) or not is_guessed(case):
            return case
        query = query_digest(case.query)
        if query in self.dropped:
            return None
        if query not in self.names:
            return case
        # The probability was that of another name.
        meta = {key: value for key, value in case.meta.items() if key != "scenario_probability"}
        return replace(case, scenario=self.names[query], meta={**meta, "scenario_by": "review"})


def answers_digest(folder: Path) -> str | None:
    """The sha256 of all that a person has said of a stage's guesses; None where it is nothing.

    Other than `Corrections.digest`, it changes where a guess was found right, too.

    Raises:
        DataError: the file is damaged.
    """
    said = [
        (digest, review.answer, review.scenario)
        for digest, review in sorted(read_reviews(folder).items())
        if review.answer != "skipped"
    ]
    return hashlib.sha256(encode(said)).hexdigest() if said else None


def read_corrections(folder: Path) -> Corrections:
    """The changes that follow from the answers in a stage's folder.

    Raises:
        DataError: the file is damaged.
    """
    reviews = read_reviews(folder)
    return Corrections(
        names={
            digest: review.scenario
            for digest, review in reviews.items()
            if review.answer == "renamed" and review.scenario is not None
        },
        dropped=frozenset(
            digest for digest, review in reviews.items() if review.answer == "dropped"
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedScenario:
    """The answers about one guessed scenario."""

    scenario: str
    right: Estimate
    """The share of right guesses, of those that got a name."""
    taken_for: tuple[tuple[str, int], ...]
    """The scenarios that it should have been, the most frequent first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCounts:
    """The answers about a stage."""

    n_right: int
    n_renamed: int
    n_dropped: int
    n_skipped: int
    right: Estimate
    """The share of right guesses among the queries that got a name; dropped and skipped ones have
    none."""
    scenarios: tuple[ReviewedScenario, ...]
    """By guessed scenario, first those that are surely bad: by the upper end of the interval."""

    @property
    def n_reviewed(self) -> int:
        """Queries with an answer."""
        return self.n_right + self.n_renamed + self.n_dropped


def count_reviews(folder: Path) -> ReviewCounts | None:
    """Counts the answers about a stage; None where there is none.

    Raises:
        DataError: the file of answers is damaged.
    """
    reviews = read_reviews(folder).values()
    if not reviews:
        return None
    counts = Counter(review.answer for review in reviews)
    grouped: dict[str, list[Review]] = defaultdict(list)
    for review in reviews:
        if review.scenario is not None:
            grouped[review.guessed].append(review)
    scenarios = [
        ReviewedScenario(scenario=name, right=_right(its), taken_for=_taken_for(its))
        for name, its in grouped.items()
    ]
    scenarios.sort(key=lambda one: (one.right.high or 0.0, one.scenario))
    return ReviewCounts(
        n_right=counts["right"],
        n_renamed=counts["renamed"],
        n_dropped=counts["dropped"],
        n_skipped=counts["skipped"],
        right=_right([review for its in grouped.values() for review in its]),
        scenarios=tuple(scenarios),
    )


def _right(reviews: Collection[Review]) -> Estimate:
    values = np.array([review.answer == "right" for review in reviews], dtype=np.float64)
    # Each answer is about another query.
    return proportion_of("right", values, np.arange(len(values)))


def _taken_for(reviews: Collection[Review]) -> tuple[tuple[str, int], ...]:
    others = Counter(
        review.scenario
        for review in reviews
        if review.answer == "renamed" and review.scenario is not None
    )
    return tuple(sorted(others.items(), key=lambda item: (-item[1], item[0])))
