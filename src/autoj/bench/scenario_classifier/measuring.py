"""All that is said of one set: the figures of classifiers, beside what they are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from autoj.bench.scenario_classifier.comparison import Comparison, compare_all
from autoj.bench.scenario_classifier.evaluate import check_labels, dropped_names, evaluate
from autoj.bench.scenario_classifier.guesses import (
    TRIVIAL_CLASSIFIERS,
    Classified,
    classify_trivially,
)
from autoj.bench.scenario_classifier.published import PublishedClassifier, published_on
from autoj.bench.scenario_classifier.query_set import QuerySet
from autoj.metrics.result import Result

__all__ = ["Measured", "measure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was found on a set."""

    queries: QuerySet
    results: Sequence[Result]
    """One a classifier."""
    trivial: Sequence[Result]
    """Of classifiers that read nothing."""
    published: Sequence[PublishedClassifier]
    """What others published about the same rows."""
    differences: Sequence[Comparison]
    """Of all pairs of classifiers."""

    def as_json(self) -> dict[str, Any]:
        """The same as plain values, the queries left out."""
        return {
            "name": self.queries.name,
            "bench": self.queries.bench,
            "n_rows": self.queries.n_rows,
            "n_cases": len(self.queries.cases),
            "seen": [asdict(seen) for seen in self.queries.seen],
            "results": [asdict(result) for result in self.results],
            "trivial": [asdict(result) for result in self.trivial],
            "published": [asdict(row) for row in self.published],
            "differences": [asdict(comparison) for comparison in self.differences],
        }


def measure(found: QuerySet, classified: Sequence[Classified]) -> Measured:
    """The figures of some classifiers on a set, all on the same rows.

    Args:
        found: the set.
        classified: each classifier's guesses at it.

    Raises:
        ConfigError: a classifier knows none of the set's scenarios.
    """
    for each in classified:
        check_labels(found, each)
    dropped = dropped_names(found, classified)
    trivial = [classify_trivially(name, found.cases) for name in TRIVIAL_CLASSIFIERS]
    return Measured(
        queries=found,
        results=[evaluate(found, each, dropped) for each in classified],
        trivial=[evaluate(found, each, dropped) for each in trivial],
        published=published_on(found),
        differences=compare_all(found, classified, dropped),
    )
