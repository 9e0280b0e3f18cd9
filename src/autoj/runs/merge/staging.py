"""A folder that is there as a whole or not at all: written beside its place, then moved there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autoj.jsonl import storage_error
from autoj.runs.folder import HOLDER, LOCK, locked

__all__ = ["draft_of", "recover"]

_OF_A_RUN = {
    HOLDER, LOCK, "run.json",
    *(
        f"{name}.jsonl"
        for name in (
            "bad_rows", "cases", "failures", "follow", "ledger", "matches", "picks", "plan",
            "scenarios", "timings", "verdicts",
        )
    ),
}  # fmt: skip
"""What a run's folder holds; all else in it is the user's."""


@contextmanager
def draft_of(place: Path) -> Iterator[Path]:
    """A run's folder to write, empty and held; it takes its place when the block ends well.

    What is at the place until then stays there. Afterwards the old run is gone; files that are no
    part of a run are kept.

    Raises:
        RunBusy: another process writes a draft of the same.
        StorageFull: the disk took no more.
    """
    draft = place.with_name(f".{place.name}.merging")
    try:
        draft.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, draft) from error
    with locked(draft):
        # One that was killed may have left some.
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
    """Put back what was at a place, where a process was killed while it moved its draft there."""
    old = _replaced(place)
    if old.is_dir() and place.exists():
        _discard(old, place)
    elif old.is_dir():
        old.rename(place)


def _discard(old: Path, place: Path) -> None:
    """Remove a run that another has replaced, and put into that what else was in its folder."""
    for path in old.iterdir() if old.is_dir() else ():
        if path.name not in _OF_A_RUN and not (place / path.name).exists():
            path.rename(place / path.name)
    shutil.rmtree(old, ignore_errors=True)


def _replaced(place: Path) -> Path:
    return place.with_name(f".{place.name}.replaced")
