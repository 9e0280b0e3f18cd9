"""Addresses in object stores: `s3://bucket/runs/part-1`."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from autoj.errors import ConfigError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_READ_ONLY = {"http", "https", "hf"}
# Marks that stores, or fsspec, read as more than a character of a name.
_MARKS = re.compile(r"[\x00-\x1f\x7f*?\[\]#%\\]|::")
_A_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PIECE = re.compile(r"[a-z_.]+\.[0-9a-f]{40}")
_MANIFEST = re.compile(r"manifest-[0-9]{12}\.json")
_ON_DISKS = {"file", "local"}
_WITHOUT_BUCKETS = {*_ON_DISKS, "memory", "hdfs"}


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """A folder of an object store, or one run in it."""

    scheme: str
    path: str
    """The bucket and the folders below it, without a slash at the end."""

    @classmethod
    def parse(cls, text: str) -> "StoreAddress":
        """Parses an address.

        Raises:
            ConfigError: it is none, or nothing can be written there.

        >>> str(StoreAddress.parse("s3://bucket/runs/part-1/"))
        's3://bucket/runs/part-1'
        """
        found = _SCHEME.match(text)
        if found is None:
            raise ConfigError(f"{text!r} is not an address", hint="Write s3://bucket/runs/name.")
        scheme, path = found[1].lower(), text[found.end() :].rstrip("/")
        if scheme in _READ_ONLY:
            raise ConfigError(f"{text}: nothing can be written to an address of {scheme}")
        parts = path.removeprefix("/").split("/")
        if _MARKS.search(path) or not {"", ".", ".."}.isdisjoint(parts) or "@" in parts[0]:
            raise ConfigError(
                f"{text!r} is not a plain address",
                hint="Write s3://bucket/runs/name: a bucket and names, without . and .., marks "
                "like * or %, and keys, which the environment or a file of the store's own holds.",
            )
        if scheme in _ON_DISKS and not path.startswith("/"):
            raise ConfigError(
                f"{text} is not an absolute path", hint="Write file:///srv/runs/name."
            )
        if scheme not in _WITHOUT_BUCKETS and (path.startswith("/") or len(parts) == 1):
            raise ConfigError(
                f"{text} names no folder of a bucket", hint=f"Write {scheme}://bucket/runs."
            )
        if not is_run_name(parts[-1]):
            raise ConfigError(
                f"{text}: {parts[-1]!r} cannot be the name of a run",
                hint="Use letters, digits, '.', '_' and '-', beginning with a letter or digit.",
            )
        return cls(scheme, path)

    @property
    def name(self) -> str:
        """The last of its names."""
        return self.path.rpartition("/")[2]

    @property
    def is_local(self) -> bool:
        """True for a folder of this machine's file system."""
        return self.scheme in _ON_DISKS

    @property
    def digest(self) -> str:
        """Eight hex digits of it, for names of local copies."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:8]

    def __truediv__(self, name: str) -> "StoreAddress":
        """The folder of this name in it."""
        if not is_run_name(name):
            raise ConfigError(f"{name!r} cannot be the name of a run in {self}")
        return StoreAddress(self.scheme, f"{self.path}/{name}")

    def beside(self, ending: str) -> "StoreAddress":
        """The address with something added to its last name."""
        return StoreAddress(self.scheme, f"{self.path}{ending}")

    def __str__(self) -> str:
        return f"{self.scheme}://{self.path}"


def is_piece(name: str) -> bool:
    """True for the name of a piece's object."""
    return _PIECE.fullmatch(name) is not None


def is_manifest(name: str) -> bool:
    """True for the name of a manifest."""
    return _MANIFEST.fullmatch(name) is not None


def is_run_name(name: str) -> bool:
    """True for a name that may be a run's in a folder of several, and leads nowhere else."""
    return _A_NAME.fullmatch(name) is not None and not is_piece(name) and not is_manifest(name)


def place_of(text: str) -> Path | StoreAddress:
    """The folder or the address that a user names.

    Raises:
        ConfigError: it is an address that nothing can be written to.
    """
    return StoreAddress.parse(text) if _SCHEME.match(text) else Path(text)
