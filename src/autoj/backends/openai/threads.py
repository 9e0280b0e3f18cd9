"""Threads of the engine: one of its event loop, so that callers need no asyncio; one of requests.

Requests are read in a thread of its own, so that building them never holds up an answer.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from autoj.records import Request

T = TypeVar("T")


class Bridge:
    """Runs coroutines for callers in other threads.

    A notebook, whose thread already runs a loop, can so call a judge; and connections are served
    while the caller writes its ledger.
    """

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        # A daemon thread, so that the process can exit without it.
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def call(self, function: Callable[..., object], *given: object) -> None:
        """Schedules a call in the loop; returns at once."""
        self._loop.call_soon_threadsafe(function, *given)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine in the loop and waits for its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    @property
    def is_closed(self) -> bool:
        """True after `close`."""
        return self._loop.is_closed()

    def close(self) -> None:
        """Cancels all running tasks and ends the thread."""
        self.run(_cancel_others())
        self.call(self._loop.stop)
        self._thread.join()
        self._loop.close()


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


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
