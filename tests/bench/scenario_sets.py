"""Small sets of queries with their scenarios, and a classifier that goes by their first word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from autoj.bench.scenario_classifier.query_set import QuerySet, read_set
from autoj.datasets import open_queries
from autoj.jsonl import write_records
from autoj.scenarios.classifier import ScenarioGuess

WORDS = {"Plan": "planning", "Code": "code_generation", "Poem": "creative_writing"}
ROWS = (
    ("Plan a trip.", "planning"),
    ("Plan a party!", "planning"),
    ("plan a party", "planning"),
    ("Code a loop.", "code_generation"),
    ("Explain this code.", "explaining_code"),
    ("Poem about rain.", "creative_writing"),
    ("Hello there.", "default"),
    ("Be rude to me.", "rejecting"),
)
"""Seven queries; the third is the second. The early names are those of the release."""


class FirstWord:
    """Knows three words and is sure of them; all else is `others`, as the release calls it."""

    def __init__(
        self, name: str = "fast", words: Mapping[str, str] = WORDS, rest: str = "default"
    ) -> None:
        self.name = name
        self.digest = "sha256:0123456789abcdef0123"
        self.labels = (*words.values(), rest)
        self.batches: list[int] = []
        self._words = words
        self._rest = rest

    def classify(self, queries: Sequence[str]) -> list[ScenarioGuess]:
        self.batches.append(len(queries))
        return [self._guess(query.split()[0].capitalize()) for query in queries]

    def _guess(self, word: str) -> ScenarioGuess:
        known = word in self._words
        return ScenarioGuess(
            scenario=self._words[word] if known else self._rest,
            probability=0.9 if known else 0.4,
            alternatives=(("explaining_code", 0.05), ("chitchat", 0.02)),
        )


def write_set(path: Path, rows: Sequence[tuple[str, str]] = ROWS) -> Path:
    """A file in the release's layout."""
    write_records(
        path,
        ({"category": name, "instruction": query, "input": ""} for query, name in rows),
    )
    return path


def query_set(path: Path, rows: Sequence[tuple[str, str]] = ROWS) -> QuerySet:
    """The same, read."""
    return read_set(open_queries(write_set(path, rows)), path.name)
