"""Trust that a user gives beside the command, and that no card or run folder can give itself.

A model's own code runs only where the user allowed it for this process. A key goes to a host that a
card names only where the user allowed that pair; this is kept in the user's configuration folder.
"""

import os
import re
from pathlib import Path

import platformdirs

from autoj.errors import ConfigError

KEYS_VARIABLE = "AUTOJ_ALLOW_KEYS"
"""The environment variable with allowed keys, `VARIABLE@HOST`, separated by commas."""
REMOTE_CODE_VARIABLE = "AUTOJ_TRUST_REMOTE_CODE"
"""The environment variable that is 1 where models may run code of their own."""

_GRANT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*@[A-Za-z0-9.\-\[\]:]+")
# Names of keys for an API; `AWS_SECRET_ACCESS_KEY` and the like are never one.
_KEY_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,80}(?:KEY|TOKEN)(?:_[A-Z0-9]{1,20})?", re.IGNORECASE)
_OTHER_SECRETS = re.compile(r"^(?:AWS|SSH|GPG|PGP|VAULT|KUBE)|SECRET|PASS|PRIVATE|SESSION|SIGNING")


def keys_file() -> Path:
    """The file of allowed keys: in `$AUTOJ_CONFIG`, else the platform's configuration folder."""
    chosen = os.environ.get("AUTOJ_CONFIG")
    return Path(chosen or platformdirs.user_config_dir("autoj")) / "allowed-keys.txt"


def is_key_name(variable: str) -> bool:
    """True where an environment variable's name is that of a key for an API.

    >>> [is_key_name(name) for name in ("OPENAI_API_KEY", "HF_TOKEN", "KEY_2", "HOME")]
    [True, True, False, False]
    >>> [is_key_name(name) for name in ("AWS_SECRET_ACCESS_KEY", "SSH_PRIVATE_KEY", "sk-1234")]
    [False, False, False]
    """
    return bool(_KEY_NAME.fullmatch(variable)) and not _OTHER_SECRETS.search(variable.upper())


def is_key_allowed(variable: str, host: str) -> bool:
    """True where the user allowed to send a variable's value to a host.

    Args:
        variable: the name of an environment variable.
        host: the host, with its port if the URL has one.
    """
    grant = _plain(f"{variable}@{host}")
    given = os.environ.get(KEYS_VARIABLE, "").split(",")
    return grant in {_plain(other) for other in (*given, *_kept())}


def allow_key(grant: str) -> Path:
    """Allows a key for a host, now and from now on.

    Args:
        grant: `VARIABLE@HOST`, such as `MY_API_KEY@api.example.com`.

    Returns:
        The file that keeps it.

    Raises:
        ConfigError: it is not of that form, the variable is not a key's, or the file cannot be
            written.
    """
    variable = grant.partition("@")[0]
    if not _GRANT.fullmatch(grant) or not is_key_name(variable):
        raise ConfigError(
            f"{grant[:80]!r} does not allow a key: expected VARIABLE@HOST, such as "
            "MY_API_KEY@api.example.com",
            hint="VARIABLE ends in KEY or TOKEN; the key itself is never written here.",
        )
    path = keys_file()
    kept = _kept()
    if _plain(grant) not in map(_plain, kept):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in (*kept, grant)), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
    return path


def allow_remote_code() -> None:
    """Allows models to run code of their own, for this process and those that it starts."""
    os.environ[REMOTE_CODE_VARIABLE] = "1"


def runs_remote_code() -> bool:
    """True where the user allowed models to run code of their own."""
    return os.environ.get(REMOTE_CODE_VARIABLE) == "1"


def _kept() -> list[str]:
    try:
        text = keys_file().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    return [line.strip() for line in text.splitlines() if line.strip()]


def _plain(grant: str) -> str:
    """A grant to compare: hosts have no case."""
    variable, _, host = grant.strip().partition("@")
    return f"{variable}@{host.lower()}"
