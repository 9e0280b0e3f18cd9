"""The arrays of a batch in which a beginning that sequences have in common stands once."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from autoj.backends._choices import ChoiceTrie
from autoj.backends.embedded.beginnings import common_length

# Attention in rows of another length is not the same to the last bit, nor, where weights are packed
# and products in bfloat16, is one of fewer than five tokens beside one of more. That bit decides
# how a state is rounded. Rows and states in multiples of 16, and 16 tokens and more, are the same.
_ALIGNED = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """A batch: `n` sequences of up to `k` tokens, which have `t` different ones, at least 16.

    The layers read the tokens in one row, without padding but for a batch that is too short.
    Attention is computed for each sequence in a row of its own with all of its tokens, those that
    others have, too, included. `k` and the number of `positions` are multiples of 16. So no score
    depends on its batch.
    """

    input_ids: npt.NDArray[np.int64]
    """[1, t]"""
    position_ids: npt.NDArray[np.int64]
    """[1, t]"""
    rows: npt.NDArray[np.int64]
    """[n, k]: which of the `t` tokens stands at a place of a row; 0 where none does."""
    mask: npt.NDArray[np.float32]
    """[n, 1, k, k]: 0 where a token may attend, -inf where not."""
    places: npt.NDArray[np.int64]
    """[t]: one of the `n * k` places at which a token stands."""
    positions: npt.NDArray[np.int64]
    """The tokens whose successors are asked for: of each sequence the root's last, its nodes.

    Behind them token 0 fills up to a multiple of 16.
    """

    def arrays(self) -> dict[str, npt.NDArray[np.int64] | npt.NDArray[np.float32]]:
        """The inputs of the graph by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def lay_out(tries: Sequence[ChoiceTrie]) -> Inputs:
    """Lays out a batch; each sequence shares with the one before it."""
    rows, n_known = _rows(tries)
    n, k = len(rows), _aligned(max(map(len, rows)))
    padded = np.zeros((n, k), np.int64)
    mask = np.full((n, 1, k, k), -np.inf, np.float32)
    ids: list[int] = []
    depths: list[int] = []
    places: list[int] = []
    positions: list[int] = []
    for number, (trie, row, first) in enumerate(zip(tries, rows, n_known, strict=True)):
        padded[number, : len(row)] = row
        _open(mask[number, 0], trie)
        ids += (trie.root + trie.tokens)[first:]
        depths += _depths(trie)[first:]
        places += range(number * k + first, number * k + len(row))
        positions += row[len(trie.root) - 1 :]
    positions += [0] * (_aligned(len(positions)) - len(positions))
    filling = [0] * (_ALIGNED - len(ids))
    for values in (ids, depths, places):
        values += filling
    return Inputs(
        input_ids=np.array([ids], np.int64),
        position_ids=np.array([depths], np.int64),
        rows=padded,
        mask=mask,
        places=np.array(places, np.int64),
        positions=np.array(positions, np.int64),
    )


def _aligned(n: int) -> int:
    return -(-n // _ALIGNED) * _ALIGNED


def _rows(tries: Sequence[ChoiceTrie]) -> tuple[list[list[int]], list[int]]:
    """Each sequence's tokens by their number, and how many of them the one before it has, too."""
    rows: list[list[int]] = []
    n_known: list[int] = []
    n_tokens = 0
    before: tuple[int, ...] = ()
    for trie in tries:
        n_common = common_length(before, trie.root)
        shared = rows[-1][:n_common] if rows else []
        n_after = n_tokens + trie.n_tokens - n_common
        rows.append([*shared, *range(n_tokens, n_after)])
        n_known.append(n_common)
        before, n_tokens = trie.root, n_after
    return rows, n_known


def _depths(trie: ChoiceTrie) -> list[int]:
    n_root = len(trie.root)
    return [*range(n_root), *(n_root - 1 + depth for depth in trie.depths())]


def _open(mask: npt.NDArray[np.float32], trie: ChoiceTrie) -> None:
    """Lets a sequence's tokens attend, in a mask of [k, k]."""
    n_root = len(trie.root)
    # Token by token: a triangle made at once would take two arrays more of the mask's size.
    for token in range(n_root):
        mask[token, : token + 1] = 0.0
    # What pads attends to something, too: else it would be no number.
    mask[n_root:, :n_root] = 0.0
    for node, line in enumerate(trie.ancestors()):
        mask[n_root + node, [n_root + ancestor for ancestor in line]] = 0.0
