"""The objects of one folder of a store, through fsspec; its errors become ours here."""

import io
import logging
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, TypeVar

from autoj.errors import AutojError, ConfigError, MissingExtra, Unavailable
from autoj.runs.stores.address import StoreAddress

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

_PACKAGES = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "az": "adlfs",
    "oci": "ocifs", "sftp": "paramiko", "hdfs": "pyarrow",
}  # fmt: skip
_WAITS_SECONDS = (0.5, 2.0, 8.0)
"""Before each further try of what must succeed."""


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
        self._is_local = address.scheme in ("file", "local")
        try:
            import fsspec
        except ImportError:
            raise MissingExtra("stores", f"reading and writing {address}") from None
        # Listings are kept by default, and other machines write here.
        options = {"use_listings_cache": False, "skip_instance_cache": True}
        try:
            with _told(address):
                self._system: Any = fsspec.filesystem(address.scheme, **options)
        except (ImportError, ValueError) as error:
            raise _unknown_kind(address, error) from None

    def names(self) -> list[str]:
        """The names of its objects and of the folders in it, sorted; none where it is not there."""
        with _told(self.address):
            self._system.invalidate_cache()
            try:
                found = self._system.ls(self._path(), detail=False)
            except FileNotFoundError:
                return []
        return sorted({str(path).rstrip("/").rpartition("/")[2] for path in found})

    def read(self, name: str) -> bytes:
        """The content of an object.

        Raises:
            Absent: there is none.
        """
        stream = io.BytesIO()
        self.copy_to(name, stream)
        return stream.getvalue()

    def holds(self, name: str) -> bool:
        """True where an object is there."""
        with _told(self.address):
            self._system.invalidate_cache()
            return bool(self._system.exists(self._path(name)))

    def copy_to(self, name: str, target: BinaryIO) -> None:
        """Writes the content of an object to a file.

        Raises:
            Absent: there is none.
            OSError: the file cannot be written.
        """
        for block in self._blocks(name):
            target.write(block)

    def _blocks(self, name: str) -> Iterator[bytes]:
        with _told(self.address):
            try:
                with self._system.open(self._path(name), "rb") as stream:
                    while block := stream.read(1 << 20):
                        yield block
            except FileNotFoundError:
                raise Absent from None

    def write(self, name: str, source: BinaryIO) -> None:
        """Writes an object that is named after its content; one that is there is written again."""
        with _told(self.address):
            self._make_folder()
            with self._system.open(self._path(name), "wb") as stream:
                shutil.copyfileobj(source, stream, 1 << 20)

    def create(self, name: str, content: bytes) -> None:
        """Writes a small object, unless it is there already, as another's: read it again.

        S3, Google Cloud Storage, memory and local disks refuse the second of two writers; another
        store may let the later one win.
        """
        with _told(self.address):
            self._make_folder()
            with suppress(FileExistsError):
                if self._is_local:
                    # Here fsspec looks first and writes then, between which another may write.
                    with open(self._path(name), "xb") as stream:
                        stream.write(content)
                else:
                    self._system.pipe_file(self._path(name), content, mode="create")

    def remove(self, name: str) -> None:
        """Removes an object, if it is there."""
        with _told(self.address), suppress(FileNotFoundError):
            self._system.rm_file(self._path(name))

    def _make_folder(self) -> None:
        # Object stores have no folders, and some would ask for rights to look for a bucket.
        if self._is_local or self.address.scheme in ("sftp", "hdfs"):
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
    except (AutojError, Absent, ImportError, MemoryError):
        raise
    except Exception as error:
        # Each store has its own errors, of packages that need not be here.
        reason = f"{type(error).__name__}: {error}"
        if _is_refused(error):
            raise ConfigError(
                f"{address} may not be used from here: {reason}",
                hint="The store's own environment variables, such as AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, AWS_PROFILE or GOOGLE_APPLICATION_CREDENTIALS, must be set "
                "on every machine, with the rights to list, read, write and delete there.",
            ) from error
        if isinstance(error, FileNotFoundError):
            raise ConfigError(
                f"{address} cannot be written: {reason}", hint="Make the bucket first."
            ) from error
        if isinstance(error, ValueError) and "Protocol not known" in str(error):
            raise
        raise Unavailable(
            f"{address} cannot be reached: {reason}",
            hint="Try again: the same command goes on from what is stored and what is here.",
        ) from error


def _is_refused(error: Exception) -> bool:
    """True where the keys are missing or wrong, or lack a right."""
    kinds = " ".join(kind.__name__ for kind in type(error).__mro__)
    return isinstance(error, PermissionError) or "Credential" in kinds or "ProfileNot" in kinds


def _unknown_kind(address: StoreAddress, error: Exception) -> ConfigError:
    package = _PACKAGES.get(address.scheme)
    if package is None and isinstance(error, ValueError):
        return ConfigError(
            f"{address}: fsspec knows no store {address.scheme!r}",
            hint="Write s3://, gs://, abfs:// or file://.",
        )
    hint = f"pip install {package}" if package else f"fsspec says: {error}"
    needed = f"the package {package}" if package else "a package"
    return ConfigError(f"{address} needs {needed}, which is not installed", hint=hint)
