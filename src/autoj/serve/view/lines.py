"""Files of a run read as far as they are written, and again when they have grown."""

import hashlib
from array import array
from collections.abc import Iterator
from pathlib import Path
from threading import RLock
from typing import TypeVar

from autoj import jsonl
from autoj.records import Completion, Failure
from autoj.runs.files import FAILURES, LEDGER, FileDigest, State, describe, digests_of
from autoj.runs.ledger import checked_key
from autoj.runs.ledger_index import LineIndex, short_digest

_Record = TypeVar("_Record")
_NO_DIGEST = FileDigest(n_lines=0, n_bytes=0, sha256=hashlib.sha256().hexdigest())


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
