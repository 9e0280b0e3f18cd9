"""What a scenario classifier is: queries in, a guess with its probability for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["ScenarioClassifier", "ScenarioGuess"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioGuess:
    """The scenario that a classifier takes a query for."""

    scenario: str
    """A name of the taxonomy, or of the data that the classifier was trained on."""
    probability: float
    """How sure it is of that scenario, calibrated; 0-1."""
    alternatives: tuple[tuple[str, float], ...]
    """The next scenarios with their probabilities, most likely first."""


class ScenarioClassifier(Protocol):
    """Names the scenarios of queries."""

    @property
    def name(self) -> str:
        """What it is called: "fast", "best", or the title of a folder."""
        ...

    @property
    def digest(self) -> str:
        """What a stored guess is told by: "sha256:…" of its weights."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The scenarios that it knows."""
        ...

    def classify(self, queries: Sequence[str]) -> list[ScenarioGuess]:
        """A guess for each query, of any length and any text; never raises on text."""
        ...
