"""Public data files by name: their local path, and how to fetch them.

`catalog.yaml` lists them. A file is looked for in the folder that `AUTOJ_DATA` names, then in the
cache folder; nothing is fetched unless `get` is called.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from autoj.errors import ConfigError, DataError, Unavailable, UnknownComponent
from autoj.fetching import (
    Checksum,
    FetchFailed,
    OnFetch,
    Source,
    cache_folder,
    fetch_file,
    open_address,
)
from autoj.system_errors import storage_error

_CATALOG = Path(__file__).with_name("catalog.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicFile:
    """A file at a public address."""

    path: str
    """Its path in a data folder, with `/`."""
    url: str
    checksum: Checksum | None
    """None where it is unknown; such a file is fetched only on explicit demand."""
    size_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A data set of the catalogue."""

    name: str
    what: str
    """One line on its content."""
    licence: str
    path: str
    """Its file or folder, relative to a data folder, with `/`."""
    also: tuple[str, ...]
    """Other paths with the same data, used where they exist."""
    files: tuple[PublicFile, ...]
    """The files to fetch: one, those of a folder, or none where no address can be given."""
    by_hand: str | None
    """Instructions to obtain it by hand, where there is no address."""

    @property
    def is_test(self) -> bool:
        """True for a benchmark's set, on which judges are measured and never fitted."""
        return "Test only" in self.what

    @property
    def is_verified(self) -> bool:
        """True where each of its files has a known checksum."""
        return all(file.checksum is not None for file in self.files)

    @property
    def size_bytes(self) -> int | None:
        """The bytes of all its files; None where one is unknown, or there is none."""
        sizes = [file.size_bytes for file in self.files]
        known = [size for size in sizes if size is not None]
        return sum(known) if known and len(known) == len(sizes) else None


def data_names() -> tuple[str, ...]:
    """The names of all entries, in the catalogue's order."""
    return tuple(_entries(_CATALOG))


def test_sets_here() -> dict[str, Path]:
    """The benchmarks' sets that are on this machine, by name."""
    found = {name: _lookup(entry) for name, entry in _entries(_CATALOG).items() if entry.is_test}
    return {name: path for name, path in found.items() if path is not None}


def is_test_file(path: Path) -> bool:
    """True where a file is one of a benchmark's, whatever it is called: the checksums are equal."""
    size = path.stat().st_size if path.is_file() else None
    return size is not None and any(
        file.checksum is not None
        and file.size_bytes in (None, size)
        and file.checksum.of(path) == file.checksum.digest
        for entry in _entries(_CATALOG).values()
        if entry.is_test
        for file in entry.files
    )


def load_entry(name: str) -> Entry:
    """Loads an entry of the catalogue.

    Raises:
        UnknownComponent: no entry has this name.
    """
    entries = _entries(_CATALOG)
    if name not in entries:
        raise UnknownComponent("data set", name, entries)
    return entries[name]


def find(name: str) -> Path:
    """The local path of a data set: a file, or a folder where it is several files.

    Searches `$AUTOJ_DATA`, then the cache folder, and fetches nothing.

    Raises:
        UnknownComponent: the catalogue has no such name.
        DataError: it is in neither place; the hint says how to get it.
    """
    entry = load_entry(name)
    found = _lookup(entry)
    if found is None:
        raise DataError(
            f"the data set {name!r} is not on this machine",
            path=_cache() / entry.path,
            hint=_advice(entry),
        )
    return found


def is_here(name: str) -> bool:
    """True where `find` would find a data set."""
    return _lookup(load_entry(name)) is not None


