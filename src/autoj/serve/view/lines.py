"""Lines of a run's files: read as far as they are written, and those of rows one by one."""

import hashlib
from array import array
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import TypeVar

import numpy as np

from autoj import jsonl
from autoj.records import Completion, Failure
from autoj.runs.files import (
    CASES,
    FAILURES,
    LEDGER,
    VERDICTS,
    FileDigest,
    State,
    describe,
    digests_of,
)
from autoj.runs.ledger import checked_key
from autoj.runs.ledger_index import LineIndex, short_digest
from autoj.serve.view.columns import FROM_FILE, Columns, Rows

_Record = TypeVar("_Record")
_NO_DIGEST = FileDigest(n_lines=0, n_bytes=0, sha256=hashlib.sha256().hexdigest())
_MOST_BYTES, _MOST_ROWS = 1_000_000, 4_096
_GAP_BYTES = 32_000
"""Bytes that are read as quickly as another place in the file is found."""


class GrowingLines:
    """The whole lines of a file with their positions; each is read once.

    Args:
        folder: a run's folder.
        name: the file's name; one that does not exist yet has no lines.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / name
        self.n_bytes = self.n_lines = 0
        self._digest = digests_of(folder).get(name, _NO_DIGEST)
        self._sha256 = hashlib.sha256()

    def read(self) -> Iterator[tuple[int, bytes]]:
        """The lines that were not read yet, each with its position in bytes.

        Raises:
            DataError: what was read differs from its digest in `run.json`, or cannot be read.
        """
        if not self.path.exists():
            self._check_end()
            return
        with self.path.open("rb") as stream:
            stream.seek(self.n_bytes)
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                offset = self.n_bytes
                self.n_bytes += len(line)
                self.n_lines += 1
                self._compare(line)
                yield offset, line
        self._check_end()

    def _compare(self, line: bytes) -> None:
        if self.n_bytes > self._digest.n_bytes:
            return
        self._sha256.update(line)
        if self.n_bytes == self._digest.n_bytes and (
            self._sha256.hexdigest() != self._digest.sha256
        ):
            raise jsonl.damaged(self.path, None, describe("differs", self.path, self._digest))

    def _check_end(self) -> None:
        if self.n_bytes < self._digest.n_bytes:
            state: State = "shorter" if self.path.exists() else "missing"
            raise jsonl.damaged(self.path, None, describe(state, self.path, self._digest))


class GrowingAnswers:
    """Finds answers in a ledger that another process may be writing; 16 bytes of memory per key.

    Args:
        folder: the run's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._ledger, self._failed = GrowingLines(folder, LEDGER), GrowingLines(folder, FAILURES)
        self._index = LineIndex(array("Q"), array("Q"))
        self._failures: dict[str, Failure] = {}
        self._lock = RLock()

    @property
    def n_lines(self) -> int:
        """The lines that were read: answers and failed attempts."""
        return self._ledger.n_lines + self._failed.n_lines

    def read(self) -> Iterator[None]:
        """Reads the keys of new lines, one at each step.

        Raises:
            DataError: a line is damaged.
        """
        for offset, line in self._ledger.read():
            key = checked_key(self._ledger.path, self._ledger.n_lines, line)
            with self._lock:
                self._index.add(short_digest(key), offset)
            yield
        for _, line in self._failed.read():
            failure = decoded(Failure, line, self._failed)
            with self._lock:
                self._failures[failure.key] = failure
            yield

    def find(self, key: str) -> Completion | Failure | None:
        """A key's answer, else its last failure, else None: none was read yet."""
        with self._lock:
            offsets = tuple(self._index.find(short_digest(key)))
            failure = self._failures.get(key)
        for offset in offsets:
            completion = jsonl.decode_as(Completion, line_at(self._ledger.path, offset))
            if completion.key == key:
                return completion
        return failure


def decoded(kind: type[_Record], line: bytes, lines: GrowingLines) -> _Record:
    """The record of the line that was read last.

    Raises:
        DataError: it is no such record, or differs from its checksum.
    """
    if jsonl.sum_agrees(line) is False:
        what = "the line differs from its checksum"
        raise jsonl.damaged(lines.path, lines.n_lines, what)
    try:
        return jsonl.decode_as(kind, line)
    except ValueError as error:
        raise jsonl.damaged(lines.path, lines.n_lines, error) from None


def line_at(path: Path, offset: int) -> bytes:
    """The line at a position in bytes."""
    with path.open("rb") as stream:
        stream.seek(offset)
        return stream.readline()


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
