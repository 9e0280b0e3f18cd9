"""Answers of earlier runs, by key: what was paid for once is not asked again.

One SQLite file in the user's cache folder, which any number of processes read and write. A key
holds all that affects an answer but the server's address, so an answer is found by both: two
servers may serve different models under one name. Failures are never kept, nor answers that a
filter ended. Nothing here is needed by a run: its own ledger has every answer that it took from
here. So a file that is damaged is set aside, and one that cannot be used is done without.

Sampled answers are kept, too. Their keys hold the temperature, the seed and the number of the
sample, so a repeated question gets the same draw, as within a run; `--sample`s of other numbers are
other questions.
"""

import logging
import os
import sqlite3
import threading
import time
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock

from autoj.fetching import cache_folder
from autoj.jsonl import decode_as, encode
from autoj.records import Completion
from autoj.runs.ledger import RecordedAnswer

_log = logging.getLogger(__name__)

# The number of the layout: another version of autoj with another layout has a file of its own.
_FILE = "answers-1.sqlite"
_SHRINK = "PRAGMA incremental_vacuum"
MOST_BYTES = 2_000_000_000
"""The size of all answers above which the least recently used are removed."""
_KEPT_SHARE = 0.9
_BUSY_SECONDS = 10.0
_SECONDS_PER_DAY = 86_400.0
# The time of the last use need not be exact, and writing it down takes longer than reading.
_USED_SECONDS = 3600.0
_LAYOUT = (
    "PRAGMA auto_vacuum = INCREMENTAL",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "CREATE TABLE IF NOT EXISTS answers (place TEXT NOT NULL, key TEXT NOT NULL, "
    "model TEXT NOT NULL, protocol TEXT NOT NULL, completion BLOB NOT NULL, "
    "checksum INTEGER NOT NULL, written_tokens INTEGER, kept REAL NOT NULL, used REAL NOT NULL, "
    "PRIMARY KEY (place, key)) WITHOUT ROWID",
)


def answers_folder() -> Path:
    """The folder of answers: `answers` in `$AUTOJ_CACHE`, else in the platform's cache folder."""
    return cache_folder() / "answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSource:
    """The origin of answers: all that a request's key does not hold."""

    place: str
    """The server's address; "local" for an engine of this machine."""
    model: str
    protocol: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedModel:
    """The answers of one model on one server."""

    model: str
    place: str
    n_answers: int
    n_bytes: int
    oldest: float
    """The time at which its first answer was kept, in seconds since 1970."""
    newest: float


