"""A stand-in for the embedded scenario classifier: it goes by the words of a query."""

from __future__ import annotations

from collections.abc import Sequence

from autoj.scenarios.classifier import ScenarioGuess

_WORDS = {"plan": "planning", "code": "code_generation", "sum": "math_reasoning"}


class WordClassifier:
    """Knows three words; all else is `chitchat`, and it is less sure of that."""

    def __init__(self, name: str = "fast", digest: str = "sha256:1", **words: str) -> None:
        self.name = name
        self.digest = digest
        self.labels = (*_WORDS.values(), "chitchat", *words.values())
        self.asked: list[list[str]] = []
        self._words = {**_WORDS, **words}

    def classify(self, queries: Sequence[str]) -> list[ScenarioGuess]:
        self.asked.append(list(queries))
        return [self._guess(query) for query in queries]

    def _guess(self, query: str) -> ScenarioGuess:
        found = next((name for word, name in self._words.items() if word in query.lower()), None)
        return ScenarioGuess(
            scenario=found or "chitchat",
            probability=0.9 if found else 0.3,
            alternatives=(("others", 0.05), ("ranking", 0.03), ("roleplay", 0.01), ("open", 0.01)),
        )
