"""The lock of a run's folder: one process writes at a time."""

import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from autoj.errors import RunBusy
from autoj.jsonl import encode
from autoj.system_errors import storage_error

HOLDER = "holder.json"
LOCK = "run.lock"


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
