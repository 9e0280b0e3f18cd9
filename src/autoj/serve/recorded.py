"""A judge's engine with a ledger: every answer is written to a folder and never asked twice."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from autoj.backends.base import Backend, OnText, Outcome
from autoj.errors import StorageFull
from autoj.records import Completion, Request
from autoj.runs.ledger import Ledger
from autoj.runs.place import locked
from autoj.system_errors import storage_error


class Recorded:
    """A backend that looks into its ledger before it asks.

    Args:
        load: loads the backend.
        folder: the folder of the ledger, which is locked until `close`.

    Raises:
        RunBusy: another process writes to the folder.
        StorageFull: the disk is full.
    """

    def __init__(self, load: Callable[[], Backend], folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, folder) from error
        with ExitStack() as opened:
            opened.enter_context(locked(folder))
            self._ledger = opened.enter_context(Ledger(folder))
            self._backend = load()
            opened.callback(self._backend.close)
            self._opened = opened.pop_all()
        self.card, self.limits = self._backend.card, self._backend.limits
        self.count_tokens = self._backend.count_tokens
        self._held: deque[Outcome] = deque()

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        """Answers known requests from the ledger, and records the answers to the others.

        Raises:
            StorageFull: the disk is full. Answers that came nevertheless are held until it has
                room; until then no further question is asked.
        """
        unknown: list[Request] = []
        for request in requests:
            known = self._ledger.find(request.key)
            if isinstance(known, Completion):
                yield known
            else:
                unknown.append(request)
        if unknown and self._held:
            self._record_held()
            yield from self.complete(unknown, on_text)
            return
        full: StorageFull | None = None
        for outcome in self._backend.complete(unknown, on_text):
            if full is None:
                try:
                    self._ledger.record(outcome)
                except StorageFull as error:
                    full = error
                else:
                    yield outcome
                    continue
            # It was paid for: the engine goes on to its end, and nothing is asked twice.
            self._held.append(outcome)
        if full is not None:
            raise full

    def _record_held(self) -> None:
        while self._held:
            self._ledger.record(self._held[0])
            self._held.popleft()

    def close(self) -> None:
        """Frees the backend, then syncs and closes the ledger.

        Raises:
            StorageFull: the disk is still full, and answers that were held are lost.
        """
        with self._opened:
            self._record_held()
