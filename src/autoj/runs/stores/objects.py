"""The objects of one folder of a store, through fsspec; its errors become ours here."""

import io
import logging
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from autoj.errors import (
    AutojError,
    ConfigError,
    MissingExtra,
    StorageFull,
    Unavailable,
    shortened,
)
from autoj.runs.stores.address import StoreAddress
from autoj.system_errors import is_full

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

_PACKAGES = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "az": "adlfs",
    "oci": "ocifs", "hdfs": "pyarrow",
}  # fmt: skip
_WAITS_SECONDS = (0.5, 2.0, 8.0)
"""Before each further try of what must succeed."""
_LONGEST_REASON = 500
# Names and passwords before a host, what follows a question mark, and NAME=KEY.
_KEYS = (
    re.compile(r"(\w://)[^/\s'\"]*@"),
    re.compile(r"(\w://[^\s?'\"]*\?)[^\s'\"]+"),
    re.compile(
        r"((?:key|sig|signature|token|secret|password|credential)\w*(?:=|['\"]: ?))[^\s&;,]+", re.I
    ),
)


class Absent(Exception):
    """An object that is not there."""


class Objects:
    """Lists, reads and writes the objects that lie directly in one folder of a store."""

    def __init__(self, address: StoreAddress) -> None:
        """Opens the store; nothing is asked of it yet.

        Raises:
            MissingExtra: fsspec is not installed.
            ConfigError: the package of this kind of store is not, or there is no such kind.
        """
        self.address = address
        self._is_local = address.is_local
        try:
            import fsspec
        except ImportError:
            raise MissingExtra("stores", f"reading and writing {address}") from None
        # Listings are kept by default, and other machines write here.
        options = {"use_listings_cache": False, "skip_instance_cache": True}
        try:
            self._system: Any = fsspec.filesystem(address.scheme, **options)
        except Exception as error:
            raise _unopened(address, error) from error

    def names(self) -> list[str]:
        """The names of its objects and of the folders in it, sorted; none where it is not there."""
        with _told(self.address):
            self._system.invalidate_cache()
            try:
                found = self._system.ls(self._path(), detail=False)
            except FileNotFoundError:
                return []
        return sorted({str(path).rstrip("/").rpartition("/")[2] for path in found})

    def read(self, name: str, most_bytes: int = 1 << 20) -> bytes:
        """The content of a small object, or its first bytes.

        Raises:
            Absent: there is none.
        """
        stream = io.BytesIO()
        self.copy_to(name, stream, most_bytes)
        return stream.getvalue()[:most_bytes]

    def holds(self, name: str) -> bool:
        """True where an object is there."""
        with _told(self.address):
            self._system.invalidate_cache()
            return bool(self._system.exists(self._path(name)))

    def copy_to(self, name: str, target: BinaryIO, most_bytes: int) -> None:
        """Writes the content of an object to a file, or little more than its first bytes.

        Raises:
            Absent: there is none.
            OSError: the file cannot be written.
        """
        n_bytes = 0
        with closing(self._blocks(name)) as blocks:
            for block in blocks:
                target.write(block)
                n_bytes += len(block)
                if n_bytes > most_bytes:
                    return

    def _blocks(self, name: str) -> Generator[bytes]:
        with _told(self.address):
            try:
                with self._system.open(self._path(name), "rb") as stream:
                    while block := stream.read(1 << 20):
                        yield block
            except FileNotFoundError:
                raise Absent from None

    def write(self, name: str, source: BinaryIO) -> None:
        """Writes an object whose name no other content has; one that is there is written again."""
        with _told(self.address):
            self._make_folder()
            if self._is_local:
                self._write_file(name, source)
                return
            with self._system.open(self._path(name), "wb") as stream:
                shutil.copyfileobj(source, stream, 1 << 20)

    def _write_file(self, name: str, source: BinaryIO) -> None:
        """Writes a file that is there as a whole or not at all, as an object is."""
        path = Path(self._path(name))
        # Named as a piece, so that it is removed with what else a killed writer has left.
        draft = path.with_name(f"draft.{secrets.token_hex(20)}")
        try:
            with draft.open("xb") as stream:
                shutil.copyfileobj(source, stream, 1 << 20)
                stream.flush()
                os.fsync(stream.fileno())
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def create(self, name: str, content: bytes) -> None:
        """Writes a small object, unless it is there already, as another's: read it again.

        S3, Google Cloud Storage, Azure (by adlfs 2024.12 or later), memory and local disks refuse
        the second of two writers; another store may let the later one win.
        """
        with _told(self.address):
            self._make_folder()
            with suppress(FileExistsError):
                if self._is_local:
                    # Here fsspec looks first and writes then, between which another may write.
                    with open(self._path(name), "xb") as stream:
                        stream.write(content)
                        stream.flush()
                        os.fsync(stream.fileno())
                else:
                    self._system.pipe_file(self._path(name), content, mode="create")

    def remove(self, name: str) -> None:
        """Removes an object, if it is there."""
        with _told(self.address), suppress(FileNotFoundError):
            self._system.rm_file(self._path(name))

    def _make_folder(self) -> None:
        # Object stores have no folders, and some would ask for rights to look for a bucket.
        if self._is_local or self.address.scheme == "hdfs":
            self._system.makedirs(self._path(), exist_ok=True)

    def _path(self, name: str | None = None) -> str:
        path = str(self.address) if name is None else f"{self.address}/{name}"
        return str(self._system._strip_protocol(path))


