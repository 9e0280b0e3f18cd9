"""Positions of the lines of a ledger by key: 16 bytes of memory for each."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_MOST_RECENT = 50_000
"""The most keys of a session that are kept in a table."""


class LineIndex:
    """Positions of each key's line: sorted arrays, and a small table of the latest ones."""

    def __init__(self, digests: array[int], offsets: array[int]) -> None:
        self._digests, self._offsets = array("Q"), array("Q")
        self._recent: dict[int, tuple[int, ...]] = {}
        self._n_recent = 0
        self._merge(digests, offsets)

    def __len__(self) -> int:
        return len(self._digests) + self._n_recent

    def add(self, digest: int, offset: int) -> None:
        """Records the position of a key's line."""
        self._recent[digest] = (*self._recent.get(digest, ()), offset)
        self._n_recent += 1
        # A table takes ten times the memory of the arrays, and sorting these takes time.
        if self._n_recent == _MOST_RECENT:
            digests, offsets = array("Q"), array("Q")
            for recent, its in self._recent.items():
                digests.extend([recent] * len(its))
                offsets.extend(its)
            self._recent, self._n_recent = {}, 0
            self._merge(digests, offsets)

    def find(self, digest: int) -> Sequence[int]:
        """Positions of lines that may be the key's."""
        recent = self._recent.get(digest, ())
        place = bisect_left(self._digests, digest)
        if place == len(self._digests) or self._digests[place] != digest:
            return recent
        end = bisect_right(self._digests, digest, place)
        return (*self._offsets[place:end], *recent)

    def _merge(self, digests: array[int], offsets: array[int]) -> None:
        """Puts lines among those that are there, one column at a time: each is copied once."""
        new = np.asarray(digests)
        order = np.argsort(new, kind="stable")
        new = new[order]
        places = np.searchsorted(np.asarray(self._digests), new, side="right")
        self._digests = _inserted(self._digests, places, new)
        self._offsets = _inserted(self._offsets, places, np.asarray(offsets)[order])


def _inserted(column: array[int], places: npt.NDArray[Any], new: npt.NDArray[Any]) -> array[int]:
    found = array("Q")
    found.frombytes(np.insert(np.asarray(column), places, new).view(np.uint8).data)
    return found


def short_digest(key: str) -> int:
    """The first half of a key, as a number: few keys share one."""
    return int(key[:16], 16)
