"""A run that is judged here and kept in a store: claimed, fetched, synced, and given free.

A run has one writer at a time. It commits at an interval, also where there is nothing new; who
finds a writer that has not committed for several intervals takes the run over. No clock is compared
with another's, and a writer that was only slow finds the other's commit before its own, and stops.
"""

import io
import logging
import os
import platform
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import BinaryIO

from autoj.errors import AutojError, Cancelled, ConfigError, DataError, RunBusy, Unavailable
from autoj.runs.lock import locked
from autoj.runs.stores.address import StoreAddress, is_piece
from autoj.runs.stores.fetching import StoredCopy, copies_folder
from autoj.runs.stores.manifest import (
    DERIVED,
    GROWING,
    NEEDED,
    Manifest,
    Piece,
    Writer,
    commit,
    manifest_name,
    manifest_names,
    read_manifest,
)
from autoj.runs.stores.objects import Objects, persistently
from autoj.runs.watch import SILENT, Watch
from autoj.system_errors import storage_error

_log = logging.getLogger(__name__)

SYNC_SECONDS = 30.0
"""The interval of syncs, unless `AUTOJ_SYNC_SECONDS` is set: what is lost with a machine."""
_LEAST_SECONDS, _MOST_SECONDS = 1.0, 3600.0
_DEAD_AFTER, _LEAST_DEAD_SECONDS = 3, 30.0
"""Intervals without a commit after which a writer counts as dead, and seconds at least."""
_BEAT_AFTER = 1.5
"""Intervals without a commit, in a long sync, after which one is made that says nothing new."""
_MOST_BYTES = 32 << 20
"""Of a piece."""
_TERMINATED = 128 + signal.SIGTERM


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A stored run while this process writes it."""

    folder: Path
    """Its local copy, as it is stored and ahead of that."""
    watch: Watch
    """The caller's, which also stops the work where another writer has taken the run over."""
    sync: Callable[[], None]
    """Stores what is new now; raises as the end of the block does."""


@contextmanager
def stored_run(
    address: StoreAddress,
    watch: Watch = SILENT,
    *,
    folder: Path | None = None,
    seconds: float | None = None,
    whole: Sequence[str] = NEEDED,
    on_sync: Callable[[], None] | None = None,
) -> Iterator[StoredRun]:
    """Opens a stored run for writing: fetched first, then synced at an interval and at the end.

    At SIGTERM the block ends by SystemExit, and what is there is stored. While the store is down,
    the work goes on and one warning says so.

    Args:
        address: the run.
        watch: told of what is waited for.
        folder: the local copy; None takes one in the cache folder.
        seconds: the interval; None takes `AUTOJ_SYNC_SECONDS`, else `SYNC_SECONDS`.
        whole: the files that are stored at each sync if they have changed, beside the ledger;
        derived ones are stored at the end.
        on_sync: called after each sync, from another thread, and once before the block.

    Raises:
        RunBusy: another process writes the run, or has taken it over.
        DataError: an object is missing or damaged.
        ConfigError: the store cannot be used from here.
        Unavailable: the store is down at the start or at the end; what is here stays here.
        StorageFull: the local disk is full.
    """
    objects = Objects(address)
    place = copies_folder() / f"{address.name}-{address.digest}"
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, place) from error
    with locked(place):
        copy = StoredCopy(objects, folder or place / address.name)
        name = f"process {os.getpid()} on {platform.node()}"
        writer = Writer(id=uuid.uuid4().hex, name=name, seconds=seconds or _interval())
        mirror = _Mirror(copy, writer, whole, on_sync)
        mirror.claim(watch)
        with _ended_by_sigterm(), mirror.at_work():
            yield StoredRun(folder=copy.folder, watch=_UntilTaken(watch, mirror), sync=mirror.sync)


def _interval() -> float:
    """The interval of syncs, in seconds."""
    text = os.environ.get("AUTOJ_SYNC_SECONDS")
    if not text:
        return SYNC_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
        raise ConfigError(
            f"AUTOJ_SYNC_SECONDS is {text!r}, and must be a number of seconds from "
            f"{_LEAST_SECONDS:g} to {_MOST_SECONDS:,.0f}"
        )
    return seconds


