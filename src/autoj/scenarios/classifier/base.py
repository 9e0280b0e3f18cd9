"""The contract of a scenario classifier: queries to guesses with probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioGuess:
    """A classifier's guess of a query's scenario."""

    scenario: str
    """A name of the taxonomy, or of the data that the classifier was trained on."""
    probability: float
    """The calibrated probability of that scenario, 0-1."""
    alternatives: tuple[tuple[str, float], ...]
    """The next scenarios with their probabilities, most likely first."""


class ScenarioClassifier(Protocol):
    """Classifies queries by scenario."""

    @property
    def name(self) -> str:
        """Its name: "fast", "best", or the title of a folder."""
        ...

    @property
    def digest(self) -> str:
        """The identity that is stored with guesses: "sha256:…" of its weights."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The scenarios that it knows."""
        ...

    def classify(self, queries: Sequence[str]) -> list[ScenarioGuess]:
        """Guesses the scenario of each query, of any length and content; never raises on text."""
        ...
