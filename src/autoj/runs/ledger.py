"""The ledger: an append-only record of answers, of which a killed run loses nothing.

`ledger.jsonl` has exactly one line per answered key. `failures.jsonl` has a line per failed
attempt; the last one of a key counts, unless the ledger has the key by then. Each line ends in its
checksum; those of version 0.1 have none and are decoded to be checked.
"""

import re
import time
from array import array
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import BinaryIO, Protocol, TypeVar

import numpy as np

from autoj import jsonl
from autoj.records import Completion, Failure, ScoredCompletion
from autoj.runs.files import FAILURES, LEDGER, digests_of
from autoj.runs.ledger_index import LineIndex, short_digest

_SYNC_SECONDS = 1.0
# Records begin `{"key":"<64 hex digits>"`: the key is read without parsing the line.
_KEY = slice(8, 72)
# A line that was edited and written by another program.
_OTHER_SUM = re.compile(rb'"sum"\s*:')
_A_KEY = re.compile(rb'\{"key":"[0-9a-f]{64}"')
_HEX = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswer(ScoredCompletion):
    """A line of the ledger: an answer, which may have been another run's."""

    reused: bool = False
    """True where it was taken from the answers of earlier runs, and so cost nothing."""


_Answer = TypeVar("_Answer", bound=Completion)


class Answers(Protocol):
    """Finds answers by key."""

    def find(self, key: str) -> Completion | Failure | None:
        """A key's answer, else its last failure, else None: it was not asked yet."""


class LedgerReader:
    """Finds answers by key: 16 bytes of memory per key, the text stays in the file."""

    def __init__(self, folder: Path, each: Callable[[RecordedAnswer], None] | None = None) -> None:
        """Reads the keys of a folder's ledger, once.

        Args:
            folder: a run's folder; one without a ledger has no answers.
            each: called with every answer while the keys are read.

        Raises:
            DataError: a line is damaged or there twice, or lines are missing that `run.json`
                records.
        """
        self._path = folder / LEDGER
        self._n_bytes = 0
        self._lock = RLock()
        digests, offsets = array("Q"), array("Q")
        for number, line in enumerate(jsonl.whole_lines(self._path), start=1):
            digests.append(short_digest(checked_key(self._path, number, line)))
            offsets.append(self._n_bytes)
            self._n_bytes += len(line)
            if each is not None:
                each(jsonl.decode_as(RecordedAnswer, line))
        self._stream: BinaryIO | None = None
        self._refuse_repeated(digests, offsets)
        self._index = LineIndex(digests, offsets)
        failures = list(jsonl.read_records(folder / FAILURES, Failure))
        self._failures = {failure.key: failure for failure in failures}
        check_count(folder, LEDGER, len(digests))
        check_count(folder, FAILURES, len(failures))

    def _refuse_repeated(self, digests: "array[int]", offsets: "array[int]") -> None:
        """Refuses a key that has two lines: only damage doubles one."""
        numbers = np.argsort(np.asarray(digests), kind="stable")
        ordered = np.asarray(digests)[numbers]
        # Half-equal digests are rare, and the lines have the whole ones.
        for place in np.flatnonzero(ordered[1:] == ordered[:-1]):
            first, second = (int(numbers[at]) for at in (place, place + 1))
            keys = [_key_of(self._line_at(offsets[number])) for number in (first, second)]
            if keys[0] == keys[1]:
                LedgerReader.close(self)
                raise jsonl.damaged(
                    self._path, second + 1, f"line {first + 1} has an answer to the same key"
                )

    def find(self, key: str) -> Completion | Failure | None:
        """A key's answer, else its last failure, else None: it was not asked yet."""
        with self._lock:
            return self._answer(key, Completion) or self._failures.get(key)

    def recorded(self, key: str) -> RecordedAnswer | None:
        """A key's answer with all that its line says of its origin; None where there is none."""
        with self._lock:
            return self._answer(key, RecordedAnswer)

    def _answer(self, key: str, kind: type[_Answer]) -> _Answer | None:
        answers = (jsonl.decode_as(kind, line) for line in self._lines(key))
        return next((answer for answer in answers if answer.key == key), None)

    def holds(self, key: str) -> bool:
        """True where a key is answered."""
        with self._lock:
            places = self._index.find(short_digest(key))
            # Most keys that are looked for are not there: that is how a question gets asked.
            return bool(places) and any(_key_of(self._line_at(at)) == key for at in places)

    def _lines(self, key: str) -> Iterable[bytes]:
        """Candidate lines of a key: half-equal digests are rare, and the line has the whole one."""
        return map(self._line_at, self._index.find(short_digest(key)))

    def _line_at(self, offset: int) -> bytes:
        # Read by position and not mapped: the pages of a mapped file count as memory once read.
        self._stream = self._stream or self._path.open("rb")
        self._stream.seek(offset)
        return self._stream.readline()

    def close(self) -> None:
        """Closes the file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


class Ledger(LedgerReader):
    """Appends answers as they come in, and finds those that are there."""

    def __init__(self, folder: Path, each: Callable[[RecordedAnswer], None] | None = None) -> None:
        """Repairs a folder's ledger and opens it; arguments as of `LedgerReader`."""
        jsonl.repair(folder / LEDGER)
        super().__init__(folder, each)
        self._ledger = jsonl.Appender(folder / LEDGER, jsonl.encode_summed)
        self._failed = jsonl.Appender(folder / FAILURES, jsonl.encode_summed)
        self._synced = time.monotonic()
        self._syncing = ThreadPoolExecutor(1, "autoj-sync")
        self._sync: Future[None] = Future()
        self._sync.set_result(None)

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._index)

    def record(self, outcome: Completion | Failure) -> None:
        """Appends an answer or a failed attempt.

        Raises:
            StorageFull: the disk is full; everything recorded before stays.
        """
        with self._lock:
            self._record(outcome)

    def _record(self, outcome: Completion | Failure) -> None:
        if isinstance(outcome, Completion):
            if self.holds(outcome.key):
                return
            n_bytes = self._ledger.append(outcome)
            self._index.add(short_digest(outcome.key), self._n_bytes)
            self._n_bytes += n_bytes
        else:
            earlier = self._failures.get(outcome.key)
            attempts = outcome.attempts + (0 if earlier is None else earlier.attempts)
            self._failures[outcome.key] = replace(outcome, attempts=attempts)
            self._failed.append(self._failures[outcome.key])
        if time.monotonic() - self._synced > _SYNC_SECONDS and self._sync.done():
            # In another thread: a slow disk holds up no answer that comes meanwhile.
            finished, self._sync = self._sync, self._syncing.submit(self._sync_files)
            self._synced = time.monotonic()
            # An error is told once: a disk that was full may have room by the next time.
            finished.result()

    def _sync_files(self) -> None:
        self._ledger.sync()
        self._failed.sync()

    def close(self) -> None:
        """Syncs and closes all files."""
        super().close()
        self._syncing.shutdown()
        self._ledger.close()
        self._failed.close()


