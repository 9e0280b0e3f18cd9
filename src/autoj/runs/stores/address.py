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
        return cls(scheme, path)

    @property
    def name(self) -> str:
        """The last of its names."""
        return self.path.rpartition("/")[2]

    @property
    def digest(self) -> str:
        """Eight hex digits of it, for names of local copies."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:8]

    def __truediv__(self, name: str) -> "StoreAddress":
        """The folder of this name in it."""
        if not is_name(name):
            raise ConfigError(f"{name!r} cannot be the name of a run in {self}")
        return StoreAddress(self.scheme, f"{self.path}/{name}")

    def beside(self, ending: str) -> "StoreAddress":
        """The address with something added to its last name."""
        return StoreAddress(self.scheme, f"{self.path}{ending}")

    def __str__(self) -> str:
        return f"{self.scheme}://{self.path}"


def is_name(text: str) -> bool:
    """True for a single name that leads nowhere else, also where another program wrote it."""
    return _A_NAME.fullmatch(text) is not None


def place_of(text: str) -> Path | StoreAddress:
    """The folder or the address that a user names.

    Raises:
        ConfigError: it is an address that nothing can be written to.
    """
    return StoreAddress.parse(text) if _SCHEME.match(text) else Path(text)
