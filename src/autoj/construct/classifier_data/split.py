"""The queries whose scenario is right, in two parts: to train on and to test on (Appendix B).

```
train.jsonl           the larger part of each scenario's queries
test.jsonl            the others
test_reviewed.jsonl   those of them that are real queries, and no teacher's
```
No query stands in both parts, by its letters and digits.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from autoj.construct.classifier_data.recipe import BY_SEEDS
from autoj.construct.review.answers import Review, is_guessed
from autoj.construct.stages import Dropped, Outcome, native_row, replaced_files
from autoj.construct.teacher import drawn_by
from autoj.jsonl import encode
from autoj.records import Case
from autoj.scenarios.seeds import query_digest

TRAIN, TEST, TEST_REVIEWED = "train.jsonl", "test.jsonl", "test_reviewed.jsonl"
_FEWEST = 3
"""A scenario with fewer queries has none to test on."""


def right_queries(
    seeds: Iterable[Case], named: Iterable[Case], reviews: Mapping[str, Review]
) -> Iterator[Outcome]:
    """The queries whose scenario is right, each once; what a person said goes before a seed.

    Args:
        seeds: the seed queries.
        named: the real queries as the first model named them, before any correction; those that
            stated their scenario themselves are right.
        reviews: a person's answers, by the query's digest.

    Yields:
        The queries with their scenario, and the others with the reason: not reviewed, dropped in
        the review, or the same query.
    """
    seen: set[str] = set()
    for case in (*named, *seeds):
        outcome = _reviewed(case, reviews) if is_guessed(case) else case
        if isinstance(outcome, Case) and outcome.cluster in seen:
            outcome = Dropped(id=case.id, reason="same query", case=case)
        if isinstance(outcome, Case):
            seen.add(outcome.cluster)
        yield outcome


def _reviewed(case: Case, reviews: Mapping[str, Review]) -> Outcome:
    """A guessed query by a person's answer."""
    review = reviews.get(query_digest(case.query))
    if review is not None and review.scenario is not None:
        meta = {"scenario_by": "review", "guessed": review.guessed}
        return replace(case, scenario=review.scenario, meta=meta)
    is_dropped = review is not None and review.answer == "dropped"
    reason = "dropped in the review" if is_dropped else "not reviewed"
    return Dropped(id=case.id, reason=reason, case=case)


def write_parts(
    cases: Iterable[Case], folder: Path, *, test_share: float, seed: int
) -> dict[str, int]:
    """Divides the queries of each scenario, and writes the parts.

    Args:
        cases: queries with their scenarios, no query twice.
        folder: the folder of the files.
        test_share: the share of each scenario's queries that is for testing, 0-1.
        seed: the seed of the draw; a query's part follows from it and the scenario's queries.

    Returns:
        The number of rows of each file.

    Raises:
        StorageFull: the disk is full.
    """
    rows = list(cases)
    tested = _tested(rows, test_share, seed)
    parts = {
        TRAIN: [case for case in rows if case.id not in tested],
        TEST: [case for case in rows if case.id in tested],
        TEST_REVIEWED: [case for case in rows if case.id in tested and case.source != BY_SEEDS],
    }
    with replaced_files(folder, list(parts)) as streams:
        for stream, its in zip(streams, parts.values(), strict=True):
            for case in its:
                stream.write(encode(_row(case)))
    return {name: len(its) for name, its in parts.items()}


def _tested(rows: Iterable[Case], share: float, seed: int) -> set[str]:
    """The ids of the queries to test on: of each scenario its share, rounded."""
    grouped: dict[str, list[Case]] = defaultdict(list)
    for case in rows:
        grouped[str(case.scenario)].append(case)
    tested: set[str] = set()
    for its in grouped.values():
        its.sort(key=lambda case: drawn_by(seed, f"test {case.cluster}"))
        n = max(1, round(share * len(its))) if len(its) >= _FEWEST else 0
        tested |= {case.id for case in its[:n]}
    return tested


def _row(case: Case) -> dict[str, Any]:
    return native_row(replace(case, responses=()))