def get(
    name: str,
    on_fetch: OnFetch | None = None,
    *,
    to: Path | None = None,
    unverified: bool = False,
) -> Path:
    """The path of a data set, fetched and verified by checksum if it is not on this machine.

    Args:
        name: a name of the catalogue.
        on_fetch: called with the progress.
        to: the data folder to fetch into, so that `AUTOJ_DATA` can name it; None is the cache
            folder, and then a copy under `AUTOJ_DATA` is used if present.
        unverified: True accepts a file without a known checksum.

    Raises:
        UnknownComponent: the catalogue has no such name.
        ConfigError: no address or no checksum is known.
        Unavailable: it could not be fetched, or is not the right file.
        StorageFull: the disk is full.
    """
    entry = load_entry(name)
    if to is None and (found := _lookup(entry)) is not None:
        return found
    if not entry.files:
        raise ConfigError(
            f"the data set {name!r} cannot be fetched: no address is known", hint=_advice(entry)
        )
    if not entry.is_verified and not unverified:
        raise ConfigError(
            f"the data set {name!r} has no known checksum, so a wrong file would go unnoticed",
            hint=f"autoj data get {name} --unverified accepts the file at {entry.files[0].url}.",
        )
    folder = to or _cache()
    for file in entry.files:
        _get_file(entry, file, folder, on_fetch)
    return folder / entry.path


def _get_file(entry: Entry, file: PublicFile, folder: Path, on_fetch: OnFetch | None) -> None:
    target = folder / file.path
    checksum = file.checksum
    if checksum is not None and target.is_file() and checksum.of(target) != checksum.digest:
        raise DataError(
            f"is not the file that the catalogue lists: its {checksum.kind} differs",
            path=target,
            hint="Move it away and run the same command again.",
        )
    try:
        fetch_file(
            target,
            [Source(name=file.url, open=partial(open_address, file.url))],
            what=f"{entry.name}: {PurePosixPath(file.path).name}",
            checksum=checksum,
            size_bytes=file.size_bytes,
            on_fetch=on_fetch,
        )
    except FetchFailed as failed:
        stated = f" with {checksum.kind} {checksum.digest}" if checksum is not None else ""
        raise Unavailable(
            f"the data set {entry.name!r} could not be fetched:\n    {failed}",
            hint=f"By hand: put the file{stated} at {target}, or set AUTOJ_DATA to a folder that "
            f"has {entry.path}.",
        ) from failed
    except OSError as error:
        raise storage_error(error, target) from error


def _cache() -> Path:
    return cache_folder() / "data"


def _lookup(entry: Entry) -> Path | None:
    local = os.environ.get("AUTOJ_DATA")
    if local:
        for path in (entry.path, *entry.also):
            if (Path(local) / path).exists():
                return Path(local) / path
    cached = _cache() / entry.path
    if entry.files:
        # An interrupted fetch leaves an incomplete folder.
        return cached if all((_cache() / file.path).is_file() for file in entry.files) else None
    return cached if cached.exists() else None


def _advice(entry: Entry) -> str:
    places = f"AUTOJ_DATA to a folder that has {' or '.join((entry.path, *entry.also))}"
    if entry.files:
        return f"Run autoj data get {entry.name}, or set {places}."
    return f"Set {places}. {entry.by_hand or ''}".rstrip()


@cache
def _entries(path: Path) -> Mapping[str, Entry]:
    raw = yaml.safe_load(path.read_bytes())
    return {name: _entry(path, name, fields) for name, fields in raw.items()}


def _entry(path: Path, name: str, fields: dict[str, Any]) -> Entry:
    place = _inside(path, name, fields["path"])
    if "files" in fields:
        files = tuple(
            _file(f"{place}/{_inside(path, name, relative)}", file)
            for relative, file in fields["files"].items()
        )
    else:
        files = (_file(place, fields),) if "url" in fields else ()
    return Entry(
        name=name,
        what=fields["what"],
        licence=fields["licence"],
        path=place,
        also=tuple(_inside(path, name, other) for other in fields.get("also", ())),
        files=files,
        by_hand=fields.get("by_hand"),
    )


def _file(place: str, fields: dict[str, Any]) -> PublicFile:
    kind, _, digest = (fields["checksum"] or "").partition(":")
    return PublicFile(
        path=place,
        url=fields["url"],
        checksum=Checksum(kind=kind, digest=digest) if digest else None,
        size_bytes=fields.get("size_bytes"),
    )


def _inside(path: Path, name: str, place: str) -> str:
    """A path of the catalogue, which must stay inside the data folder."""
    parts = PurePosixPath(place)
    if parts.is_absolute() or ".." in parts.parts or "\\" in place or ":" in place:
        raise ConfigError(f"{path}: {name}: the path {place!r} leads out of the data folder")
    return str(parts)
