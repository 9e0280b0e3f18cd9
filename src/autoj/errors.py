"""The tree of errors. Each message says what happened, where, what was expected and what to do.

```
AutojError                  the root; `hint` says what to do about it
├─ UserError                the caller can fix it: exit code 2, no traceback
│  ├─ DataError             a row or a file that cannot be read (path, line, field)
│  │  ├─ LaterTurn          a row about a later turn of a conversation
│  │  ├─ EmptyShard         a shard of data that has fewer distinct cases than shards
│  │  └─ NoRows             data without rows, or without any that is not in training data
│  ├─ ConfigError           an invalid setting
│  │  └─ NoRoom             a model that does not fit into the memory that is left
│  ├─ SpecMismatch          a run folder that was made with other settings
│  ├─ RunBusy               a run folder that another process is writing to
│  ├─ UnknownComponent      a judge, protocol, … that does not exist (did you mean …)
│  ├─ MissingExtra          an optional dependency that is not installed
│  └─ StorageFull           the disk is full; everything written before stays
├─ Unfinished               a run without verdicts that are needed; the same call resumes it
├─ Cancelled                work that its caller stopped; finished parts are kept
└─ BackendError             an engine failed (retryable, request_key)
   ├─ RateLimited           retryable
   ├─ Unavailable           retryable
   ├─ BadRequest            the same request would fail again
   └─ Refused               the engine declined to answer
```
"""

import difflib
import json
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

_CLONE = Path(__file__).resolve().parents[2]

# A message quotes what it is about, and a file may hold names and values of any length.
_LONGEST_NAME = 200
_LONGEST_REASON = 2000
_LONGEST_HINT = 6000


def shortened(text: str, longest: int) -> str:
    """A text of at most about so many characters, for a message.

    >>> shortened("x" * 5000, 10)
    'xxxxxxxxxx… (5,000 characters)'
    """
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"


class AutojError(Exception):
    """The root of every error that this library raises on purpose.

    Args:
        message: what went wrong, where, and what was expected.
        hint: what to do about it; None where the message says so.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  {self.hint}"


class UserError(AutojError):
    """An error that the caller can fix; a command ends with exit code 2 and no traceback."""


class DataError(UserError):
    """A row or a file that cannot be read.

    Args:
        message: what is wrong.
        path: the file.
        line: the line number, from 1; None for the whole file.
        field: the field of the row; None for the whole row.
        hint: what to do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | str,
        line: int | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        shown = None if field is None else shortened(field, _LONGEST_NAME)
        where = ":".join(str(part) for part in (path, line, shown) if part is not None)
        reason = shortened(message, _LONGEST_REASON)
        super().__init__(f"{where}: {reason}", hint=hint and shortened(hint, _LONGEST_HINT))
        self.reason = reason
        self.path = Path(path)
        self.line = line
        self.field = field


class LaterTurn(DataError):
    """A row about a later turn of a conversation, which cannot be judged by itself."""


class EmptyShard(DataError):
    """A shard of data that has fewer distinct cases than shards."""


class NoRows(DataError):
    """Data without rows, or whose rows are all in training data."""


class ConfigError(UserError):
    """An invalid setting, card or combination of flags."""


class NoRoom(ConfigError):
    """A model that does not fit into the memory that is left."""


class SpecMismatch(UserError):
    """A run folder that was made with other settings.

    Args:
        folder: the run folder.
        differences: one line per setting that differs.
        what: what was different as a whole, for the message.
        hint: the way to go on.
    """

    def __init__(
        self,
        folder: Path,
        differences: Iterable[str],
        *,
        what: str = "other settings",
        hint: str = "Use the same settings to resume it, or another --out for a new run.",
    ) -> None:
        self.differences = tuple(differences)
        listed = "\n".join(f"    {line}" for line in self.differences)
        super().__init__(f"{folder} was made with {what}:\n{listed}", hint=hint)


class RunBusy(UserError):
    """A run folder that another live process is writing to."""


