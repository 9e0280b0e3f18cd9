"""Sparse features of queries: weighted blocks of hashed n-grams."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from autoj.scenarios.classifier.characters import Characters, read_characters
from autoj.scenarios.classifier.ngrams import (
    Grams,
    Tokens,
    character_grams,
    edge_grams,
    read_tokens,
    word_grams,
)
from autoj.scenarios.classifier.structure import structure_grams

if TYPE_CHECKING:
    from scipy import sparse

BLOCKS: Mapping[str, Callable[[Characters, Tokens], Grams]] = {
    "words-1": lambda _, tokens: word_grams(tokens, 1),
    "words-2": lambda _, tokens: word_grams(tokens, 2),
    "characters-4": lambda characters, _: character_grams(characters, 4),
    "edges-1": lambda _, tokens: edge_grams(tokens, 1),
    "edges-2": lambda _, tokens: edge_grams(tokens, 2),
    "structure": lambda characters, _: structure_grams(characters),
}
"""The n-grams of each block: words and marks, characters inside words, the first and last words of
a query, and its structure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedFeatures:
    """Turns queries into sparse rows.

    In a block, `1 + log(count)` of each n-gram is multiplied by its idf; the block is divided by
    its length and multiplied by the root of its weight. So the inner product of two queries is a
    weighted mean of their cosines by block.
    """

    weights: Mapping[str, float]
    """The weight of each block, above 0; names as in `BLOCKS`."""
    n_bits: int
    """Features are hashed to `2**n_bits` columns."""
    idf: NDArray[np.float32]
    """`[2**n_bits]`: the idf of each column; 0 for n-grams absent from the training data."""

    @classmethod
    def fitted(
        cls, weights: Mapping[str, float], n_bits: int, queries: Sequence[str]
    ) -> "HashedFeatures":
        """Fits the idf of n-grams to queries.

        The idf of an n-gram in k of n queries is `1 + log((1 + n) / (1 + k))`.
        """
        untold = cls(weights=weights, n_bits=n_bits, idf=np.ones(1 << n_bits, np.float32))
        n_queries_with = np.bincount(untold.rows(queries).indices, minlength=1 << n_bits)
        idf = 1 + np.log((1 + len(queries)) / (1 + n_queries_with))
        return cls(
            weights=weights,
            n_bits=n_bits,
            idf=np.where(n_queries_with > 0, idf, 0).astype(np.float32),
        )

    def rows(self, queries: Sequence[str]) -> "sparse.csr_matrix":
        """Computes the features of queries: float32 `[n_queries, 2**n_bits]`."""
        # Importing this takes as long as the rest of `import autoj`; few of its users classify.
        from scipy import sparse

        n_blocks, n_queries = len(self.weights), len(queries)
        keys = np.concatenate([np.zeros(0, np.uint64), *self._keys(queries)])
        keys.sort()
        first = np.flatnonzero(np.concatenate((keys[:1] == keys[:1], keys[1:] != keys[:-1])))
        counts = np.diff(np.concatenate((first, [len(keys)])))
        keys = keys[first]
        columns = (keys & np.uint64((1 << self.n_bits) - 1)).astype(np.int32)
        pairs = (keys >> np.uint64(self.n_bits)).astype(np.int64)
        values = (1 + np.log(counts)) * self.idf[columns]
        lengths = np.sqrt(np.bincount(pairs, values * values, minlength=n_queries * n_blocks))
        roots = np.sqrt(np.tile(list(self.weights.values()), n_queries))
        scales = np.divide(roots, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        values = (values * scales[pairs]).astype(np.float32)
        known = np.flatnonzero(values)
        ends = np.cumsum(np.bincount(pairs[known] // n_blocks, minlength=n_queries))
        return sparse.csr_matrix(
            (values[known], columns[known], np.concatenate(([0], ends))),
            shape=(n_queries, 1 << self.n_bits),
        )

    def _keys(self, queries: Sequence[str]) -> Iterable[NDArray[np.uint64]]:
        """Yields a number for each n-gram, block by block: its query, its block, its column."""
        characters = read_characters(queries)
        tokens = read_tokens(characters)
        for place, name in enumerate(self.weights):
            grams = BLOCKS[name](characters, tokens)
            columns = grams.hashes >> np.uint64(64 - self.n_bits)
            pairs = (grams.owners * len(self.weights) + place).astype(np.uint64)
            yield (pairs << np.uint64(self.n_bits)) | columns
