"""The share of guessed scenarios that a person found right, with intervals over queries."""

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autoj.construct.review.answers import Review, read_reviews
from autoj.metrics.base import proportion_of
from autoj.records import Estimate


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
