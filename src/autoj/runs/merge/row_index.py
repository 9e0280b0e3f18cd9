"""Finds the rows of a case in a run's files; the rows stay on disk."""

from array import array
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from autoj.jsonl import damaged, decode_as, whole_lines

T = TypeVar("T")


class RowIndex(Generic[T]):
    """Rows of one kind by the id of their case; those of a case are adjacent in the file.

    Memory is 24 bytes a case, and 8 more to search it.
    """

    def __init__(self, path: Path, kind: type[T], id_of: Callable[[T], str]) -> None:
        """Reads the file once.

        Args:
            path: the file; a missing one has no rows.
            kind: the type of its lines.
            id_of: the id of the case that a row is about.

        Raises:
            DataError: a line is damaged.
        """
        self._path, self._kind, self._id_of = path, kind, id_of
        hashes, starts, counts = array("q"), array("q"), array("q")
        position, last = 0, None
        for number, line in enumerate(whole_lines(path), start=1):
            case_id = id_of(self._decode(line, number))
            if case_id == last:
                counts[-1] += 1
            else:
                hashes.append(hash(case_id))
                starts.append(position)
                counts.append(1)
                last = case_id
            position += len(line)
        self._starts, self._counts = starts, counts
        self._order: npt.NDArray[np.int64] = np.argsort(np.asarray(hashes), kind="stable")
        self._hashes: npt.NDArray[np.int64] = np.asarray(hashes)[self._order]
        # Read by position and not mapped: the pages of a mapped file count as memory once read.
        self._stream: BinaryIO | None = None

    def __len__(self) -> int:
        """The number of cases with rows."""
        return len(self._starts)

    def at(self, place: int) -> list[T]:
        """The rows of the case at a position, counted from 0."""
        if self._stream is None:
            self._stream = self._path.open("rb")
        self._stream.seek(self._starts[place])
        lines = [self._stream.readline() for _ in range(self._counts[place])]
        return [decode_as(self._kind, line) for line in lines]

    def of(self, case_id: str) -> list[T]:
        """The rows of a case, in the order of the file; none where it has none."""
        wanted = hash(case_id)
        found = int(np.searchsorted(self._hashes, wanted))
        while found < len(self._hashes) and self._hashes[found] == wanted:
            rows = self.at(int(self._order[found]))
            if self._id_of(rows[0]) == case_id:
                return rows
            found += 1
        return []

    def close(self) -> None:
        """Closes the file."""
        if self._stream is not None:
            self._stream.close()

    def _decode(self, line: bytes, number: int) -> T:
        try:
            return decode_as(self._kind, line)
        except ValueError as error:
            raise damaged(self._path, number, error) from None
