"""One request's attempts so far: its cost, the end of waiting for it, and giving it up."""

import asyncio
from dataclasses import dataclass

from autoj.backends.openai.faults import Fault
from autoj.records import Request


class Ended:
    """A flag that the requests of one call are cancelled, which also ends waits."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def is_set(self) -> bool:
        """True where the requests are cancelled."""
        return self._event.is_set()

    def set(self) -> None:
        """Cancels the requests; called in the loop's thread."""
        self._event.set()

    async def sleep(self, seconds: float) -> None:
        """Wait, but no longer than requests are wanted."""
        if seconds > 0:
            try:
                await asyncio.wait_for(self._event.wait(), seconds)
            except TimeoutError:
                return


class GivenUpError(Exception):
    """A request without a reply: by a fault, or cancelled if it has none."""

    def __init__(self, fault: Fault | None) -> None:
        super().__init__()
        self.fault = fault


@dataclass(slots=True, kw_only=True)
class RequestCost:
    """A request with its cost so far."""

    request: Request
    ended: Ended
    n_tries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
