"""A run that is judged here and kept in a store: claimed, fetched, synced, and released."""

import logging
import os
import platform
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from autoj.errors import (
    AutojError,
    Cancelled,
    ConfigError,
    RunBusy,
    StorageFull,
    Unavailable,
    UserError,
)
from autoj.runs.place import locked
from autoj.runs.stores.address import StoreAddress, is_piece
from autoj.runs.stores.fetching import StoredCopy, copies_folder
from autoj.runs.stores.manifest import (
    DERIVED,
    LONGEST_SECONDS,
    NEEDED,
    Manifest,
    Piece,
    Writer,
)
from autoj.runs.stores.objects import Objects, persistently
from autoj.runs.stores.ownership import Awaited, Ownership
from autoj.runs.stores.storing import LocalFiles
from autoj.runs.stores.termination import ended_by_sigterm, sigterm_delayed
from autoj.runs.watch import SILENT, Watch
from autoj.system_errors import storage_error

_log = logging.getLogger(__name__)

SYNC_SECONDS = 30.0
"""The interval of syncs, unless `AUTOJ_SYNC_SECONDS` is set: what is lost with a machine."""
_LEAST_SECONDS = 1.0


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
    awaited: Awaited | None = None,
) -> Iterator[StoredRun]:
    """Opens a stored run for writing: fetched first, then synced at an interval and at the end.

    At SIGTERM the block ends by SystemExit, and what is there is stored; once the block has ended,
    SystemExit waits until it is. While the store is down, the work goes on and one warning says so.

    Args:
        address: the run.
        watch: told of what is waited for.
        folder: the local copy; None takes one in the cache folder.
        seconds: the interval; None takes `AUTOJ_SYNC_SECONDS`, else `SYNC_SECONDS`.
        whole: the files that are stored at each sync if they have changed, beside the ledger;
        derived ones are stored at the end.
        on_sync: called after each sync, from another thread, and once before the block.
        awaited: the runs that this process writes with it, whose dead writers are waited for
            together; None waits for this one's.

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
        ownership, files = Ownership(objects, writer, copy.folder), LocalFiles(copy.folder, objects)
        session = _Session(copy, ownership, files, watch, whole, on_sync)
        with ended_by_sigterm():
            session.claim(awaited)
            with session.at_work():
                until_lost = _UntilLost(watch, ownership)
                yield StoredRun(folder=copy.folder, watch=until_lost, sync=session.sync)


def _interval() -> float:
    """The interval of syncs, in seconds."""
    text = os.environ.get("AUTOJ_SYNC_SECONDS")
    if not text:
        return SYNC_SECONDS
    with suppress(ValueError):
        if _LEAST_SECONDS <= (seconds := float(text)) <= LONGEST_SECONDS:
            return seconds
    raise ConfigError(
        f"AUTOJ_SYNC_SECONDS is {text!r}, and must be a number of seconds from "
        f"{_LEAST_SECONDS:g} to {LONGEST_SECONDS:,.0f}"
    )


@dataclass(slots=True)
class _Session:
    """The time in which this process writes a stored run."""

    copy: StoredCopy
    ownership: Ownership
    files: LocalFiles
    watch: Watch
    whole: Sequence[str]
    on_sync: Callable[[], None] | None
    is_down: bool = False
    ended: threading.Event = field(default_factory=threading.Event)
    syncing: threading.RLock = field(default_factory=threading.RLock)

    def claim(self, awaited: Awaited | None = None) -> None:
        """Becomes the writer of the run, and fetches it."""
        self.ownership.claim(self.watch, self.copy.take, awaited)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Syncs in another thread while the block runs, and once afterwards."""
        thread = threading.Thread(target=self._sync_at_interval, name="autoj-store", daemon=True)
        with self.ownership.kept_alive(), ExitStack() as ending:
            try:
                try:
                    persistently(self._tell)
                    thread.start()
                    yield
                finally:
                    # A signal before this is one in the block, and any later one waits.
                    ending.enter_context(sigterm_delayed())
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    self.watch.message(
                        f"storing what is new in {self.copy.objects.address}; Ctrl-C again leaves "
                        "that to the next start on this machine"
                    )
                self._end(thread)
                if self.ownership.is_lost and isinstance(error, (Cancelled, RunBusy)):
                    raise self.ownership.lost() from None
                try:
                    self.finish()
                except AutojError as lacking:
                    # What ended the work is told by itself.
                    _log.warning("%s", lacking)
                raise
            self._end(thread)
            self.finish()

    def _end(self, thread: threading.Thread) -> None:
        self.ended.set()
        if thread.is_alive():
            thread.join()

    def _sync_at_interval(self) -> None:
        while not self.ended.wait(self.ownership.writer.seconds):
            try:
                self.sync()
                self.is_down = False
            except Exception as error:
                if self.ownership.is_lost:
                    return
                # What is still wrong at the end is raised by the last sync.
                if not self.is_down:
                    _log.warning("%s\n  The run goes on here, and is stored later.", error)
                self.is_down = True

    def sync(self) -> None:
        """Stores what is new."""
        with self.syncing:
            found = self.ownership.current()
            if found is None:
                raise self.ownership.lost()
            stored = self.ownership.commit(self._store(self.whole, found))
            self.ownership.remove(found.keys() - stored.keys())
            self._tell()

    def finish(self) -> None:
        """Stores everything, and ends as the writer of the run."""
        if self.ownership.is_lost:
            raise self.ownership.lost()
        try:
            persistently(self._tell)
        finally:
            # Whoever goes on would wait for a writer that has not ended.
            self._store_the_rest()

    def _store_the_rest(self) -> None:
        try:
            persistently(self._release)
        except (ConfigError, StorageFull, Unavailable) as error:
            hint = f"{self.copy.folder} keeps it; the same command on this machine stores the rest."
            if isinstance(error, UserError) and error.hint is not None:
                hint = f"{error.hint}\n  {hint}"
            raise type(error)(f"not everything is stored: {error.message}", hint=hint) from error

    def _release(self) -> None:
        # Listed while the run is ours: what is there is named now, or was left by a writer that was
        # killed or suspended. A successor that stores the same content gives it another name.
        others = {name for name in self.copy.objects.names() if is_piece(name)}
        if (found := self.ownership.current()) is None:
            # Committed before, by a call whose answer was lost.
            return
        stored = self.ownership.release(self._store((*self.whole, *DERIVED), found))
        self.ownership.remove((others | found.keys()) - stored.keys())

    def _store(self, whole: Sequence[str], found: Manifest) -> Mapping[str, tuple[Piece, ...]]:
        with _of_the_disk(self.copy.folder):
            return self.files.store(whole, found)

    def _tell(self) -> None:
        if self.on_sync is not None:
            with _of_the_disk(self.copy.folder):
                self.on_sync()


@contextmanager
def _of_the_disk(folder: Path) -> Iterator[None]:
    """Makes the errors of a local folder ours; those of the store already are."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, folder) from error


class _UntilLost(Watch):
    """Passes everything on, and stops the work when the run is another writer's."""

    def __init__(self, watch: Watch, ownership: Ownership) -> None:
        self._watch, self._ownership = watch, ownership

    def progress(self, what: str, n_done: int, n_total: int) -> None:
        self._watch.progress(what, n_done, n_total)

    def cost(self, spent_usd: float, expected_usd: float | None) -> None:
        self._watch.cost(spent_usd, expected_usd)

    def message(self, text: str) -> None:
        self._watch.message(text)

    def cancelled(self) -> bool:
        return self._ownership.is_lost or self._watch.cancelled()
