"""Staging folders: written beside the final path, then moved there, complete or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from autoj.runs.place import HOLDER, LOCK, is_of_a_run, locked
from autoj.system_errors import storage_error


@contextmanager
def staging_folder(place: Path) -> Iterator[Path]:
    """Makes an empty, locked staging folder, which replaces `place` when the block succeeds.

    The folder at that path stays until then. Afterwards the old run is gone; files that are not
    part of a run are kept.

    Raises:
        RunBusy: another process writes a staging folder for the same path.
        StorageFull: the disk is full.
    """
    draft = _draft(place)
    try:
        draft.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, draft) from error
    with locked(draft):
        # A killed process may have left some.
        for left in draft.iterdir():
            if left.name not in (HOLDER, LOCK):
                left.unlink()
        try:
            yield draft
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        (draft / HOLDER).unlink(missing_ok=True)
        if place.exists():
            place.rename(_replaced(place))
        draft.rename(place)
        _discard(_replaced(place), place)


def recover(place: Path) -> None:
    """Restores the old folder, where a process was killed while it moved the new one into place.

    Raises:
        RunBusy: that process is at it.
    """
    old, draft = _replaced(place), _draft(place)
    if not old.is_dir():
        return
    with locked(draft) if draft.is_dir() else nullcontext():
        if place.exists():
            _discard(old, place)
        else:
            old.rename(place)


def _discard(old: Path, place: Path) -> None:
    """Removes a run that was replaced, and moves the user's files into the new one."""
    for path in old.iterdir() if old.is_dir() else ():
        if not is_of_a_run(path.name) and not (place / path.name).exists():
            path.rename(place / path.name)
    shutil.rmtree(old, ignore_errors=True)


def _draft(place: Path) -> Path:
    return place.with_name(f".{place.name}.merging")


def _replaced(place: Path) -> Path:
    return place.with_name(f".{place.name}.replaced")
