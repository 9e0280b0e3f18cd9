"""Fetches runs from a store: every object is compared with its digest, and only news is read."""

import io
import logging
import os
import shutil
from collections.abc import Container, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock

from autoj.errors import DataError
from autoj.fetching import cache_folder
from autoj.jsonl import decode_as
from autoj.runs.kind import JURY_FILE
from autoj.runs.place import LOCK
from autoj.runs.stores.address import StoreAddress, is_run_name, place_of
from autoj.runs.stores.manifest import (
    DERIVED,
    FILES,
    GROWING,
    SHARDS,
    Manifest,
    Piece,
    read_manifest,
    restoring,
)
from autoj.runs.stores.objects import Absent, Objects, persistently
from autoj.system_errors import storage_error

_log = logging.getLogger(__name__)


class StoredCopy:
    """A local copy of one run in a store."""

    def __init__(self, objects: Objects, folder: Path, *, for_reading: bool = False) -> None:
        """Names the copy; nothing is fetched yet.

        Args:
            objects: the run.
            folder: the copy.
            for_reading: nothing is recorded here, so what is not stored is removed.
        """
        self.objects = objects
        self.folder = folder
        self.for_reading = for_reading
        self.manifest: Manifest | None = None
        """The state that the copy has, once it is known."""
        self._n_verified = dict.fromkeys(GROWING, 0)
        """Of files that grow, the bytes that are known to be as they are stored."""

    def update(self) -> Manifest:
        """Brings the copy to the last state of the run; it may be ahead in what is recorded here.

        Raises:
            DataError: an object is missing or damaged.
            Unavailable: the store is down.
            StorageFull: the disk is full.
        """
        found = read_manifest(self.objects)
        while found != self.manifest:
            try:
                self.take(found)
            except DataError:
                # Its writer replaces small pieces by larger ones.
                if (later := read_manifest(self.objects)).number == found.number:
                    raise
                found = later
        return found

    def take(self, manifest: Manifest) -> None:
        """Brings the copy to a state; raises as `update`."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # What is derived from other files would not agree with those that are fetched.
            for name in {*(FILES if self.for_reading else DERIVED)} - manifest.files.keys():
                (self.folder / name).unlink(missing_ok=True)
            for name, pieces in manifest.files.items():
                if name in GROWING:
                    self._take_growing(name, pieces)
                else:
                    self._take_whole(name, pieces)
        except OSError as error:
            raise storage_error(error, self.folder) from error
        self.manifest = manifest

    def _take_whole(self, name: str, pieces: tuple[Piece, ...]) -> None:
        path = self.folder / name
        is_known = self.manifest is not None and self.manifest.files.get(name) == pieces
        if path.is_file() and (is_known or _state(path) == pieces):
            return
        draft = path.with_name(f"{name}.draft")
        with draft.open("w+b") as stream:
            for piece in pieces:
                self._copy(name, piece, stream)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)

    def _take_growing(self, name: str, pieces: tuple[Piece, ...]) -> None:
        path, start, verified = self.folder / name, 0, self._n_verified[name]
        with path.open("r+b" if path.exists() else "w+b") as stream:
            for piece in pieces:
                stop = start + piece.n_bytes
                if stop > verified:
                    stream.seek(start)
                    if Piece.of(stream, piece.n_bytes) != piece:
                        self._replace_rest(stream, path, piece, start)
                start = stop
            if self.for_reading:
                stream.truncate(start)
            stream.flush()
            os.fsync(stream.fileno())
        self._n_verified[name] = max(verified, start)

    def _replace_rest(self, stream: BinaryIO, path: Path, piece: Piece, start: int) -> None:
        """Writes a piece where the local file ends, or where it goes on in another way."""
        content = io.BytesIO()
        self._copy(path.name, piece, content)
        stream.seek(start)
        here = stream.read(piece.n_bytes)
        # What only goes on is not cut off first: others count the lines meanwhile.
        if content.getvalue().startswith(here):
            stream.write(content.getvalue()[len(here) :])
            return
        if not self.for_reading:
            earlier = path.with_name(f"{path.name}.earlier")
            _append_rest(stream, start, earlier)
            _log.warning(
                "%s has gone on from %s on another machine: answers that were recorded here after "
                "the last sync are asked again; %s keeps them",
                self.objects.address, path, earlier.name,
            )  # fmt: skip
        stream.seek(start)
        stream.truncate()
        stream.write(content.getvalue())

    def _copy(self, name: str, piece: Piece, target: BinaryIO) -> None:
        """Reads a piece to the end of a file, once more where a transfer went wrong."""
        start, where = target.tell(), f"{self.objects.address}/{piece.key(name)}"
        for _ in range(2):
            target.seek(start)
            target.truncate()
            try:
                self.objects.copy_to(piece.key(name), target, piece.n_bytes)
            except Absent:
                fault = "is missing, and the manifest names it"
                continue
            target.seek(start)
            if Piece.of(target) == piece:
                return
            fault = f"is damaged: it is not the {piece.n_bytes:,} bytes that the manifest names"
        raise DataError(fault, path=where, hint=restoring(self.objects.address))


def _append_rest(stream: BinaryIO, start: int, target: Path) -> None:
    """Adds what a file has from a position on to what another one keeps."""
    stream.seek(start)
    with target.open("ab") as kept:
        shutil.copyfileobj(stream, kept, 1 << 20)
        stream.seek(-1, os.SEEK_END)
        if stream.read(1) != b"\n":
            kept.write(b"\n")


def _state(path: Path) -> tuple[Piece, ...]:
    with path.open("rb") as stream:
        return (Piece.of(stream),)


def copies_folder() -> Path:
    """The folder of local copies: `stores` in `$AUTOJ_CACHE`, else in the platform's cache."""
    return cache_folder() / "stores"


