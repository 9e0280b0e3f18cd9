"""Hashed n-grams of a batch of queries: words, characters inside words, first and last words.

All n-grams of all queries are hashed by array operations; a hash is a polynomial in the code points
modulo 2**64, mixed so that its upper bits can be an index.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoj.scenarios.classifier.characters import Characters, Kind

_PRIME_NUMBER = 0x9E3779B97F4A7C15
_PRIME = np.uint64(_PRIME_NUMBER)
_BASE = np.uint64(0xD6E8FEB86659FD93)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_N_POWERS = 64
"""Longer words are hashed by this many first characters and their length."""
_N_EDGE = 8
"""The number of words at either end that are marked as first or last."""

Hashes = NDArray[np.uint64]
Owners = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grams:
    """N-grams of a batch."""

    owners: Owners
    """`[n_grams]`: the query of each n-gram."""
    hashes: Hashes
    """`[n_grams]`: the hash of each n-gram."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The words and marks of a batch, in order."""

    owners: Owners
    hashes: Hashes
    ranks: NDArray[np.int64]
    """The position of each in its query, counted from 0."""
    ranks_from_end: NDArray[np.int64]


def _mix(hashes: Hashes) -> Hashes:
    """Spreads differences of hashes over all bits."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * _MIX_1
    hashes = (hashes ^ (hashes >> np.uint64(27))) * _MIX_2
    return hashes ^ (hashes >> np.uint64(31))


def _powers(n: int) -> Hashes:
    return np.cumprod(np.full(n, _BASE, np.uint64), dtype=np.uint64)


_POWERS = _powers(_N_POWERS + 1)


def _salted(hashes: Hashes, salt: int) -> Hashes:
    return _mix(hashes + np.uint64(salt * _PRIME_NUMBER % 2**64))


def hash_numbers(numbers: Hashes) -> Hashes:
    """Hashes features that are numbers like n-grams."""
    return _salted(_mix(numbers), 60)


def read_tokens(characters: Characters) -> Tokens:
    """Finds the words of a batch; a run of one mark is a token, too."""
    kinds, codes = characters.kinds, characters.codes
    before = np.concatenate(([np.uint8(Kind.NEWLINE)], kinds[:-1]))
    same = np.concatenate(([False], codes[1:] == codes[:-1]))
    starts = (kinds == Kind.WORD) & (before != Kind.WORD)
    starts |= kinds == Kind.ALONE
    starts |= (kinds == Kind.MARK) & ~same
    first = np.flatnonzero(starts)
    token_of = np.cumsum(starts) - 1
    inside = np.flatnonzero(kinds >= Kind.WORD)
    owner_of = np.repeat(np.arange(len(characters.starts)), characters.lengths)
    values = _mix(codes[inside].astype(np.uint64) + _PRIME)
    places = np.minimum(inside - first[token_of[inside]], _N_POWERS)
    sums = np.zeros(len(first), np.uint64)
    if len(first):
        begins = np.flatnonzero(starts[inside])
        sums = np.add.reduceat(values * _POWERS[places], begins)
    owners = owner_of[first]
    n_by_query = np.bincount(owners, minlength=len(characters.starts))
    ends = np.cumsum(n_by_query)
    order = np.arange(len(first))
    return Tokens(
        owners=owners,
        hashes=_mix(sums),
        ranks=order - (ends - n_by_query)[owners],
        ranks_from_end=ends[owners] - 1 - order,
    )


def _joined(tokens: Tokens, n: int) -> tuple[NDArray[np.int64], Hashes]:
    """The n-grams of tokens: the first token and the hash of each."""
    if n == 1:
        return np.arange(len(tokens.owners)), tokens.hashes
    first = np.flatnonzero(tokens.owners[: 1 - n] == tokens.owners[n - 1 :])
    hashes = np.zeros(len(first), np.uint64)
    for place in range(n):
        hashes = hashes * _BASE + tokens.hashes[first + place]
    return first, _mix(hashes)


def word_grams(tokens: Tokens, n: int) -> Grams:
    """Finds the n-grams of words and marks."""
    first, hashes = _joined(tokens, n)
    return Grams(owners=tokens.owners[first], hashes=_salted(hashes, n))


def edge_grams(tokens: Tokens, n: int) -> Grams:
    """Finds the n-grams of the first and of the last words, marked as such."""
    first, hashes = _joined(tokens, n)
    at_head = tokens.ranks[first] <= _N_EDGE - n
    at_tail = tokens.ranks_from_end[first] < _N_EDGE
    return Grams(
        owners=np.concatenate((tokens.owners[first[at_head]], tokens.owners[first[at_tail]])),
        hashes=np.concatenate((_salted(hashes[at_head], 10 + n), _salted(hashes[at_tail], 20 + n))),
    )


def character_grams(characters: Characters, n: int) -> Grams:
    """Finds the n-grams of characters inside words; the word's edges count as characters."""
    kinds = characters.kinds
    word = kinds == Kind.WORD
    after = np.concatenate(([False], word[:-1]))
    kept = np.flatnonzero(word | after)
    # A word's edge is one character, whatever follows: `kept` has each word and one more.
    is_edge = ~word[kept]
    owner_of = np.repeat(np.arange(len(characters.starts)), characters.lengths)[kept]
    symbols = np.where(is_edge, 0, characters.codes[kept]).astype(np.uint64)
    values = _mix(symbols + _PRIME)
    # The edge before a word is the one that closed the word before it.
    values = np.concatenate((values[-1:], values))
    is_edge = np.concatenate(([True], is_edge))
    owner_of = np.concatenate((owner_of[:1], owner_of))
    n_kept = len(values)
    next_edge = np.where(is_edge, np.arange(n_kept), n_kept)
    next_edge = np.minimum.accumulate(next_edge[::-1])[::-1]
    n_grams = max(0, n_kept - n + 1)
    whole = np.flatnonzero(next_edge[1 : n_grams + 1] >= np.arange(n_grams) + n - 1)
    hashes = np.zeros(len(whole), np.uint64)
    for place in range(n):
        hashes = hashes * _BASE + values[whole + place]
    # The second character is the query's own, the first may be the edge of the one before.
    return Grams(owners=owner_of[whole + 1], hashes=_salted(_mix(hashes), 40 + n))