def persistently(call: Callable[[], _T]) -> _T:
    """The result of a call to a store, tried again for about ten seconds where that is down.

    Raises:
        Unavailable: it still is.
    """
    for seconds in _WAITS_SECONDS:
        try:
            return call()
        except Unavailable as error:
            _log.info("%s; trying again", error.message)
            time.sleep(seconds)
    return call()


@contextmanager
def _told(address: StoreAddress) -> Iterator[None]:
    """Makes the errors of a store ours."""
    try:
        yield
    except (AutojError, Absent, MemoryError):
        raise
    except Exception as error:
        # Each store has its own errors, of packages that need not be here.
        raise _error_of(address, error) from error


def _error_of(address: StoreAddress, error: Exception) -> AutojError:
    reason = _reason(error)
    if isinstance(error, OSError) and is_full(error):
        return StorageFull(f"{address}: {reason}", hint="Free some space there, and go on.")
    if _is_refused(error):
        return ConfigError(
            f"{address} may not be used from here: {reason}", hint=_rights_hint(address)
        )
    if isinstance(error, FileNotFoundError):
        return ConfigError(f"{address} cannot be written: {reason}", hint="Make the bucket first.")
    if isinstance(error, (FileExistsError, NotADirectoryError, IsADirectoryError)):
        return ConfigError(
            f"{address} cannot be used: {reason}",
            hint="Choose an address where no file is in the way.",
        )
    return Unavailable(
        f"{address} cannot be reached: {reason}",
        hint="Try again: the same command goes on from what is stored and what is here.",
    )


def _reason(error: Exception) -> str:
    """The words of a store's package on one line, without keys."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    for pattern in _KEYS:
        text = pattern.sub(r"\1…", text)
    return shortened(text, _LONGEST_REASON)


def _rights_hint(address: StoreAddress) -> str:
    if address.is_local:
        return f"Check who may list, read, write and delete there: ls -ld {address.path}"
    return (
        "The store's own environment variables, such as AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY, AWS_PROFILE or GOOGLE_APPLICATION_CREDENTIALS, must be set "
        "on every machine, with the rights to list, read, write and delete there."
    )


def _is_refused(error: Exception) -> bool:
    """True where the keys are missing or wrong, or lack a right."""
    kinds = " ".join(kind.__name__ for kind in type(error).__mro__)
    return isinstance(error, PermissionError) or "Credential" in kinds or "ProfileNot" in kinds


def _unopened(address: StoreAddress, error: Exception) -> AutojError:
    """The error of a kind of store that cannot be used here."""
    kinds = "Write s3://, gs://, abfs:// or file://."
    if isinstance(error, ImportError):
        package = _PACKAGES.get(address.scheme)
        hint = f"pip install {package}" if package else f"fsspec says: {error}"
        needed = f"the package {package}" if package else "a package"
        return ConfigError(f"{address} needs {needed}, which is not installed", hint=hint)
    if isinstance(error, ValueError) and "Protocol not known" in str(error):
        return ConfigError(f"{address}: fsspec knows no store {address.scheme!r}", hint=kinds)
    if isinstance(error, TypeError):
        return ConfigError(
            f"{address}: a store of the kind {address.scheme!r} needs more than an address",
            hint=kinds,
        )
    if isinstance(error, ValueError):
        return ConfigError(
            f"{address} cannot be opened: {_reason(error)}", hint=_rights_hint(address)
        )
    return _error_of(address, error)