@dataclass(slots=True)
class _Mirror:
    """Stores the files of a local folder, as their one writer."""

    copy: StoredCopy
    writer: Writer
    whole: Sequence[str]
    on_sync: Callable[[], None] | None
    is_taken: bool = False
    is_down: bool = False
    freed: set[int] = field(default_factory=set)
    """Numbers of the manifests by which the run was given free, 0 once these were removed."""
    committed: float = 0.0
    """The time of the last commit, in seconds of the monotonic clock."""
    written: dict[str, tuple[tuple[int, int, int], Piece]] = field(default_factory=dict)
    """Of each whole file its inode, time and size when it was stored, and the piece."""
    ended: threading.Event = field(default_factory=threading.Event)
    syncing: threading.RLock = field(default_factory=threading.RLock)
    committing: threading.RLock = field(default_factory=threading.RLock)

    @property
    def objects(self) -> Objects:
        return self.copy.objects

    def claim(self, watch: Watch) -> None:
        """Becomes the writer of the run, and fetches it; gives it free again where it cannot."""
        found = _free_manifest(self.objects, watch)
        claimed = replace(found, number=found.number + 1, writer=self.writer)
        if not commit(self.objects, claimed):
            raise _busy(self.objects, read_manifest(self.objects))
        self.committed = time.monotonic()
        try:
            with self._alive():
                persistently(lambda: self.copy.take(claimed))
        except BaseException:
            # What went wrong is told by itself.
            with suppress(AutojError):
                self._leave(found.files)
            raise

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Syncs in another thread while the block runs, and once afterwards."""
        thread = threading.Thread(target=self._sync_at_interval, name="autoj-store", daemon=True)
        with self._alive():
            try:
                if self.on_sync is not None:
                    persistently(self.on_sync)
                thread.start()
                yield
            except BaseException as error:
                self._end(thread)
                if self.is_taken and isinstance(error, (Cancelled, RunBusy)):
                    raise self._taken() from None
                try:
                    self.free()
                except AutojError as lacking:
                    # What ended the work is told by itself.
                    _log.warning("%s", lacking)
                raise
            self._end(thread)
            self.free()

    def _end(self, thread: threading.Thread) -> None:
        self.ended.set()
        if thread.is_alive():
            thread.join()

    @contextmanager
    def _alive(self) -> Iterator[None]:
        """Commits from another thread where the block is long without: others wait for that."""
        ended = threading.Event()

        def beat() -> None:
            while not (ended.wait(self.writer.seconds / 2) or self.is_taken or self.freed):
                try:
                    self._beat()
                except AutojError as error:
                    _log.info("%s", error)

        thread = threading.Thread(target=beat, name="autoj-store-alive", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _beat(self) -> None:
        """Commits the same files again, if the last commit is old."""
        with self.committing:
            late = time.monotonic() - self.committed >= _BEAT_AFTER * self.writer.seconds
            if late and not self.freed:
                self._commit(None, self.writer)

    def _sync_at_interval(self) -> None:
        while not self.ended.wait(self.writer.seconds):
            try:
                self.sync()
                self.is_down = False
            except Exception as error:
                if self.is_taken:
                    return
                # What is still wrong at the end is raised by the last sync.
                if not self.is_down:
                    _log.warning("%s\n  The run goes on here, and is stored later.", error)
                self.is_down = True

    def sync(self) -> None:
        """Stores what is new."""
        with self.syncing:
            found = self._own()
            if found is None:
                raise self._taken()
            stored = self._commit(self._files(self.whole, found), self.writer)
            self._remove(found.keys() - stored.keys())
            if self.on_sync is not None:
                self.on_sync()

    def free(self) -> None:
        """Stores everything, and ends as the writer of the run."""
        if self.is_taken:
            raise self._taken()
        try:
            if self.on_sync is not None:
                persistently(self.on_sync)
            persistently(self._free)
        except Unavailable as error:
            raise Unavailable(
                f"not everything is stored: {error.message}",
                hint=f"{self.copy.folder} keeps it; the same command on this machine stores the "
                "rest.",
            ) from error

    def _free(self) -> None:
        # Listed before the manifest is read: what a successor stores is not among them.
        others = {name for name in self.objects.names() if is_piece(name)}
        if (found := self._own()) is None:
            # Committed before, by a call whose answer was lost.
            return
        stored = self._leave(self._files((*self.whole, *DERIVED), found))
        # With what a writer has left that was killed.
        self._remove((others | found.keys()) - stored.keys())

    def _leave(self, files: Mapping[str, tuple[Piece, ...]]) -> Manifest:
        """Gives the run free with these files; of no files nothing is left."""
        stored = self._commit(files, None)
        if not files:
            self.freed.add(0)
            last = manifest_name(stored.number)
            self._remove(name for name in manifest_names(self.objects) if name <= last)
        return stored

    def _own(self) -> Manifest | None:
        """The last manifest, which is ours; None where we have given the run free.

        Raises:
            RunBusy: it is another writer's.
        """
        found = read_manifest(self.objects)
        if found.writer is not None and found.writer.id == self.writer.id:
            return found
        if found.writer is None and found.number in self.freed:
            return None
        self.is_taken = True
        raise self._taken()

    def _commit(
        self, files: Mapping[str, tuple[Piece, ...]] | None, writer: Writer | None
    ) -> Manifest:
        """Commits a state right after the last one, which must be ours; None keeps its files."""
        with self.committing:
            found = self._own()
            if found is None:
                raise self._taken()
            number = found.number + 1
            stored = Manifest(
                number=number, writer=writer, files=found.files if files is None else files
            )
            if writer is None:
                self.freed.add(number)
            if not commit(self.objects, stored):
                self.is_taken = True
                raise self._taken()
            self.committed = time.monotonic()
        return stored

    def _files(self, whole: Sequence[str], found: Manifest) -> Mapping[str, tuple[Piece, ...]]:
        """Stores what is new, and leaves out what is not here any more, as old verdicts."""
        kept = {
            name: pieces
            for name, pieces in found.files.items()
            if name in GROWING or (self.copy.folder / name).exists()
        }
        # The settings first: other files may then be longer than these say, and not shorter.
        files = {name: self._whole(name, found) for name in whole}
        files |= {name: self._grown(name, found) for name in GROWING}
        return kept | {name: pieces for name, pieces in files.items() if pieces}

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            self.objects.remove(name)

    def _whole(self, name: str, found: Manifest) -> tuple[Piece, ...]:
        """Stores a file that is replaced as a whole, if it has changed."""
        try:
            stream = (self.copy.folder / name).open("rb")
        except FileNotFoundError:
            return ()
        # A file that is replaced meanwhile stays the same under this handle.
        with stream:
            status = os.fstat(stream.fileno())
            mark = (status.st_ino, status.st_mtime_ns, status.st_size)
            if name not in self.written or self.written[name][0] != mark:
                piece = Piece.of(stream)
                if found.files.get(name) != (piece,):
                    stream.seek(0)
                    self.objects.write(piece.key(name), stream)
                self.written[name] = (mark, piece)
        return (self.written[name][1],)

    def _grown(self, name: str, found: Manifest) -> tuple[Piece, ...]:
        """Stores the lines that a file has got.

        Small pieces before them are stored again with them, each about as often as the logarithm
        of the file's size: so the pieces stay few and the manifest short.
        """
        pieces = [*found.files.get(name, ())]
        start = sum(piece.n_bytes for piece in pieces)
        try:
            stream = (self.copy.folder / name).open("rb")
        except FileNotFoundError:
            return ()
        with stream:
            n_new = os.fstat(stream.fileno()).st_size - start
            if n_new < 0:
                raise DataError(
                    "has fewer lines than are stored",
                    path=self.copy.folder / name,
                    hint="Leave the local copy to autoj; the same command fetches it again.",
                )
            if not _lines_at(stream, start):
                return tuple(pieces)
            while pieces and pieces[-1].n_bytes <= n_new <= _MOST_BYTES - pieces[-1].n_bytes:
                n_new += pieces[-1].n_bytes
                start -= pieces.pop().n_bytes
            while content := _lines_at(stream, start):
                piece = Piece.of(io.BytesIO(content))
                self.objects.write(piece.key(name), io.BytesIO(content))
                pieces.append(piece)
                start += piece.n_bytes
        return tuple(pieces)

    def _taken(self) -> RunBusy:
        return RunBusy(
            f"{self.objects.address} was taken over by another writer, or removed",
            hint=f"What was stored is there; {self.copy.folder} keeps the rest.",
        )


def _lines_at(stream: BinaryIO, start: int) -> bytes:
    """The whole lines from a position on, as many as a piece may have."""
    stream.seek(start)
    content = stream.read(_MOST_BYTES)
    return content[: content.rfind(b"\n") + 1]


def _free_manifest(objects: Objects, watch: Watch) -> Manifest:
    """The last manifest of a run, once it has no writer that lives.

    Raises:
        RunBusy: its writer commits.
        Cancelled: the watch ended the wait.
    """
    found = persistently(lambda: read_manifest(objects))
    if found.writer is None:
        return found
    seconds = max(_DEAD_AFTER * found.writer.seconds, _LEAST_DEAD_SECONDS)
    watch.message(
        f"{objects.address} was being written by {found.writer.name}: waiting up to "
        f"{seconds:,.0f} s to see whether that is alive"
    )
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(min(1.0, found.writer.seconds / 2))
        if watch.cancelled():
            raise Cancelled("the wait for a stored run was cancelled")
        last = persistently(lambda: read_manifest(objects))
        if last.writer is None:
            return last
        if last.number != found.number:
            raise _busy(objects, last)
    return found


def _busy(objects: Objects, manifest: Manifest) -> RunBusy:
    name = "another process" if manifest.writer is None else manifest.writer.name
    return RunBusy(
        f"{objects.address} is being written by {name}",
        hint="Wait for it, stop it, or choose another --out.",
    )


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Ends the block by SystemExit at SIGTERM; as before in threads, which get no signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise SystemExit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _UntilTaken(Watch):
    """Passes everything on, and stops the work when the run is another writer's."""

    def __init__(self, watch: Watch, mirror: _Mirror) -> None:
        self._watch, self._mirror = watch, mirror

    def progress(self, what: str, n_done: int, n_total: int) -> None:
        self._watch.progress(what, n_done, n_total)

    def cost(self, spent_usd: float, expected_usd: float | None) -> None:
        self._watch.cost(spent_usd, expected_usd)

    def message(self, text: str) -> None:
        self._watch.message(text)

    def cancelled(self) -> bool:
        return self._mirror.is_taken or self._watch.cancelled()