class AnswerCache:
    """The file of answers; a context manager that closes it.

    Its methods do not raise for a damaged or unusable file: nothing is found or kept then, and a
    warning says so once.
    """

    def __init__(self, folder: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        """Opens the file, or makes it.

        Args:
            folder: its folder, private to the user; None takes `answers_folder`.
            most_bytes: the size of all answers above which the least recently used are removed.
        """
        self.path = (folder or answers_folder()) / _FILE
        self._most_bytes = most_bytes
        self._writing = ThreadPoolExecutor(1, "autoj-cache")
        self._last_write: Future[list[Any]] | None = None
        self._lock = threading.Lock()
        self._inode = 0
        self._connection: sqlite3.Connection | None = None
        try:
            self._connection = self._connect()
        except (sqlite3.DatabaseError, OSError) as error:
            self._give_up(error)

    def __enter__(self) -> "AnswerCache":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def find(self, source: AnswerSource, key: str) -> RecordedAnswer | None:
        """The answer to a key from a place, marked as reused; None where there is none."""
        self._finish_writing()
        where, now = (source.place, key), time.time()
        for line, checksum, used in self._run(
            "SELECT completion, checksum, used FROM answers WHERE place = ? AND key = ?", *where
        ):
            found = _answer(key, line, checksum)
            if found is None:
                _log.warning("an answer in %s is damaged; it is asked again", self.path)
                self._run("DELETE FROM answers WHERE place = ? AND key = ?", *where)
            elif now - used > _USED_SECONDS:
                self._run("UPDATE answers SET used = ? WHERE place = ? AND key = ?", now, *where)
            return found
        return None

    def keep(self, source: AnswerSource, answer: Completion) -> None:
        """Keeps an answer, unless a filter ended it."""
        if answer.finish == "filtered":
            return
        line, now = encode(answer), time.time()
        written = None if answer.choice_logprobs is not None else answer.completion_tokens
        # In another thread: what comes next must reach its ledger at once, whoever locks the file.
        self._last_write = self._writing.submit(
            self._run,
            "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            source.place, answer.key, source.model, source.protocol,
            line, zlib.crc32(line), written, now, now,
        )  # fmt: skip

    def typical_tokens(self, source: AnswerSource) -> float | None:
        """The mean length in tokens of the texts that a model wrote; None where there are none."""
        for (mean,) in self._run(
            "SELECT avg(written_tokens) FROM answers "
            "WHERE place = ? AND model = ? AND protocol = ?",
            source.place, source.model, source.protocol,
        ):  # fmt: skip
            return None if mean is None else float(mean)
        return None

    def models(self) -> list[CachedModel]:
        """The answers by model and server, the largest first."""
        self._finish_writing()
        return [
            CachedModel(model=model, place=place, n_answers=n, n_bytes=size, oldest=old, newest=new)
            for model, place, n, size, old, new in self._run(
                "SELECT model, place, count(*), sum(length(completion)), min(kept), max(kept) "
                "FROM answers GROUP BY model, place ORDER BY 4 DESC, 1, 2"
            )
        ]

    def n_bytes(self) -> int:
        """The size of the file."""
        sizes = self._run("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return int(sizes[0][0]) if sizes else 0

    def clear(self, model: str | None = None, older_than_days: float = 0.0) -> int:
        """Removes answers, and gives their space back to the disk.

        Args:
            model: the name of a model; None is all.
            older_than_days: removes only answers kept longer ago than this.

        Returns:
            The number of removed answers.
        """
        self._finish_writing()
        before = time.time() - older_than_days * _SECONDS_PER_DAY
        which = "FROM answers WHERE (?1 IS NULL OR model = ?1) AND kept <= ?2"
        counts = self._run(f"SELECT count(*) {which}", model, before)
        self._run(f"DELETE {which}", model, before)
        self._run(_SHRINK)
        return int(counts[0][0]) if counts else 0

    def close(self) -> None:
        """Removes what is too much, and closes the file."""
        self._finish_writing()
        if self.n_bytes() > self._most_bytes:
            self._evict()
        self._writing.shutdown()
        with self._lock:
            self._disconnect()

    def _evict(self) -> None:
        """Removes the least recently used answers."""
        self._run(
            "DELETE FROM answers WHERE (place, key) IN (SELECT place, key FROM (SELECT place, key, "
            "sum(length(completion)) OVER (ORDER BY used DESC, place, key) AS newer FROM answers) "
            "WHERE newer > ?)",
            self._most_bytes * _KEPT_SHARE,
        )
        self._run(_SHRINK)

    def _finish_writing(self) -> None:
        """Waits until all that was handed over is written."""
        if self._last_write is not None:
            self._last_write.result()

    def _run(self, statement: str, *values: object) -> list[Any]:
        """The rows of a statement; none where the file cannot be used."""
        with self._lock:
            if self._connection is None:
                return []
            try:
                if statement == _SHRINK:
                    # It frees a page a step, and only a script is stepped through to its end.
                    self._connection.executescript(statement)
                    return []
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.DatabaseError as error:
                self._give_up(error)
                return []

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # SQLite gives the files beside this one its permissions.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        self._inode = self.path.stat().st_ino
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            # Two processes that change a new file's mode at once would not wait for each other.
            with FileLock(self.path.with_suffix(".lock"), timeout=_BUSY_SECONDS):
                for statement in _LAYOUT:
                    connection.execute(statement)
        except BaseException:
            connection.close()
            raise
        return connection

    def _disconnect(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection is not None:
                self._connection.close()
        self._connection = None

    def _give_up(self, error: Exception) -> None:
        """Starts anew where the file is damaged; does without where it cannot be used."""
        self._disconnect()
        # A file that is locked, read-only or on a full disk is not damaged.
        if isinstance(error, sqlite3.OperationalError | OSError):
            _log.warning("answers of earlier runs are not used: %s: %s", self.path, error)
            return
        try:
            aside = self._set_aside()
            self._connection = self._connect()
        except (sqlite3.DatabaseError, OSError) as second:
            _log.warning("answers of earlier runs are not used: %s: %s", self.path, second)
        else:
            _log.warning("%s was damaged (%s), and is now %s", self.path, error, aside)

    def _set_aside(self) -> Path:
        aside = self.path.with_name(f"{self.path.stem}.damaged{self.path.suffix}")
        with FileLock(self.path.with_suffix(".lock"), timeout=_BUSY_SECONDS):
            # Another process may have done it by now.
            if self.path.stat().st_ino == self._inode:
                self.path.replace(aside)
                for ending in ("-wal", "-shm"):
                    self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        return aside


def _answer(key: str, line: bytes, checksum: int) -> RecordedAnswer | None:
    """The answer in a row; None where it is damaged."""
    try:
        if zlib.crc32(line) != checksum:
            return None
        found = decode_as(RecordedAnswer, line)
    except (TypeError, ValueError):
        return None
    return replace(found, reused=True) if found.key == key else None