def is_key(text: str) -> bool:
    """True for 64 hex digits."""
    return _HEX.fullmatch(text) is not None


def _key_of(line: bytes) -> str:
    if line.startswith(b'{"key":"'):
        return line[_KEY].decode("ascii")
    return jsonl.decode_as(Completion, line).key


def check_count(folder: Path, name: str, n_lines: int) -> None:
    """Checks that a ledger or its failures, which only grow, have lost no line.

    Raises:
        DataError: `run.json` records more lines.
    """
    recorded = digests_of(folder).get(name)
    if recorded is not None and n_lines < recorded.n_lines:
        what = f"it has {n_lines:,} lines, and run.json records {recorded.n_lines:,}"
        raise jsonl.damaged(folder / name, None, what)


def checked_key(path: Path, number: int, line: bytes) -> str:
    """The key of a ledger's line, by its checksum or, where it has none, by its content.

    Args:
        path: the ledger.
        number: the number of the line, from 1.
        line: the line, with its newline.

    Raises:
        DataError: the line is damaged.
    """
    try:
        match jsonl.sum_agrees(line):
            case False:
                raise jsonl.damaged(path, number, "the line differs from its checksum")
            case True if _A_KEY.match(line):
                return _key_of(line)
            case None if _OTHER_SUM.search(line, max(0, len(line) - 40)):
                raise jsonl.damaged(path, number, "its checksum is in another form than ours")
        key = jsonl.decode_as(Completion, line).key
        if not is_key(key):
            raise jsonl.damaged(path, number, f"{key[:80]!r} is no key: expected 64 hex digits")
        return key
    except ValueError as error:
        raise jsonl.damaged(path, number, error) from None


class MemoryLedger:
    """Answers in memory, for a caller that wants no folder."""

    def __init__(self) -> None:
        self._outcomes: dict[str, Completion | Failure] = {}

    def holds(self, key: str) -> bool:
        """True where a key is answered."""
        return isinstance(self._outcomes.get(key), Completion)

    def record(self, outcome: Completion | Failure) -> None:
        """Keeps an answer or a failure."""
        self._outcomes[outcome.key] = outcome

    def find(self, key: str) -> Completion | Failure | None:
        """A key's answer or failure; None where it was not asked."""
        return self._outcomes.get(key)
