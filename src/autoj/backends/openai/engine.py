"""The backend: an iterator of completions for callers, an event loop behind it."""

import queue
import weakref
from asyncio import Task, create_task, gather
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from autoj.backends.base import Limits, OnText, Outcome
from autoj.backends.openai.asker import Asker
from autoj.backends.openai.attempts import Ended
from autoj.backends.openai.client import Client
from autoj.backends.openai.exact import readings_beyond
from autoj.backends.openai.faults import Place
from autoj.backends.openai.planning import ServerReader
from autoj.backends.openai.settings import Settings
from autoj.backends.openai.threads import AllRead, Bridge, RequestReader
from autoj.errors import ConfigError
from autoj.records import Completion, Failure, JudgeCard, Request

# Requests read ahead per slot, so that a free slot does not wait for the caller.
_AHEAD = 2

_Done: TypeAlias = Outcome | BaseException | AllRead | None
"""None is a cancelled request."""


class OpenAIBackend(ServerReader):
    """Runs a judge behind an OpenAI-compatible server; connects on first use."""

    def __init__(self, card: JudgeCard, settings: Settings, place: Place, client: Client) -> None:
        super().__init__(card, settings)
        self._place = place
        self._client = client
        self._bridge: Bridge | None = None
        self._asker: Asker | None = None

    @property
    def limits(self) -> Limits:
        """Its limits: a prompt is read more often until a way to score choices is known."""
        if self._settings.scoring != "prefill":
            return self._limits
        method = None if self._asker is None else self._asker.scorer.method
        return replace(self._limits, readings_beyond=readings_beyond(method))

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        """Answers requests, `options.concurrency` at a time, each as soon as it is done.

        Closing the iterator cancels the requests in flight.

        Raises:
            ConfigError: the server, its key or its model does not fit the card, or a request
                needs probabilities and the card has no `scoring`.
            BackendError: the server no longer answers, or the account has no credit.
        """
        asker, bridge = self._connected()
        batch = _Batch(asker)

        def start(request: Request) -> None:
            self._check(request)
            bridge.call(batch.start, request)

        # In a thread of its own: an outcome is handed over at once, whatever is being built.
        n_ahead = _AHEAD * self._settings.concurrency
        reader = RequestReader(requests, n_ahead, start, batch.done.put)
        n_done, ends = 0, None
        all_read: AllRead | None = None
        try:
            while all_read is None or n_done < all_read.n_started:
                done = batch.done.get()
                if isinstance(done, AllRead):
                    all_read = done
                    if done.error is not None:
                        yield from batch.finished()
                        raise done.error
                    continue
                n_done += 1
                reader.make_room()
                if isinstance(done, BaseException):
                    ends = ends or done
                    reader.stop()
                elif done is not None:
                    yield done
            if ends is not None:
                raise ends
        finally:
            reader.stop()
            reader.join()
            if all_read is None or n_done < all_read.n_started:
                bridge.run(batch.cancel())

    def close(self) -> None:
        """Cancels requests in flight and closes the connections."""
        if self._asker is not None and self._bridge is not None:
            _shut(self._bridge, self._client)
        self._asker = self._bridge = None

    def _connected(self) -> tuple[Asker, Bridge]:
        if self._asker is None or self._bridge is None:
            self._bridge = Bridge(f"autoj-{self.card.name}")
            self._asker = self._bridge.run(self._make_asker())
            # If the caller never closes the backend, the connections end with the process.
            weakref.finalize(self, _shut, self._bridge, self._client)
        return self._asker, self._bridge

    async def _make_asker(self) -> Asker:
        # In the loop's thread, to which all its objects belong.
        return Asker(self.card, self._settings, self._place, self._client)

    def _check(self, request: Request) -> None:
        if request.messages[-1].role != "user":
            raise ConfigError(
                f"judge {self.card.name!r} writes text and gives no scores, which protocol "
                f"{request.protocol!r} needs: it is for reward models"
            )
        if request.choices is not None and not self.limits.scores_choices:
            raise ConfigError(
                f"protocol {request.protocol!r} needs probabilities, and the card of judge "
                f"{self.card.name!r} has no options.scoring",
                hint="Use a protocol that writes, such as baseline-pairwise; or set "
                "options.scoring: logprobs if the server gives log-probabilities, prefill if it "
                "also continues an unfinished message.",
            )


def _shut(bridge: Bridge, client: Client) -> None:
    if not bridge.is_closed:
        bridge.run(client.close())
        bridge.close()


class _Batch:
    """The requests of one call in flight; all but `done` is used in the loop's thread only."""

    def __init__(self, asker: Asker) -> None:
        self.done: queue.SimpleQueue[_Done] = queue.SimpleQueue()
        self._asker = asker
        self._ended = Ended()
        self._tasks: set[Task[None]] = set()

    def start(self, request: Request) -> None:
        """Starts a request; its outcome, or the error that ends the run, comes through `done`."""
        task = create_task(self._answer(request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, request: Request) -> None:
        try:
            done: _Done = await self._asker.answer(request, self._ended)
        except Exception as error:
            # A bug of ours must not leave the caller waiting.
            done = error
        if isinstance(done, BaseException):
            self._ended.set()
        self.done.put(done)

    def finished(self) -> Iterator[Outcome]:
        """The outcomes that wait in `done`."""
        with suppress(queue.Empty):
            while True:
                if isinstance(done := self.done.get_nowait(), Completion | Failure):
                    yield done

    async def cancel(self) -> None:
        """Cancels all requests in flight."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await gather(*tasks, return_exceptions=True)
