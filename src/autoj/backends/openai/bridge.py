"""An event loop in a thread of its own, so that callers need know nothing of asyncio.

It lets a notebook, whose own thread already runs a loop, call a judge; and connections are served
while the caller writes its ledger.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["Bridge"]

T = TypeVar("T")


class Bridge:
    """Runs coroutines for callers in other threads."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        # A daemon: a caller that dies does not wait for it.
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def call(self, function: Callable[..., object], *given: object) -> None:
        """Have the loop call a function soon; returns at once."""
        self._loop.call_soon_threadsafe(function, *given)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and wait for what it returns."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._loop.is_closed()

    def close(self) -> None:
        """Cancel what still runs and end the thread."""
        self.run(_cancel_others())
        self.call(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
