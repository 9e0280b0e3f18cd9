"""The settings of a service, its API key included."""

import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path

from autoj.errors import ConfigError, DataError

KEY_VARIABLE = "AUTOJ_API_KEY"
_SHORTEST_KEY = 16


GRACE_SECONDS = 30
"""The time that requests under way have to end once the service is told to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """Limits and access."""

    host: str = "127.0.0.1"
    """The address to listen on."""
    port: int = 8000
    """0 takes a free one."""
    api_key: str | None = field(default=None, repr=False)
    """The key that each request must have; None asks for none, on loopback alone."""
    out: Path | None = None
    """The folder with a ledger for each judge; None keeps no answers."""
    most_body_bytes: int = 4_000_000
    most_rows: int = 256
    """Cases, responses or texts of one request."""
    most_waiting: int = 1024
    """Subjects that wait for one judge, at most; more are refused."""
    deadline_seconds: float = 600.0
    """The time that a request may take where it names none."""
    body_seconds: float = 30.0
    """The time that a body may take to arrive."""

    def __post_init__(self) -> None:
        if self.most_rows > self.most_waiting:
            raise ConfigError(
                f"a batch may have {self.most_rows} rows, and the queue holds {self.most_waiting}",
                hint="Let the queue be at least as long as a batch.",
            )
        if not self.api_key and not self.is_local:
            raise ConfigError(
                f"a service on {self.host!r} can be reached from elsewhere and needs an API key",
                hint=f"Set {KEY_VARIABLE}, or give --api-key-file FILE.",
            )

    @property
    def is_local(self) -> bool:
        """True where only this machine reaches the service."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def read_key(path: Path | None) -> str | None:
    """The API key of a file, else of the environment variable `AUTOJ_API_KEY`, else None.

    Raises:
        DataError: the file cannot be read.
        ConfigError: the key is too short to be one.
    """
    if path is None:
        key, place = os.environ.get(KEY_VARIABLE, ""), KEY_VARIABLE
        if not key:
            return None
    else:
        place = str(path)
        try:
            key = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"cannot be read: {type(error).__name__}", path=path) from None
    key = key.strip()
    if len(key) < _SHORTEST_KEY or not key.isascii():
        raise ConfigError(
            f"the API key of {place} is no key: expected {_SHORTEST_KEY} or more ASCII characters",
            hint="python -c 'import secrets; print(secrets.token_urlsafe(32))' makes one.",
        )
    return key
