"""The lines of rows as they stand in a run's files, one by one or in long stretches."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np

from autoj.runs.files import CASES, VERDICTS
from autoj.serve.view.columns import FROM_FILE, Columns, Rows

_MOST_BYTES, _MOST_ROWS = 1_000_000, 4_096
_GAP_BYTES = 32_000
"""Bytes that are read as quickly as another place in the file is found."""


class RowLines:
    """Reads the lines of rows, a case's and its verdict's, from files that stay open.

    Args:
        columns: the run's.
        folder: its folder.
    """

    def __init__(self, columns: Columns, folder: Path) -> None:
        self._columns = columns
        self._opened = ExitStack()
        self._cases = self._opened.enter_context((folder / CASES).open("rb"))
        self._verdicts = None
        if (folder / VERDICTS).exists():
            self._verdicts = self._opened.enter_context((folder / VERDICTS).open("rb"))

    def __enter__(self) -> "RowLines":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opened.close()

    def read(self, first: int, last: int) -> tuple[bytes, bytes]:
        """The lines from one row to another: those of the cases, and those of their verdicts.

        Args:
            first: a row.
            last: itself, or a later one of the same stretch. The second text is empty where
                verdicts are not in a file.
        """
        cases = self._cases
        start, end = (int(self._columns["case_at"][row]) for row in (first, last))
        cases.seek(start)
        found = cases.read(end - start) + cases.readline()
        if self._verdicts is None or not self._columns["flags"][first] & FROM_FILE:
            return found, b""
        start, end = (int(self._columns["verdict_at"][row]) for row in (first, last))
        self._verdicts.seek(start)
        return found, self._verdicts.read(end - start) + self._verdicts.readline()

    def n_together(self, rows: Rows) -> int:
        """The number of the first rows that stand close to each other, so that one read has all.

        Args:
            rows: at least one, in any order.
        """
        rows = rows[:_MOST_ROWS]
        places = self._columns["case_at"][rows].astype(np.int64)
        from_file = self._columns["flags"][rows] & np.uint16(FROM_FILE)
        gaps = np.diff(places)
        apart = (gaps <= 0) | (gaps > _GAP_BYTES) | (places[1:] - places[0] > _MOST_BYTES)
        apart |= from_file[1:] != from_file[0]
        return int(np.argmax(apart)) + 1 if apart.any() else len(rows)
