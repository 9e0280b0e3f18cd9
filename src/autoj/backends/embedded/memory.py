"""Memory that the engine may still take, and models that do not fit into it."""

import ctypes
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from autoj.errors import NoRoom

MAPPING = Lock()
"""Held while a model is loaded or freed, and while pages are given back.

Of a mapping that another engine frees in between, the addresses may be another's memory by then,
and that would be given back. It also lets one model at a time find out whether there is room.
"""
_CGROUP = Path("/sys/fs/cgroup")
_GROUPS = Path("/proc/self/cgroup")
_STATUS = Path("/proc/self/status")
_MAPS = Path("/proc/self/maps")
_CACHES = ("inactive_file", "active_file")
_DONT_NEED = 4  # MADV_DONTNEED, on every Linux
_SAID = ("Failed to allocate", "bad_alloc", "Cannot allocate memory")
_HINT = (
    "Close other programs, or use a smaller judge: --judge embedded-0.5b, or "
    "--judge embedded-small, which takes 1.1 GB."
)


def available_bytes() -> int | None:
    """The memory that this process may still take; None where the system does not say.

    The least of what is free on the machine, what is left to its container, and what is left
    under a limit of its address space (`ulimit -v`).
    """
    import psutil

    limits = [int(psutil.virtual_memory().available), _left_to_container(), _left_to_process()]
    return min((limit for limit in limits if limit is not None), default=None)


def check_memory(needed_bytes: float, to_do: str) -> None:
    """Refuses what would be killed for want of memory.

    Args:
        needed_bytes: the memory that it takes at most.
        to_do: its name, such as "to convert the weights".

    Raises:
        NoRoom: less is available.
    """
    left_bytes = available_bytes()
    if left_bytes is not None and left_bytes < needed_bytes:
        raise NoRoom(
            f"{to_do} takes {needed_bytes / 1e9:.1f} GB of memory, and {left_bytes / 1e9:.1f} GB "
            "are available",
            hint=_HINT,
        )


def ran_out_of_memory(error: BaseException) -> bool:
    """True where an error of OpenVINO says that memory could not be had.

    >>> ran_out_of_memory(RuntimeError("Failed to allocate 13787136 bytes of memory"))
    True
    """
    return isinstance(error, MemoryError) or any(said in str(error) for said in _SAID)


def does_not_fit(to_do: str) -> NoRoom:
    """The error of what found no memory while it was done."""
    return NoRoom(f"{to_do} ran out of memory", hint=_HINT)


def release_pages(file: Path) -> None:
    """Gives back the pages that this process has read of a file through a mapping, on Linux.

    They are read again where they are needed. Elsewhere nothing is done, and the system takes
    them back when it needs them.
    """
    if sys.platform != "linux":
        return
    system = ctypes.CDLL(None, use_errno=True)
    with MAPPING:
        for start, end in _mappings(file):
            system.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _DONT_NEED)


def free_what_failed(error: BaseException) -> None:
    """Frees what the traceback of an error holds, such as a model that was loaded in part."""
    with MAPPING:
        traceback.clear_frames(error.__traceback__)


def _mappings(file: Path) -> Iterator[tuple[int, int]]:
    """The addresses of a file's mappings that are only read: in others, changes would be lost."""
    # In bytes: a path may be no UTF-8, and hold what text is split at. The kernel escapes the end
    # of a line, so a path that has one is not found, and its pages are kept.
    try:
        lines = _MAPS.read_bytes().split(b"\n")
    except OSError:
        return
    sought = os.fsencode(file.resolve())
    for line in lines:
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[5] == sought and b"w" not in words[1]:
            start, end = (int(address, 16) for address in words[0].split(b"-"))
            yield start, end


def _left_to_container() -> int | None:
    """The bytes left under the limit of a container; caches of files do not count as taken.

    Nor do those in use, such as pages of weights that two programs have mapped: the system takes
    them back before it kills.
    """
    limits = [
        most - used + sum(_field(folder / "memory.stat", f"{prefix}{kind}") for kind in _CACHES)
        for folder, limit, taken, prefix in _groups()
        if (most := _number(folder / limit)) is not None
        and (used := _number(folder / taken)) is not None
    ]
    return min(limits, default=None)


def _groups() -> Iterator[tuple[Path, str, str, str]]:
    """The control groups that may limit this process.

    Each with the names of the files that state its limit and what it took, and with what the names
    in `memory.stat` begin with where the groups below it are counted in.
    In a container the group that is listed is often not there, and the root is the container's.
    """
    try:
        lines = os.fsdecode(_GROUPS.read_bytes()).split("\n")
    except OSError:
        return
    for line in filter(None, lines):
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, names = _CGROUP, ("memory.max", "memory.current", "")
        elif controllers == "memory":
            root = _CGROUP / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
        else:
            continue
        for folder in (root, root / path.strip("/")):
            yield (folder, *names)


def _left_to_process() -> int | None:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return None
    return most - 1024 * _field(_STATUS, "VmSize:")


def _number(path: Path) -> int | None:
    """The number in a file; None where it holds none, such as "max", or is not there."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _field(path: Path, name: str) -> int:
    """The number behind a name in a file of one pair a line; 0 where it is not there."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    found = [line.split() for line in lines]
    return next((int(words[1]) for words in found if len(words) > 1 and words[0] == name), 0)
