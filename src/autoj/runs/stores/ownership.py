"""Ownership of a stored run: claimed, kept by commits, and taken over from a dead writer.

A run has one writer at a time. It commits at an interval, also where there is nothing new; who
finds a writer that has not committed for several intervals takes the run over. No clock is compared
with another's, and a writer that was only slow finds the other's commit before its own, and stops.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from autoj.errors import AutojError, Cancelled, RunBusy
from autoj.runs.stores.address import StoreAddress
from autoj.runs.stores.manifest import (
    Manifest,
    Piece,
    Writer,
    commit,
    read_manifest,
)
from autoj.runs.stores.objects import Objects, persistently
from autoj.runs.stores.termination import sigterm_delayed
from autoj.runs.watch import Watch

_log = logging.getLogger(__name__)

_DEAD_AFTER, _LEAST_DEAD_SECONDS = 3, 30.0
"""Intervals without a commit after which a writer counts as dead, and seconds at least."""
_HEARTBEAT_AFTER = 1.5
"""Intervals without a commit, in a long upload, after which one is made that says nothing new."""


@dataclass(slots=True)
class Ownership:
    """The right of this process to write a stored run."""

    objects: Objects
    writer: Writer
    folder: Path
    """The local copy, which keeps what is not stored where the run is lost."""
    is_lost: bool = False
    """True once another writer has the run."""
    _released: set[int] = field(default_factory=set)
    """Numbers of the manifests by which the run was released."""
    _committed: float = 0.0
    """The time of the last commit, in seconds of the monotonic clock."""
    _number: int = 0
    """The number of the last commit."""
    _committing: threading.RLock = field(default_factory=threading.RLock)

    def claim(
        self,
        watch: Watch,
        fetch: Callable[[Manifest], object],
        awaited: "Awaited | None" = None,
    ) -> None:
        """Becomes the writer of the run, and fetches it; releases it again where it cannot.

        Args:
            watch: told of another writer that is waited for, and may end the wait.
            fetch: brings the local copy to a state.
            awaited: this run and others, whose writers are waited for together.

        Raises:
            RunBusy: another process writes the run.
            Cancelled: the watch ended the wait.
            AutojError: as `fetch`.
        """
        found = _ownerless_manifest(self.objects, watch, awaited)
        claimed = replace(found, number=found.number + 1, writer=self.writer)
        try:
            # A second try finds what the first one has made, where only its answer was lost.
            is_ours = persistently(lambda: commit(self.objects, claimed))
            if is_ours:
                self._note(claimed)
                with self.kept_alive():
                    persistently(lambda: fetch(claimed))
        except BaseException:
            # What went wrong is told by itself.
            with sigterm_delayed(), suppress(AutojError):
                self.release(found.files)
            raise
        if not is_ours:
            raise _busy(self.objects, read_manifest(self.objects))

    def current(self) -> Manifest | None:
        """The last manifest, which is ours; None where we have released the run.

        Raises:
            RunBusy: it is another writer's.
        """
        found = read_manifest(self.objects, known=self._number)
        if not self._is_ours(found):
            self.is_lost = True
            raise self.lost()
        return None if found.writer is None else found

    def remove(self, names: set[str]) -> None:
        """Removes objects that the last manifest does not name; none where that is another's."""
        last = read_manifest(self.objects, known=self._number)
        if self._is_ours(last):
            for name in names - last.keys():
                self.objects.remove(name)

    def commit(self, files: Mapping[str, tuple[Piece, ...]]) -> Manifest:
        """Commits a state of the run; raises as `current`, or where the run is released."""
        return self._commit(files, self.writer)

    def release(self, files: Mapping[str, tuple[Piece, ...]]) -> Manifest:
        """Ends as the writer of the run, with these files.

        The manifest stays also where there are none: numbers that began again would let in a second
        writer, which a slow one could not tell from itself.
        """
        return self._commit(files, None)

    @contextmanager
    def kept_alive(self) -> Iterator[None]:
        """Commits from another thread where the block is long without: others wait for that."""
        ended = threading.Event()

        def beat() -> None:
            while not (ended.wait(self.writer.seconds / 2) or self.is_lost or self._released):
                try:
                    self._heartbeat()
                except AutojError as error:
                    _log.info("%s", error)

        thread = threading.Thread(target=beat, name="autoj-store-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def lost(self) -> RunBusy:
        """The error of a writer that another one has replaced."""
        return RunBusy(
            f"{self.objects.address} was taken over by another writer, or removed",
            hint=f"What was stored is there; {self.folder} keeps the rest.",
        )

    def _is_ours(self, found: Manifest) -> bool:
        if found.writer is None:
            return found.number in self._released
        return found.writer.id == self.writer.id

    def _heartbeat(self) -> None:
        """Commits the same files again, if the last commit is old."""
        with self._committing:
            late = time.monotonic() - self._committed >= _HEARTBEAT_AFTER * self.writer.seconds
            if late and not self._released:
                self._commit(None, self.writer)

    def _commit(
        self, files: Mapping[str, tuple[Piece, ...]] | None, writer: Writer | None
    ) -> Manifest:
        """Commits a state right after the last one, which must be ours; None keeps its files."""
        with self._committing:
            found = self.current()
            if found is None:
                raise self.lost()
            number = found.number + 1
            state = Manifest(
                number=number, writer=writer, files=found.files if files is None else files
            )
            if writer is None:
                self._released.add(number)
            if not commit(self.objects, state):
                self.is_lost = True
                raise self.lost()
            self._note(state)
        return state

    def _note(self, state: Manifest) -> None:
        self._committed, self._number = time.monotonic(), state.number


@dataclass(slots=True)
class Awaited:
    """Runs that one process is about to write, whose writers are waited for together."""

    runs: Sequence[Objects]
    _found: dict[StoreAddress, Manifest] | None = None
    """The last manifests of all of them, once none had a writer that lived."""

    def manifest_of(self, objects: Objects, watch: Watch) -> Manifest | None:
        """The manifest that the first call found of one of them; raises as `Ownership.claim`."""
        if self._found is None:
            self._found = _ownerless_manifests(self.runs, watch)
        return self._found.get(objects.address)


def _ownerless_manifest(objects: Objects, watch: Watch, awaited: Awaited | None = None) -> Manifest:
    """The last manifest of a run, once it has no writer that lives."""
    known = None if awaited is None else awaited.manifest_of(objects, watch)
    if known is not None:
        last = persistently(lambda: read_manifest(objects))
        if last.writer is None or last.number == known.number:
            return last
    return _ownerless_manifests([objects], watch)[objects.address]


def _ownerless_manifests(runs: Sequence[Objects], watch: Watch) -> dict[StoreAddress, Manifest]:
    """The last manifest of each run, once none has a writer that lives.

    Raises:
        RunBusy: a writer commits.
        Cancelled: the watch ended the wait.
    """
    found = {its.address: persistently(partial(read_manifest, its)) for its in runs}
    started = time.monotonic()
    patience = {
        address: _announced_patience(address, last.writer, watch)
        for address, last in found.items()
        if last.writer is not None
    }
    while patience := {
        address: seconds
        for address, seconds in patience.items()
        if time.monotonic() < started + seconds
    }:
        time.sleep(min(1.0, min(patience.values()) / 6))
        if watch.cancelled():
            raise Cancelled("the wait for a stored run was cancelled")
        for objects in runs:
            if objects.address not in patience:
                continue
            last = persistently(partial(read_manifest, objects))
            if last.writer is None:
                del patience[objects.address]
            elif last.number != found[objects.address].number:
                raise _busy(objects, last)
            found[objects.address] = last
    return found


def _announced_patience(address: StoreAddress, writer: Writer, watch: Watch) -> float:
    """Seconds without a commit after which a writer is dead, which the watch is told."""
    seconds = max(_DEAD_AFTER * writer.seconds, _LEAST_DEAD_SECONDS)
    watch.message(
        f"{address} was being written by {writer.name}: waiting up to "
        f"{seconds:,.0f} s to see whether that is alive"
    )
    return seconds


def _busy(objects: Objects, manifest: Manifest) -> RunBusy:
    name = "another process" if manifest.writer is None else manifest.writer.name
    return RunBusy(
        f"{objects.address} is being written by {name}",
        hint="Wait for it, stop it, or choose another --out.",
    )
