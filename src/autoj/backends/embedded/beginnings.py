"""Sequences in an order in which neighbours have a long beginning in common, and in batches.

What a batch's sequences have in common from their first token on is read once: the beginning of a
protocol's prompt in all requests, the query in all that are about it. A sequence shares with its
predecessor only, so the order decides what is read twice, and nothing else: scores are the same in
any order and in any batches (`model.ChoiceModel`).
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from autoj.backends._choices import ChoiceTrie

T = TypeVar("T")

# Measured on 2 cores: batches beyond 2,000 tokens read no faster and use more memory.
_BATCH_TOKENS = 2048
# Attention is computed for each sequence with all of its tokens, those that another one read, too.
_ROW_TOKENS = 3072
# Sequences of different queries have some tokens in common by chance; for fewer than this, padding
# sequences of different lengths costs more than it saves.
_WORTH_TOKENS = 16


def common_length(one: Sequence[int], other: Sequence[int]) -> int:
    """The number of tokens that two sequences have in common from the first one on.

    >>> common_length((5, 6, 7), (5, 6, 8, 9))
    2
    """
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def arranged(asked: Sequence[tuple[T, ChoiceTrie]]) -> list[tuple[T, ChoiceTrie]]:
    """Sequences with a beginning in common side by side, shorter ones first.

    Sequences that share no more than all do are sorted by length, which leaves little padding.
    """
    ordered = sorted(asked, key=_root)
    common = [common_length(_root(one), _root(other)) for one, other in pairwise(ordered)]
    return _by_length(ordered, common)


def in_batches(ordered: Sequence[tuple[T, ChoiceTrie]]) -> Iterator[list[tuple[T, ChoiceTrie]]]:
    """Neighbours in batches: at most `_BATCH_TOKENS` to read, and `_ROW_TOKENS` with padding.

    A sequence that is longer is a batch of its own.
    """
    batch: list[tuple[T, ChoiceTrie]] = []
    n_read = longest = 0
    for pair in ordered:
        n_tokens = pair[1].n_tokens
        longest = max(longest, n_tokens)
        n_own = n_tokens - common_length(_root(batch[-1]), _root(pair)) if batch else n_tokens
        if batch and (n_read + n_own > _BATCH_TOKENS or (len(batch) + 1) * longest > _ROW_TOKENS):
            yield batch
            batch, n_read, longest, n_own = [], 0, n_tokens, n_tokens
        batch.append(pair)
        n_read += n_own
    if batch:
        yield batch


def _by_length(
    ordered: Sequence[tuple[T, ChoiceTrie]], common: Sequence[int]
) -> list[tuple[T, ChoiceTrie]]:
    """Groups by length, each arranged in itself.

    Args:
        ordered: sorted by their tokens.
        common: the tokens that each but the last has in common with the next one.
    """
    if len(ordered) < 2:
        return list(ordered)
    # Of sorted sequences, all have in common what the least alike neighbours have.
    worth = min(common) + _WORTH_TOKENS
    cuts = [at for at, n_common in enumerate(common, start=1) if n_common < worth]
    found = [
        _by_length(ordered[start:end], common[start : end - 1])
        for start, end in pairwise([0, *cuts, len(ordered)])
    ]
    found.sort(key=lambda group: max(trie.n_tokens for _, trie in group))
    return [pair for group in found for pair in group]


def _root(pair: tuple[object, ChoiceTrie]) -> tuple[int, ...]:
    return pair[1].root
