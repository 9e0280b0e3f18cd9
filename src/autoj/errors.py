"""What can go wrong, as one tree; each message says what, where, what was expected and what to do.

```
AutojError                  the root; `hint` says what to do about it
├─ UserError                the caller can mend it: exit code 2, no traceback
│  ├─ DataError             a row or a file that cannot be read (path, line, field)
│  ├─ ConfigError           a setting that makes no sense
│  ├─ SpecMismatch          a run folder that was made with other settings
│  ├─ RunBusy               a run folder that another process is writing to
│  ├─ UnknownComponent      a judge, protocol, … that does not exist (did you mean …)
│  ├─ MissingExtra          an optional dependency that is not installed
│  └─ StorageFull           the disk took no more; what was kept stays
├─ Unfinished               a run lacks verdicts that are needed; the same call goes on with it
├─ Cancelled                work that its caller stopped; what is done is kept
└─ BackendError             an engine failed (retryable, request_key)
   ├─ RateLimited           retryable
   ├─ Unavailable           retryable
   ├─ BadRequest            the same request would fail again
   └─ Refused               the engine declined to answer
```
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "AutojError",
    "BackendError",
    "BadRequest",
    "Cancelled",
    "ConfigError",
    "DataError",
    "MissingExtra",
    "RateLimited",
    "Refused",
    "RunBusy",
    "SpecMismatch",
    "StorageFull",
    "Unavailable",
    "Unfinished",
    "UnknownComponent",
    "UserError",
]


class AutojError(Exception):
    """The root of every error that this library raises on purpose.

    Args:
        message: what went wrong, where, and what was expected.
        hint: what to do about it; None where the message already says it.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  {self.hint}"


class UserError(AutojError):
    """Something the caller can mend; a command ends with exit code 2 and no traceback."""


class DataError(UserError):
    """A row or a file that cannot be read.

    Args:
        message: what is wrong with it.
        path: the file.
        line: the line in it, counted from 1; None where the whole file is meant.
        field: the field in the row; None where the whole row is meant.
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
        where = ":".join(str(part) for part in (path, line, field) if part is not None)
        super().__init__(f"{where}: {message}", hint=hint)
        self.reason = message
        self.path = Path(path)
        self.line = line
        self.field = field


class ConfigError(UserError):
    """A setting, a card or a combination of flags that makes no sense."""


class SpecMismatch(UserError):
    """A run folder that was made with other settings.

    Args:
        folder: the run folder.
        differences: one line per setting that differs.
    """

    def __init__(self, folder: Path, differences: Iterable[str]) -> None:
        self.differences = tuple(differences)
        listed = "\n".join(f"    {line}" for line in self.differences)
        super().__init__(
            f"{folder} was made with other settings:\n{listed}",
            hint="Use the same settings to go on with it, or another --out for a new run.",
        )


class RunBusy(UserError):
    """A run folder that another live process is writing to."""


class UnknownComponent(UserError):
    """A name that no component has.

    Args:
        kind: what was looked for ("judge", "protocol", "backend", …).
        name: the name that was given.
        known: the names that exist; the nearest are proposed.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"Did you mean {', '.join(near)}?" if near else f"There are: {', '.join(names)}."
        super().__init__(f"there is no {kind} {name!r}", hint=hint)


class MissingExtra(UserError):
    """An optional dependency that is not installed.

    Args:
        extra: the name of the extra that brings it.
        needed_for: what asked for it.
        note: anything else the user must know.
    """

    def __init__(self, extra: str, needed_for: str, *, note: str | None = None) -> None:
        command = f"pip install 'autoj[{extra}]'"
        super().__init__(
            f"{needed_for} needs packages that are not installed",
            hint=command if note is None else f"{command}  ({note})",
        )
        self.extra = extra


class StorageFull(UserError):
    """The disk took no more; everything written before stays and the run can go on later."""


class Unfinished(AutojError):
    """A run that lacks verdicts which are needed; the same call goes on with it."""


class Cancelled(AutojError):
    """Work that was stopped because its caller wanted that; what is done is kept."""


class BackendError(AutojError):
    """An engine failed.

    Args:
        message: what it said.
        retryable: whether the same request may succeed later.
        request_key: the request it happened on; None where the whole engine is meant.
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
    """The engine asked us to slow down; a later try may succeed."""

    def __init__(self, message: str, *, request_key: str | None = None) -> None:
        super().__init__(message, retryable=True, request_key=request_key)


class Unavailable(BackendError):
    """The engine could not be reached or broke down; a later try may succeed."""

    def __init__(
        self, message: str, *, request_key: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, retryable=True, request_key=request_key, hint=hint)


class BadRequest(BackendError):
    """The engine cannot answer this request, now or later."""


class Refused(BackendError):
    """The engine declined to answer this request."""
