"""The order and the number of samples in training: pure, so that a resumed run repeats it."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

# Batches that are sorted by length together: enough for little padding, few enough that each
# batch is still a mix of the data.
_SORTED_BATCHES = 8


def draw(groups: Sequence[Sequence[T]], epochs: float, seed: int) -> list[T]:
    """Draws the order of training: each group shuffled anew in each epoch.

    Args:
        groups: one group for samples that are mixed; several are taken one after the other.
        epochs: the number of passes; 1.5 ends in the middle of the second.
        seed: the seed of the shuffles.

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
    """Takes the first items within a token budget; at least one, and all without a budget.

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
    """Groups items of similar length into micro-batches.

    Every few batches are sorted by length and cut into micro-batches, whose order is then drawn.
    Items of an incomplete last batch are left out: a smaller batch would weigh each of them more.

    Args:
        items: items in the order in which they were drawn.
        length: gives the tokens of an item's longest sequence.
        batch: items per optimiser step; a multiple of `micro_batch`.
        micro_batch: items in memory at once.
        seed: the seed of the order of micro-batches.
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
