"""The work on one shard: judged in its folder until it is done, or its rest is given up."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from autoj.datasets.base import Cases
from autoj.errors import AutojError, Cancelled, EmptyShard, UserError
from autoj.runs import RunSpec
from autoj.runs.reuse import LedgerAnswers
from autoj.runs.stores.address import StoreAddress
from autoj.runs.stores.fetching import copies_folder, fetched_runs
from autoj.runs.stores.objects import Objects
from autoj.runs.stores.stored_run import stored_run
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
    store: StoreAddress | None = None
    """The folder of all shards in an object store; None where storage is shared. The paths are
    then those of the driver's copies, of which a worker uses the names."""

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
        with (
            _at_hand(shard) as here,
            closing(LedgerAnswers(here.known, reused=False)) as known,
        ):
            judge(cases, shard.spec, here.path, known=known, watch=here.watch)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _AtHand:
    """A shard where its worker is."""

    path: Path
    known: tuple[Path, ...]
    watch: Watch


@contextmanager
def _at_hand(shard: ShardRun) -> Iterator[_AtHand]:
    """The folders of a shard: its own on shared storage, or copies of those in a store."""
    if shard.store is None:
        yield _AtHand(path=shard.path, known=shard.known, watch=_UntilGivenUp(shard.give_up))
        return
    address, marks = shard.store / shard.name, Objects(shard.store)
    mark = copies_folder() / f"{address.name}-{address.digest}{GIVE_UP}"

    def look() -> None:
        # A store is asked at each sync, and not by the thread that judges.
        if marks.holds(shard.give_up.name):
            mark.touch()
        else:
            mark.unlink(missing_ok=True)

    with stored_run(address, _UntilGivenUp(mark), on_sync=look) as run:
        fetched = [fetched_runs(shard.store / path.name) for path in shard.known]
        known = tuple(path for paths in fetched for path in paths)
        yield _AtHand(path=run.folder, known=known, watch=run.watch)


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
