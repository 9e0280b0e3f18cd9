"""The folder that a run is written to: new, empty or a run's, and one process writes at a time.

It is never a folder of other things.
"""

import json
import os
import platform
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from autoj.errors import ConfigError, RunBusy
from autoj.jsonl import encode
from autoj.runs.files import (
    BAD_ROWS,
    CASES,
    FAILURES,
    FOLLOW,
    LEDGER,
    PLAN,
    TIMINGS,
    VERDICTS,
)
from autoj.runs.kind import JURY_FILE, PICKS_FILE
from autoj.system_errors import storage_error

HOLDER = "holder.json"
LOCK = "run.lock"
_MARKS = ("run.json", "jury.json", "audit_plan.json")
"""Files of which a folder of ours has one when it is complete."""
_FILES = {
    "run.json", JURY_FILE, LOCK, HOLDER, CASES, PLAN, FOLLOW, LEDGER, FAILURES, VERDICTS, BAD_ROWS,
    TIMINGS, PICKS_FILE, "matches.jsonl", "scenarios.jsonl",
}  # fmt: skip
_FOLDERS = {"judges", "pairs", "grades", "damaged"}
_UNFINISHED = (".draft", ".new", ".earlier")
"""Endings of files of ours while they are replaced, and of those that they replaced."""
# Files that systems and repositories put into folders that are otherwise empty.
_IGNORED = {".DS_Store", "Thumbs.db", "desktop.ini", ".gitignore", ".gitkeep"}


def check_place(path: Path, parts: Collection[str] = ()) -> None:
    """Refuses a folder that holds other things than a run.

    A start that was killed may have left files of ours without `run.json`: these are no other
    things.

    Args:
        path: the folder; it may not exist.
        parts: names of other folders that belong to what is written there.

    Raises:
        ConfigError: the folder holds something else.
        OSError: it cannot be read.
    """
    if not path.is_dir() or any((path / mark).is_file() for mark in _MARKS):
        return
    ours = {*_FILES, *_FOLDERS, *_IGNORED, *parts}
    others = sorted(entry.name for entry in path.iterdir() if _plain(entry.name) not in ours)
    if others:
        shown = ", ".join(map(repr, others[:3])) + (", …" if others[3:] else "")
        raise ConfigError(
            f"--out {path} is no run, and the folder holds other things: {shown}",
            hint=f"Choose a new folder, such as --out {path / 'judged'}",
        )


def is_of_a_run(name: str) -> bool:
    """True for a name of a run's files, also while one is replaced; all others are the user's.

    >>> is_of_a_run("ledger.jsonl"), is_of_a_run("run.json.draft"), is_of_a_run("notes.txt")
    (True, True, False)
    """
    return _plain(name) in _FILES


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Locks a run's folder until the block ends.

    Raises:
        RunBusy: another process is writing to it.
        StorageFull: the disk is full.
    """
    try:
        lock = _take(path)
    except OSError as error:
        raise storage_error(error, path) from error
    try:
        yield
    finally:
        (path / HOLDER).unlink(missing_ok=True)
        lock.release()


def is_locked(path: Path) -> bool:
    """True where a session seems to write to a folder: it names itself there."""
    return (path / HOLDER).is_file()


def _plain(name: str) -> str:
    """A file's name without the endings that ours have for a time."""
    for ending in _UNFINISHED:
        name = name.removesuffix(ending)
    return name


def _take(path: Path) -> FileLock:
    """Locks the folder; the operating system frees the lock of a process that died."""
    lock = FileLock(path / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunBusy(
            f"{path} is being written by {_holder(path)}",
            hint="Wait for it, stop it, or choose another --out.",
        ) from None
    holder = {"pid": os.getpid(), "host": platform.node(), "started": _now()}
    (path / HOLDER).write_bytes(encode(holder))
    return lock


def _holder(path: Path) -> str:
    try:
        holder = json.loads((path / HOLDER).read_bytes())
        return f"process {holder['pid']} on {holder['host']} since {holder['started']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
