"""A linear classifier over hashed n-grams and, in the tier `best`, sentence embeddings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autoj.scenarios.classifier.base import ScenarioGuess
from autoj.scenarios.classifier.features import HashedFeatures
from autoj.scenarios.classifier.sentences import SentenceEncoder

OTHERS = "others"
"""The scenario of queries that belong to no other."""

_N_BATCH = 512
"""Batch size at which the n-grams stay in the processor's cache."""
_N_ALTERNATIVES = 5

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearWeights:
    """The trained weights; scores are `rows @ table + embedded @ dense + bias`."""

    table: Array
    """`[2**n_bits, n_labels]`: the weights of hashed n-grams."""
    dense: Array
    """`[768, n_labels]`: the weights of both embeddings of a query; no rows in `fast`."""
    bias: Array
    """`[n_labels]`."""
    inverse_temperature: float
    """The inverse temperature of the softmax over scores; fitted on held-out folds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearClassifier:
    """Classifies queries by a weighted sum of their features."""

    name: str
    digest: str
    labels: tuple[str, ...]
    features: HashedFeatures
    weights: LinearWeights
    encoder: SentenceEncoder | None = None
    """None in the tier `fast`."""

    def classify(self, queries: Sequence[str]) -> list[ScenarioGuess]:
        """Guesses the scenario of each query.

        For a text without a letter or a digit, half of the probability goes to `others`, if that is
        a label.
        """
        return [
            guess
            for start in range(0, len(queries), _N_BATCH)
            for guess in self._guesses(queries[start : start + _N_BATCH])
        ]

    def probabilities(self, queries: Sequence[str]) -> NDArray[np.float64]:
        """Computes the probability of each label: `[n_queries, n_labels]`; rows sum to 1."""
        rows = self.features.rows(queries)
        scores = rows @ self.weights.table + self.weights.bias
        if self.encoder is not None:
            scores += self.encoder.embed(queries) @ self.weights.dense
        probabilities = probabilities_of(scores, self.weights.inverse_temperature)
        if OTHERS in self.labels:
            wordless = [not any(map(str.isalnum, query)) for query in queries]
            probabilities[wordless] /= 2
            probabilities[wordless, self.labels.index(OTHERS)] += 0.5
        return probabilities

    def _guesses(self, queries: Sequence[str]) -> list[ScenarioGuess]:
        probabilities = self.probabilities(queries)
        order = np.argsort(-probabilities, axis=1, kind="stable")[:, : 1 + _N_ALTERNATIVES]
        sorted_ones = np.take_along_axis(probabilities, order, axis=1)
        return [
            ScenarioGuess(
                scenario=self.labels[best],
                probability=probability,
                alternatives=tuple(
                    (self.labels[index], value) for index, value in zip(rest, values, strict=True)
                ),
            )
            for (best, *rest), (probability, *values) in zip(
                order.tolist(), sorted_ones.tolist(), strict=True
            )
        ]


def probabilities_of(
    scores: NDArray[np.floating[Any]], inverse_temperature: float
) -> NDArray[np.float64]:
    """Computes probabilities from scores, both `[n, n_labels]`, by softmax."""
    scaled = scores.astype(np.float64) * inverse_temperature
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    normalised: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return normalised