class UnknownComponent(UserError):
    """A name that belongs to no component.

    Args:
        kind: the kind of component ("judge", "protocol", "backend", …).
        name: the name that was asked for.
        known: the names that exist; the most similar are suggested.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        name = shortened(name, _LONGEST_NAME)
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"Did you mean {', '.join(near)}?" if near else _available(kind, names)
        super().__init__(f"there is no {kind} {name!r}", hint=hint)


_LISTED_BY = {"scenario": "autoj scenarios", "judge": "autoj judges", "data set": "autoj data list"}
_MOST_LISTED = 20
_N_EXAMPLES = 5


def _available(kind: str, names: Sequence[str]) -> str:
    """The names that exist, or of many some and the command that lists them."""
    if len(names) <= _MOST_LISTED:
        return f"Available: {', '.join(names)}."
    some = f"{', '.join(names[:_N_EXAMPLES])} and {len(names) - _N_EXAMPLES:,} more"
    command = _LISTED_BY.get(kind)
    return f"Available: {some}" + (f"; {command} lists them." if command else ".")


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation, as it was installed.

    A clone, a folder, a wheel and a repository's address are installed from again: the name alone
    would ask a package index for it.

    Args:
        extra: the name of the extra.
    """
    found = _origin()
    url, vcs = str(found.get("url", "")), found.get("vcs_info")
    what = f"autoj[{extra}]"
    if vcs is not None:
        what += f" @ {vcs['vcs']}+{url}@{vcs['commit_id']}"
    elif "dir_info" in found:
        folder = unquote(urlsplit(url).path)
        editable = "-e " if found["dir_info"].get("editable") else ""
        return f"pip install {editable}{shlex.quote(f'{folder}[{extra}]')}"
    elif url:
        what += f" @ {url}"
    return f"pip install {shlex.quote(what)}"


def _origin() -> dict[str, Any]:
    """The record of where the package was installed from (PEP 610); empty if from an index."""
    # Every command imports this file; few need these modules.
    import importlib.metadata

    try:
        told = importlib.metadata.distribution("autoj").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        # A clone may be run by its path alone.
        is_clone = (_CLONE / "pyproject.toml").is_file()
        return {"url": _CLONE.as_uri(), "dir_info": {"editable": True}} if is_clone else {}
    return dict(json.loads(told)) if told else {}


class MissingExtra(UserError):
    """An optional dependency that is not installed.

    Args:
        extra: the name of the extra that installs it.
        needed_for: the feature that needs it.
        note: anything else that the user must know.
    """

    def __init__(self, extra: str, needed_for: str, *, note: str | None = None) -> None:
        command = install_command(extra)
        super().__init__(
            f"{needed_for} needs packages that are not installed",
            hint=command if note is None else f"{command}  ({note})",
        )
        self.extra = extra


class StorageFull(UserError):
    """The disk is full; everything written before stays, and the run can be resumed."""


class Unfinished(AutojError):
    """A run without verdicts that are needed; the same call resumes it."""


class Cancelled(AutojError):
    """Work that its caller stopped; finished parts are kept."""


class BackendError(AutojError):
    """An engine failed.

    Args:
        message: the engine's message.
        retryable: True where the same request may succeed later.
        request_key: the key of the failed request; None where the whole engine failed.
        hint: what to do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        request_key: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable
        self.request_key = request_key


class RateLimited(BackendError):
    """The engine's rate limit was reached; a retry may succeed."""

    def __init__(self, message: str, *, request_key: str | None = None) -> None:
        super().__init__(message, retryable=True, request_key=request_key)


class Unavailable(BackendError):
    """The engine could not be reached or broke down; a retry may succeed."""

    def __init__(
        self, message: str, *, request_key: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, retryable=True, request_key=request_key, hint=hint)


class BadRequest(BackendError):
    """The engine cannot answer this request, now or later."""


class Refused(BackendError):
    """The engine declined to answer this request."""
