"""In which order samples are trained on, and how many: pure, so that a resumed run repeats it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["draw", "in_batches", "up_to_tokens"]

T = TypeVar("T")

# How many batches are sorted by length together: enough for little padding, few enough that a
# batch is still a mix of the whole.
_SORTED_BATCHES = 8


def draw(groups: Sequence[Sequence[T]], epochs: float, seed: int) -> list[T]:
    """What is trained on, in order: each group shuffled anew in each epoch.

    Args:
        groups: one for samples that are mixed; several to take them one after the other.
        epochs: how often; 1.5 ends in the middle of the second.
        seed: what the shuffles follow from.

    >>> sorted(draw([[1, 2, 3]], 2, seed=0))
    [1, 1, 2, 2, 3, 3]
    >>> sorted(draw([[1, 2], [8, 9]], 1, seed=0)[:2])
    [1, 2]
    """
    generator = random.Random(seed)
    n_wanted = round(epochs * sum(len(group) for group in groups))
    drawn: list[T] = []
    while len(drawn) < n_wanted:
        for group in groups:
            drawn += generator.sample(group, len(group))
    return drawn[:n_wanted]


def up_to_tokens(items: Sequence[T], n_tokens: Callable[[T], int], budget: int | None) -> list[T]:
    """The first items whose tokens add up to a budget; at least one, and all without a budget.

    >>> up_to_tokens([3, 4, 5], lambda item: item, budget=6)
    [3, 4]
    """
    if budget is None:
        return list(items)
    taken: list[T] = []
    total = 0
    for item in items:
        if total >= budget:
            break
        taken.append(item)
        total += n_tokens(item)
    return taken


def in_batches(
    items: Sequence[T], length: Callable[[T], int], *, batch: int, micro_batch: int, seed: int
) -> list[T]:
    """The same items, so that those of like length stand in one micro-batch.

    Runs of a few batches are sorted by length and cut into micro-batches, whose order is then
    drawn. Items that fill no last batch are left out: a smaller batch would weigh more.

    Args:
        items: in the order in which they were drawn.
        length: tokens of the longest sequence of an item.
        batch: items for one update; a multiple of `micro_batch`.
        micro_batch: items that are in memory at once.
        seed: what the order of micro-batches follows from.
    """
    generator = random.Random(seed)
    n_whole = len(items) // batch * batch if len(items) >= batch else len(items)
    arranged: list[T] = []
    for start in range(0, n_whole, batch * _SORTED_BATCHES):
        run = sorted(items[start : min(start + batch * _SORTED_BATCHES, n_whole)], key=length)
        cut = [run[at : at + micro_batch] for at in range(0, len(run), micro_batch)]
        generator.shuffle(cut)
        arranged += [item for part in cut for item in part]
    return arranged