def fetched_copy(address: StoreAddress) -> Path:
    """Fetches what is at an address into a folder for reading; one of nothing where nothing is.

    Raises:
        AutojError: as `held_copy`.
    """
    with held_copy(address) as folder:
        return folder


@contextmanager
def held_copy(address: StoreAddress) -> Iterator[Path]:
    """Fetches as `fetched_copy`; no other process fetches into the folder until the block ends.

    Raises:
        DataError: an object is missing or damaged.
        AutojError: as `Objects`.
    """
    place = copies_folder() / f"{address.name}-{address.digest}-read"
    copy = StoredCopy(Objects(address), place / address.name, for_reading=True)
    with ExitStack() as held:
        try:
            place.mkdir(parents=True, exist_ok=True)
            # Two workers of a machine may want the same answers.
            held.enter_context(FileLock(place / LOCK))
            persistently(copy.update)
        except OSError as error:
            raise storage_error(error, place) from error
        yield copy.folder


def fetched_runs(address: StoreAddress) -> list[Path]:
    """Fetches the run at an address, or all runs in the folder that it names.

    Where the shards of a cluster lie there, these are the ones that make up their run now.

    Returns:
        The folders of local copies, for reading.

    Raises:
        DataError: there is no run, or an object is missing or damaged.
        AutojError: as `Objects`.
    """
    own = fetched_copy(address)
    if _is_stored(address):
        return [own]
    if (own / JURY_FILE).is_file():
        raise DataError(
            "is a jury's, not one judge's run",
            path=str(address),
            hint=f"Name one of its judges' runs: {address}/judges/NAME. The command that judged "
            "fetches the whole jury, and asks nothing again.",
        )
    names = [name for name in persistently(Objects(address).names) if is_run_name(name)]
    if (own / SHARDS).is_file():
        listed = _listed_shards(own / SHARDS)
        names = [name for name in names if name in listed]
    runs = [fetched_copy(address / name) for name in names if _is_stored(address / name)]
    if not runs:
        raise DataError("there is no run", path=str(address))
    return runs


def _is_stored(address: StoreAddress) -> bool:
    """True for a run that has settings; says so where it is still being written."""
    # A local copy may have files that are not stored.
    found = persistently(partial(read_manifest, Objects(address)))
    if "run.json" not in found.files:
        return False
    if found.writer is not None:
        _log.warning(
            "%s was not ended by %s, which may still be at it: what it has stored is taken",
            address, found.writer.name,
        )  # fmt: skip
    return True


@dataclass(frozen=True, slots=True)
class _Listed:
    """The part of the list of a run's shards that is read here."""

    shards: dict[str, str]


def _listed_shards(path: Path) -> Container[str]:
    try:
        return decode_as(_Listed, path.read_bytes()).shards
    except ValueError as error:
        raise DataError(f"is no list of shards: {error}", path=path) from None


def folders_of(places: Iterable[str]) -> list[Path]:
    """The folders of runs that are named by folders and by addresses, which are fetched.

    Raises:
        AutojError: as `fetched_runs`.
    """
    folders: list[Path] = []
    for place in map(place_of, places):
        folders += fetched_runs(place) if isinstance(place, StoreAddress) else [place]
    return folders
