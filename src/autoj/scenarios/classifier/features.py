"""Sparse features of queries: weighted blocks of hashed n-grams, and of their structure.

The structure of a query is its lines, lists, code, questions, scripts and length. Each measure is
binned and each bin is a feature, so that a linear model can be non-linear in the measure. They are
weighted like any word; no rule decides.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from autoj.scenarios.classifier.characters import Characters, Kind, read_characters
from autoj.scenarios.classifier.ngrams import (
    Grams,
    Tokens,
    character_grams,
    edge_grams,
    hash_numbers,
    read_tokens,
    word_grams,
)

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
_COUNT_BINS = np.array([1, 2, 3, 5, 9, 17, 33])
_SHARE_BINS = np.array([0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7])
_LENGTH_BINS = 2.0 ** np.arange(3, 15, 0.5)
Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]


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


def structure_grams(characters: Characters) -> Grams:
    """Computes the bins of each query's measures, as hashed features."""
    n_queries = len(characters.starts)
    if not n_queries:
        return Grams(owners=np.zeros(0, np.int64), hashes=np.zeros(0, np.uint64))
    bins = _bins(characters)
    names = np.arange(len(bins), dtype=np.uint64)[:, None] << np.uint64(32)
    crossed = names + np.stack(bins).astype(np.uint64)
    return Grams(
        owners=np.tile(np.arange(n_queries), len(bins)),
        hashes=hash_numbers(crossed.ravel()),
    )


def _bins(characters: Characters) -> list[NDArray[np.int64]]:
    """Computes the bins of all queries, one array `[n_queries]` per measure."""
    codes, kinds, written = characters.codes, characters.kinds, characters.written
    starts, lengths = characters.starts, characters.lengths

    def count(mask: Mask) -> Numbers:
        return np.add.reduceat(mask, starts, dtype=np.int64).astype(np.float64)

    def shares(mask: Mask) -> NDArray[np.int64]:
        return np.digitize(count(mask) / lengths, _SHARE_BINS)

    def counts(mask: Mask) -> NDArray[np.int64]:
        return np.digitize(count(mask), _COUNT_BINS)

    is_break = kinds == Kind.NEWLINE
    visible = kinds >= Kind.WORD
    opens_line = np.concatenate(([True], is_break[:-1]))
    last = _last_visible(visible, starts)
    line_end = _line_ends(is_break, starts)
    second = np.concatenate((codes[1:], codes[-1:]))
    third = np.concatenate((second[1:], second[-1:]))
    is_space = kinds <= Kind.NEWLINE
    listed = opens_line & (_any_of(codes, "-*•") & np.concatenate((is_space[1:], [True])))
    numbered = opens_line & (codes == ord("0")) & _any_of(second, ".):0")
    option = opens_line & (kinds == Kind.WORD) & (codes != ord("0")) & _any_of(second, ".):")
    fence = (codes == ord("`")) & (second == ord("`")) & (third == ord("`"))
    is_blank = is_break & np.concatenate((is_break[1:], [False]))
    # The line break that ends a query was added to it.
    is_blank[starts + lengths - 1] = False
    ends_asking = _any_of(codes[last], "?？")
    line_asks = _any_of(codes[line_end], "?？")
    line_leads_in = _any_of(codes[line_end], ":：")
    n_lines = np.digitize(count(is_break), _COUNT_BINS)
    n_words = count((kinds == Kind.WORD) & ~np.concatenate(([False], kinds[:-1] == Kind.WORD)))
    upper = (written != codes) & (kinds == Kind.WORD) & (codes != ord("0"))
    long_first_line = np.digitize(line_end - starts, _LENGTH_BINS[::2])
    flags = ends_asking + 2 * line_asks + 4 * line_leads_in
    measures: list[NDArray[np.int64]] = [
        np.digitize(characters.full_lengths, _LENGTH_BINS),
        np.digitize(n_words, _LENGTH_BINS - 4),
        n_lines,
        long_first_line,
        flags,
        flags + 8 * np.minimum(n_lines, 4),
        counts(_any_of(codes, "?？")),
        counts(listed),
        counts(numbered),
        counts(option),
        counts(fence),
        counts(opens_line & is_space & ~is_break),
        counts(is_blank),
        counts(_any_of(codes, '"“”«»「」')),
        counts(_any_of(codes, "[]<>")),
        counts(_any_of(codes, ",，")),
        counts(_any_of(codes, "!！")),
        shares(_any_of(codes, "{}();=<>_")),
        shares(_any_of(codes, "+-*/^=\\$%")),
        shares(codes == ord("0")),
        shares(kinds == Kind.ALONE),
        shares((codes > 0x7F) & (kinds == Kind.WORD)),
        shares((written > 0x2000) & (kinds == Kind.MARK)),
        shares(upper),
        upper[starts].astype(np.int64),
        np.minimum(codes[last], 0x3000).astype(np.int64) * (kinds[last] == Kind.MARK),
    ]
    return measures


def _any_of(codes: NDArray[np.uint32], characters: str) -> Mask:
    found = codes == ord(characters[0])
    for character in characters[1:]:
        found |= codes == ord(character)
    return np.asarray(found)


def _last_visible(visible: Mask, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The index of each query's last visible character; of its first one if none is visible."""
    places = np.where(visible, np.arange(len(visible)), -1)
    last: NDArray[np.int64] = np.maximum(np.maximum.reduceat(places, starts), starts)
    return last


def _line_ends(is_break: Mask, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The index of the last character of each query's first line."""
    places = np.where(is_break, np.arange(len(is_break)), len(is_break))
    ends: NDArray[np.int64] = np.maximum(np.minimum.reduceat(places, starts) - 1, starts)
    return ends
