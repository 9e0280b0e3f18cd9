"""Reads requests in a thread of its own, so that building them never holds up an answer."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from autoj.records import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class AllRead:
    """The end of the requests."""

    n_started: int
    """The number of requests that were started."""
    error: BaseException | None
    """The error that reading or starting ended with."""


class RequestReader:
    """Reads requests, a bounded number ahead of their outcomes, and starts each."""

    def __init__(
        self,
        requests: Iterable[Request],
        n_ahead: int,
        start: Callable[[Request], object],
        on_end: Callable[[AllRead], object],
    ) -> None:
        """Starts the thread.

        Args:
            requests: read in the thread; its `stop`, if it has one, is called to end reading.
            n_ahead: the most requests without an outcome.
            start: starts a request; called in the thread.
            on_end: told of the end; called in the thread.
        """
        self._requests, self._start, self._on_end = requests, start, on_end
        self._room = threading.Semaphore(n_ahead)
        self._ended = False
        self._thread = threading.Thread(target=self._read, name="autoj-requests", daemon=True)
        self._thread.start()

    def make_room(self) -> None:
        """Lets one more request be read, after an outcome."""
        self._room.release()

    def stop(self) -> None:
        """Ends reading after the request that is being read."""
        self._ended = True
        if (stop := getattr(self._requests, "stop", None)) is not None:
            stop()
        self._room.release()

    def join(self) -> None:
        """Waits until the thread has ended."""
        self._thread.join()

    def _read(self) -> None:
        n_started, error = 0, None
        try:
            unread = iter(self._requests)
            while True:
                self._room.acquire()
                if self._ended or (request := next(unread, None)) is None:
                    break
                self._start(request)
                n_started += 1
        except BaseException as caught:  # the caller's thread raises it
            error = caught
        self._on_end(AllRead(n_started=n_started, error=error))
