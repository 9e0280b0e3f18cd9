"""Downloads: fetched once into the user's cache folder, verified, and complete or absent.

A file is written as a draft under a lock and renamed only when its checksum is right. So an
interrupted download leaves no incomplete file and can be started again. Errors of the operating
system pass through: the callers name the file that could not be written.
"""

import hashlib
import http.client
import os
import urllib.request
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import platformdirs
from filelock import FileLock

OnFetch = Callable[[str, int, int], None]
"""Called with the name of the file, the bytes received, and the bytes in all."""

_BLOCK_BYTES = 1 << 20
_TIMEOUT_SECONDS = 30


class FetchFailed(Exception):
    """No source had the right file; `faults` has a line for each."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checksum:
    """The identity of a file: a digest of its content."""

    kind: str
    """`sha256`, or `git`: the id of a file in git, by which public hosts identify it."""
    digest: str
    """Hex digits."""

    def of(self, path: Path) -> str:
        """Computes the digest of a file."""
        digest = hashlib.sha256() if self.kind == "sha256" else hashlib.sha1(usedforsecurity=False)
        if self.kind == "git":
            digest.update(b"blob %d\0" % path.stat().st_size)
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
        return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A place to download the file from."""

    name: str
    """The name for messages."""
    open: Callable[[], AbstractContextManager[IO[bytes]]]
    """Opens the file; raises `LookupError` or `OSError` if it is not available there."""


def cache_folder() -> Path:
    """The folder of downloads: `$AUTOJ_CACHE`, else the platform's cache folder."""
    chosen = os.environ.get("AUTOJ_CACHE")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("autoj"))


def weights_file(sha256: str) -> Path:
    """The place of a model's weights in the cache, fetched or not.

    Args:
        sha256: of the file, in hex.
    """
    return cache_folder() / "models" / sha256[:16] / "model.gguf"


def say_nothing(what: str, n_bytes: int, total_bytes: int) -> None:
    """Ignores the progress of a download."""


@contextmanager
def open_address(address: str) -> Iterator[IO[bytes]]:
    """Opens a URL, with the system's proxies and certificates."""
    with urllib.request.urlopen(address, timeout=_TIMEOUT_SECONDS) as stream:
        yield stream


def fetch_file(
    target: Path,
    sources: Sequence[Source],
    *,
    what: str,
    checksum: Checksum | None,
    size_bytes: int | None = None,
    on_fetch: OnFetch | None = None,
) -> Path:
    """Downloads a file from the first source that has the right one; does nothing if it is there.

    Args:
        target: the path of the file; its folder is created.
        sources: tried in this order.
        what: its name, for the progress.
        checksum: the checksum of the right file; None accepts any.
        size_bytes: the size of the right file; None if unknown.
        on_fetch: called with the progress.

    Raises:
        FetchFailed: no source could be reached, or none had the right file.
        OSError: the file could not be written.
    """
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with _lock(target):
        if not target.is_file():
            _fetch(target, sources, what, checksum, size_bytes, on_fetch or say_nothing)
    return target


def _lock(target: Path) -> FileLock:
    """The lock of a download, kept elsewhere so that folders of data have only data."""
    folder = cache_folder() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(os.fsencode(target.absolute())).hexdigest()[:16]
    return FileLock(folder / f"{name}.lock")


def _fetch(
    target: Path,
    sources: Sequence[Source],
    what: str,
    checksum: Checksum | None,
    size_bytes: int | None,
    on_fetch: OnFetch,
) -> None:
    draft = target.with_name(target.name + ".draft")
    faults: list[str] = []
    try:
        for source in sources:
            try:
                with closing(_blocks(source, size_bytes)) as blocks, draft.open("wb") as out:
                    for block, total_bytes in blocks:
                        out.write(block)
                        n_bytes = out.tell()
                        on_fetch(what, n_bytes, max(total_bytes, n_bytes))
                if checksum is not None and (found := checksum.of(draft)) != checksum.digest:
                    raise _SourceFault(
                        f"its {checksum.kind} is {found}; expected {checksum.digest}"
                    )
            except _SourceFault as fault:
                faults.append(f"{source.name}: {fault}")
            else:
                draft.replace(target)
                return
    finally:
        draft.unlink(missing_ok=True)
    raise FetchFailed(faults)


class _SourceFault(Exception):
    """An error of a source, as opposed to one of the local disk."""


def _blocks(source: Source, size_bytes: int | None) -> Generator[tuple[bytes, int], None, None]:
    """Yields the content of a source in blocks, each with the bytes in all (0: unknown).

    Raises:
        _SourceFault: it cannot be read, or ends early.
    """
    n_bytes = 0
    try:
        with source.open() as stream:
            announced = _announced(stream)
            while block := stream.read(_BLOCK_BYTES):
                n_bytes += len(block)
                if size_bytes is not None and n_bytes > size_bytes:
                    raise _SourceFault(f"it is longer than the expected {size_bytes:,} bytes")
                yield block, size_bytes or announced or 0
    except (LookupError, OSError, EOFError, ValueError, http.client.HTTPException) as error:
        raise _SourceFault(str(error) or type(error).__name__) from error
    expected = size_bytes if announced is None else announced
    if expected is not None and n_bytes < expected:
        raise _SourceFault(f"the download ended after {n_bytes:,} of {expected:,} bytes")


def _announced(stream: IO[bytes]) -> int | None:
    """The size stated by a server; None if it states none."""
    headers = getattr(stream, "headers", None)
    size = str(headers.get("Content-Length")) if headers is not None else ""
    return int(size) if size.isdecimal() else None
