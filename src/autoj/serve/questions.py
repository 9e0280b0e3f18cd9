"""Questions to an engine (judge, rate, select, classify, write), and the queue before it.

The queue is bounded: clients take turns, and equal questions leave together.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from autoj.backends.base import Backend
from autoj.errors import BackendError
from autoj.protocols.base import RequestBody
from autoj.records import Case, Completion, Decoding, Failure, Message, Request, Verdict
from autoj.runs import RunSpec, judge_cases
from autoj.runs.plan import request_key
from autoj.tasks.classify import ClassifiedQuery, ask_scenario
from autoj.tasks.selection_folder import select_case

OnPart = Callable[[int, tuple[int, ...], str], None]
"""Called with the number of a question about a subject, counted from 0, the responses that its page
shows, and the text that was just generated."""


class Question(Protocol):
    """Settings that several subjects share; those with equal questions are one batch."""

    def answer(self, subjects: Sequence[Any], backend: Backend) -> Sequence[Any]:
        """One answer per subject, in order."""


@dataclass(frozen=True, slots=True)
class Judging:
    """Compares or rates cases."""

    spec: RunSpec

    def answer(self, subjects: Sequence[Case], backend: Backend) -> list[Verdict]:
        """One verdict per case."""
        return list(judge_cases(subjects, self.spec, backend))


@dataclass(frozen=True, slots=True)
class Selecting:
    """Selects the best response of each case."""

    spec: RunSpec

    def answer(self, subjects: Sequence[Case], backend: Backend) -> list[Verdict]:
        """One verdict per case, with `selected`."""
        return [select_case(case, self.spec, backend) for case in subjects]


@dataclass(frozen=True, slots=True)
class Classifying:
    """Names the scenario of each case's query."""

    spec: RunSpec

    def answer(self, subjects: Sequence[Case], backend: Backend) -> list[ClassifiedQuery]:
        """One row per case."""
        return [ask_scenario(case, self.spec, backend) for case in subjects]


@dataclass(frozen=True, slots=True)
class Writing:
    """Sends prompts to the judge's model as they are."""

    decoding: Decoding

    def answer(
        self, subjects: Sequence[tuple[Message, ...]], backend: Backend
    ) -> list[Completion | Failure]:
        """One completion or failure per prompt; equal prompts are asked once."""
        asked = [self._request(messages, backend) for messages in subjects]
        fitting = {its.key: its for its in asked if self._room(its, backend) >= 0}
        told = {outcome.key: outcome for outcome in backend.complete(list(fitting.values()))}
        return [told.get(its.key) or self._unanswered(its, backend) for its in asked]

    def _request(self, messages: tuple[Message, ...], backend: Backend) -> Request:
        return Request(
            key=request_key(backend.card, RequestBody(messages=messages), self.decoding, 0),
            judge=backend.card.name,
            case_id="prompt",
            protocol="prompt",
            shown=(),
            messages=messages,
            decoding=self.decoding,
        )

    def _room(self, request: Request, backend: Backend) -> int:
        n_tokens = sum(backend.count_tokens(message.content) for message in request.messages)
        return backend.limits.context_tokens - n_tokens - self.decoding.max_tokens

    def _unanswered(self, request: Request, backend: Backend) -> Failure:
        lacking = -self._room(request, backend)
        error, message = "NoAnswer", "the engine gave no answer"
        if lacking > 0:
            error = "TooLong"
            message = f"prompt and completion exceed the judge's context by {lacking} tokens"
        return Failure(
            key=request.key, error=error, message=message, retryable=lacking <= 0, attempts=1
        )


class QueueFull(BackendError):
    """More work waits for an engine than its queue may hold.

    Args:
        judge: the judge's name.
        retry_after_seconds: the time after which there may be room.
    """

    def __init__(self, judge: str, retry_after_seconds: int) -> None:
        super().__init__(
            f"the queue of judge {judge!r} is full; try again in {retry_after_seconds} s",
            retryable=True,
        )
        self.retry_after_seconds = retry_after_seconds


@dataclass(slots=True, eq=False)
class Job:
    """One subject that waits for its answer."""

    question: Question
    subject: Any
    on_part: OnPart | None = None
    """Receives the text that is generated; such a job is a batch of its own."""
    answer: Future[Any] = field(default_factory=Future)


class FairQueue:
    """Jobs by client; the clients take turns. Not thread-safe: its engine holds a lock."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._by_client: OrderedDict[str, deque[Job]] = OrderedDict()
        self._n_waiting = 0

    def __len__(self) -> int:
        return self._n_waiting

    def has_room(self, n_jobs: int) -> bool:
        """True where so many jobs more may wait."""
        return self._n_waiting + n_jobs <= self._capacity

    def put(self, client: str, jobs: Sequence[Job]) -> None:
        """Adds a client's jobs."""
        self._by_client.setdefault(client, deque()).extend(jobs)
        self._n_waiting += len(jobs)

    def take(self, most: int) -> list[Job]:
        """Takes the next job, and others with the same question, one of each client in turn.

        Jobs whose client has left are dropped.
        """
        batch: list[Job] = []
        for job in self._fitting(batch):
            if job.answer.set_running_or_notify_cancel():
                batch.append(job)
            if len(batch) == most or (batch and batch[0].on_part is not None):
                break
        return batch

    def _fitting(self, batch: list[Job]) -> Iterator[Job]:
        n_passed = 0
        while n_passed < len(self._by_client):
            client, its = next(iter(self._by_client.items()))
            self._by_client.move_to_end(client)
            if batch and not _together(batch[0], its[0]):
                n_passed += 1
                continue
            n_passed = 0
            job = its.popleft()
            self._n_waiting -= 1
            if not its:
                del self._by_client[client]
            yield job

    def drop_cancelled(self) -> None:
        """Drops jobs whose client has left, so that they take no room."""
        for client, its in list(self._by_client.items()):
            kept = deque(job for job in its if not job.answer.cancelled())
            self._n_waiting -= len(its) - len(kept)
            if kept:
                self._by_client[client] = kept
            else:
                del self._by_client[client]

    def clear(self) -> list[Job]:
        """Takes all jobs out."""
        jobs = [job for its in self._by_client.values() for job in its]
        self._by_client.clear()
        self._n_waiting = 0
        return jobs


def _together(first: Job, other: Job) -> bool:
    if first.on_part is not None or other.on_part is not None:
        return False
    return first.question is other.question or first.question == other.question
