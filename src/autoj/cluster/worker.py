"""The work on one shard: judged in its folder until it is done, or its rest is given up."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from autoj.datasets.base import Cases
from autoj.errors import AutojError, Cancelled, EmptyShard, UserError
from autoj.runs import RunSpec
from autoj.runs.reuse import LedgerAnswers
from autoj.runs.watch import Watch
from autoj.tasks.judge import judge

GIVE_UP = ".give-up"
"""The ending of a file's name that tells the worker of a shard to stop."""
_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardRun:
    """One shard of a run, as a worker judges it."""

    spec: RunSpec
    """The whole run's settings, with its shard."""
    path: Path
    """Its folder, absolute: on storage that all workers and the driver share."""
    known: tuple[Path, ...] = ()
    """Folders of earlier shards with some of its cases, whose answers it takes."""

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.path.name

    @property
    def give_up(self) -> Path:
        """A file by which its worker is told to leave the rest of its work to others."""
        return self.path.with_name(f"{self.name}{GIVE_UP}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardError:
    """An error of a worker, as it travels to the driver."""

    shard: str
    """The name of the shard's folder."""
    message: str
    hint: str | None
    of_user: bool
    """True where the caller can fix it, as a bad row; False where the engine failed."""


ShardOutcome: TypeAlias = Literal["judged", "given up"] | ShardError
"""The outcome of a shard: "given up" was told to leave its rest to others, and has stopped."""


def judge_shard(cases: Cases, shard: ShardRun) -> ShardOutcome:
    """Judges one shard in its folder, from where an earlier worker stopped.

    An error is returned, not raised: ours hold what a pickled exception would lose.
    """
    try:
        with closing(LedgerAnswers(shard.known, reused=False)) as known:
            judge(cases, shard.spec, shard.path, known=known, watch=_UntilGivenUp(shard.give_up))
    except EmptyShard:
        return "judged"
    except Cancelled:
        return "given up"
    except AutojError as error:
        return ShardError(
            shard=shard.name,
            message=error.message,
            hint=error.hint,
            of_user=isinstance(error, UserError),
        )
    return "judged"


class _UntilGivenUp(Watch):
    """Stops the work on a shard when the file is there that says so."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark
        self._looked = 0.0

    def cancelled(self) -> bool:
        # Shared storage is asked now and then, not after each answer.
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return False
        self._looked = time.monotonic()
        return self._mark.exists()
