"""One judge's engine: a thread that judges what all clients ask, in batches.

The thread loads the backend, takes what waits, and loads the backend anew where it broke down. The
jobs of the batch that broke it fail; those that waited are judged after the restart.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal

from autoj.backends.base import Backend, OnText
from autoj.errors import AutojError, NoRoom, StorageFull, Unavailable
from autoj.records import JudgeCard, Request
from autoj.serve.questions import FairQueue, Job, OnPart, Question, QueueFull
from autoj.verdicts.unfounded_claims import what_stays

State = Literal["loading", "ready", "down", "closed"]

_LOG = logging.getLogger(__name__)
_MOST_AT_ONCE = 256
"""Subjects that are judged as one batch at most."""
_LONGEST_WAIT_SECONDS = 60


class Engine:
    """A judge that answers many clients.

    Args:
        name: the judge's name among the service's.
        card: its card.
        load: loads its backend; called again after a breakdown.
        capacity: the most subjects that may wait.
        retry_seconds: the time between two attempts to load a backend that does not load.
    """

    def __init__(
        self,
        name: str,
        card: JudgeCard,
        load: Callable[[], Backend],
        *,
        capacity: int = 1024,
        retry_seconds: float = 5.0,
    ) -> None:
        self.name = name
        self.card = card
        self._load = load
        self._retry_seconds = retry_seconds
        self._waiting = FairQueue(capacity)
        self._changed = threading.Condition()
        self._state: State = "loading"
        self._reason: str | None = None
        self._seconds_per_job = 0.0
        self._thread = threading.Thread(target=self._work, name=f"autoj-{name}", daemon=True)

    @property
    def state(self) -> State:
        """The state of the backend."""
        return self._state

    @property
    def n_waiting(self) -> int:
        """Subjects that wait."""
        return len(self._waiting)

    def start(self) -> None:
        """Starts loading the backend."""
        self._thread.start()

    def submit(
        self,
        client: str,
        question: Question,
        subjects: Sequence[Any],
        on_part: OnPart | None = None,
    ) -> list[Future[Any]]:
        """Asks one question about some subjects: all of them are taken, or none.

        Args:
            client: who asks; clients take turns.
            question: the question.
            subjects: cases or prompts.
            on_part: receives the text while it is generated; for one subject.

        Returns:
            One future per subject. A cancelled one is not judged if its turn has not come.

        Raises:
            QueueFull: there is no room for them.
            Unavailable: the engine is not ready.
        """
        jobs = [Job(question, subject, on_part) for subject in subjects]
        with self._changed:
            if self._state != "ready":
                raise self._unready()
            if not self._waiting.has_room(len(jobs)):
                self._waiting.drop_cancelled()
            if not self._waiting.has_room(len(jobs)):
                raise QueueFull(self.name, self._wait_seconds())
            self._waiting.put(client, jobs)
            self._changed.notify()
        return [job.answer for job in jobs]

    def _unready(self) -> Unavailable:
        why = f": {self._reason}" if self._reason else ""
        return Unavailable(f"judge {self.name!r} is {self._state}{why}")

    def _wait_seconds(self) -> int:
        expected = self._seconds_per_job * len(self._waiting)
        return max(1, min(_LONGEST_WAIT_SECONDS, math.ceil(expected)))

    def close(self) -> None:
        """Judges what waits, then frees the backend."""
        with self._changed:
            self._state = "closed"
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while self._state != "closed":
            backend = self._loaded()
            if backend is None:
                continue
            try:
                self._serve(backend)
            finally:
                self._close(backend)
        self._refuse_waiting()

    def _loaded(self) -> Backend | None:
        try:
            backend = self._load()
        except Exception as error:
            # Whatever keeps an engine from loading: the service lives, says so, and tries again.
            _LOG.warning("judge %s does not load: %s", self.name, error)
            with self._changed:
                self._become("down", str(error) if isinstance(error, AutojError) else None)
                self._refuse_waiting()
                if self._state != "closed":
                    self._changed.wait(self._retry_seconds)
            return None
        with self._changed:
            self._become("ready", None)
        return backend

    def _become(self, state: State, reason: str | None) -> None:
        if self._state != "closed":
            self._state, self._reason = state, reason

    def _refuse_waiting(self) -> None:
        for job in self._waiting.clear():
            if job.answer.set_running_or_notify_cancel():
                job.answer.set_exception(self._unready())

    def _serve(self, backend: Backend) -> None:
        """Judges until the backend breaks down or the engine is closed and nothing waits."""
        while True:
            with self._changed:
                while not self._waiting and self._state != "closed":
                    self._changed.wait()
                batch = self._waiting.take(_MOST_AT_ONCE)
                if not batch and self._state == "closed":
                    return
            if batch and not self._judge(batch, backend):
                with self._changed:
                    self._become("loading", "it broke down and is loaded anew")
                return

    def _judge(self, batch: list[Job], backend: Backend) -> bool:
        """Answers a batch; False where the backend broke down."""
        started = time.monotonic()
        subjects = [job.subject for job in batch]
        on_part = batch[0].on_part
        try:
            found = batch[0].question.answer(
                subjects, backend if on_part is None else _Heard(backend, on_part)
            )
        except AutojError as error:
            if isinstance(error, Unavailable):
                return self._broken(batch, error)
            if isinstance(error, StorageFull | NoRoom):
                # Nobody's case is at fault, and the engine is as well as before.
                self._fail(batch, error)
                return True
            if len(batch) > 1:
                # One client's bad case must not fail another's.
                return self._judge_apart(batch, backend)
            batch[0].answer.set_exception(error)
        except Exception as error:
            _LOG.exception("judge %s broke down", self.name)
            said = Unavailable(f"judge {self.name!r} broke down ({type(error).__name__})")
            return self._broken(batch, said)
        else:
            for job, answer in zip(batch, found, strict=True):
                job.answer.set_result(answer)
            seconds = (time.monotonic() - started) / len(batch)
            self._seconds_per_job += 0.2 * (seconds - self._seconds_per_job)
        return True

    def _judge_apart(self, batch: list[Job], backend: Backend) -> bool:
        for number, job in enumerate(batch, start=1):
            if not self._judge([job], backend):
                return self._broken(batch[number:], Unavailable(f"judge {self.name!r} broke down"))
        return True

    def _close(self, backend: Backend) -> None:
        # The thread must outlive an engine that cannot even be closed, to load the next one.
        try:
            backend.close()
        except Exception:
            _LOG.exception("judge %s cannot be closed", self.name)

    def _broken(self, batch: list[Job], error: Unavailable) -> bool:
        self._fail(batch, error)
        return False

    def _fail(self, batch: list[Job], error: AutojError) -> None:
        for job in batch:
            if not job.answer.done():
                job.answer.set_exception(error)


class _Heard:
    """A backend whose text is also heard while it is generated, by the number of its question.

    Of a judge that proofreads only what stays is heard: claims that its critique has no ground for
    are left out of the answer where the response is rated highly.
    """

    def __init__(self, backend: Backend, on_part: OnPart) -> None:
        self.card, self.limits = backend.card, backend.limits
        self.count_tokens, self.close = backend.count_tokens, backend.close
        self._backend, self._on_part = backend, on_part
        self._written: dict[str, tuple[int, tuple[int, ...]]] = {}
        self._held: dict[str, _Held] = {}

    def complete(self, requests: Iterable[Request], on_text: OnText | None = None) -> Any:
        return self._backend.complete(map(self._noted, requests), self._heard)

    def _noted(self, request: Request) -> Request:
        # Where choices are scored nothing is written.
        if request.choices is None:
            self._written.setdefault(request.key, (len(self._written), request.shown))
        if request.proofreading is not None or request.opening:
            self._held.setdefault(request.key, _Held())
        return request

    def _heard(self, key: str, text: str) -> None:
        if key in self._held:
            text = self._held[key].further(text)
        if key in self._written and text:
            self._on_part(*self._written[key], text)


@dataclass(slots=True)
class _Held:
    """A critique that is being written, of which only what stays is handed on."""

    _text: str = ""
    _n_handed_on: int = 0

    def further(self, text: str) -> str:
        """The text that can be handed on now that another has come."""
        self._text += text
        start = self._n_handed_on
        self._n_handed_on = max(start, len(what_stays(self._text)))
        return self._text[start : self._n_handed_on]
