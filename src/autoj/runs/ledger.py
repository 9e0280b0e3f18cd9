"""The ledger: an append-only record of what was answered, which a killed run loses nothing of.

`ledger.jsonl` has one line per key and never two. `failures.jsonl` has a line per attempt that
failed; the last of a key counts, unless the ledger has the key by now.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Protocol

import numpy as np

from autoj.jsonl import Appender, decode, decode_as, read_records, repair, whole_lines
from autoj.records import Completion, Failure

__all__ = ["FAILURES", "LEDGER", "Answers", "Ledger", "LedgerReader", "MemoryLedger"]

LEDGER = "ledger.jsonl"
FAILURES = "failures.jsonl"
_SYNC_SECONDS = 1.0
# Records begin `{"key":"<64 hex digits>"`: the key is read without parsing the line.
_KEY = slice(8, 72)


class Answers(Protocol):
    """Where answers are found by key."""

    def find(self, key: str) -> Completion | Failure | None:
        """A key's answer, else its last failure, else None: it was not asked yet."""


class Ledger:
    """Writes answers as they come in, and knows which keys are answered.

    Memory grows with the number of keys alone: half of each digest is kept, as an integer.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / LEDGER
        repair(path)
        self._held = {_short(key) for key in _keys(path)}
        self._attempts = {
            failure.key: failure.attempts for failure in read_records(folder / FAILURES, Failure)
        }
        self._ledger = Appender(path)
        self._failures = Appender(folder / FAILURES)
        self._synced = time.monotonic()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ledger.close()
        self._failures.close()

    def __len__(self) -> int:
        return len(self._held)

    def holds(self, key: str) -> bool:
        """Whether a key is answered."""
        return _short(key) in self._held

    def record(self, outcome: Completion | Failure) -> None:
        """Append an answer or a failed attempt.

        Raises:
            StorageFull: the disk took no more; what was recorded before stays.
        """
        if isinstance(outcome, Completion):
            if self.holds(outcome.key):
                return
            self._ledger.append(outcome)
            self._held.add(_short(outcome.key))
        else:
            attempts = self._attempts.get(outcome.key, 0) + outcome.attempts
            self._attempts[outcome.key] = attempts
            self._failures.append(replace(outcome, attempts=attempts))
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self._ledger.sync()
            self._failures.sync()
            self._synced = time.monotonic()


def _short(key: str) -> int:
    return int(key[:32], 16)


def _keys(path: Path) -> Iterator[str]:
    for line in whole_lines(path):
        yield _key_of(line)


def _key_of(line: bytes) -> str:
    if line.startswith(b'{"key":"'):
        return line[_KEY].decode("ascii")
    return str(decode(line)["key"])


class LedgerReader:
    """Finds answers by key: 16 bytes of memory per key, the text stays in the file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LEDGER
        digests, offsets, position = array("Q"), array("Q"), 0
        for line in whole_lines(self._path):
            digests.append(int(_key_of(line)[:16], 16))
            offsets.append(position)
            position += len(line)
        order = np.argsort(np.asarray(digests), kind="stable")
        self._digests = np.asarray(digests)[order]
        self._offsets = np.asarray(offsets)[order]
        self._failures = {
            failure.key: failure for failure in read_records(folder / FAILURES, Failure)
        }
        # Read by position and not mapped: a mapped file counts as memory once it was read.
        self._stream = self._path.open("rb") if position else None

    def find(self, key: str) -> Completion | Failure | None:
        """A key's answer, else its last failure, else None: it was not asked yet."""
        wanted = np.uint64(int(key[:16], 16))
        place = int(np.searchsorted(self._digests, wanted))
        # Half-equal digests stand together; the line itself has the whole key.
        while place < len(self._digests) and self._digests[place] == wanted:
            assert self._stream is not None
            self._stream.seek(int(self._offsets[place]))
            completion = decode_as(Completion, self._stream.readline())
            if completion.key == key:
                return completion
            place += 1
        return self._failures.get(key)

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()


class MemoryLedger:
    """The answers of one case, for a caller that wants no folder."""

    def __init__(self) -> None:
        self._outcomes: dict[str, Completion | Failure] = {}

    def holds(self, key: str) -> bool:
        """Whether a key is answered."""
        return isinstance(self._outcomes.get(key), Completion)

    def record(self, outcome: Completion | Failure) -> None:
        """Keep an answer or a failure."""
        self._outcomes[outcome.key] = outcome

    def find(self, key: str) -> Completion | Failure | None:
        """A key's answer or failure; None where it was not asked."""
        return self._outcomes.get(key)
