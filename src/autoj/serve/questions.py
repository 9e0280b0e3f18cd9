"""The kinds of question that an engine is asked: judge, rate, select, classify, write."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from autoj.backends.base import Backend
from autoj.protocols.base import RequestBody
from autoj.records import Case, Completion, Decoding, Failure, Message, Request, Verdict
from autoj.runs import RunSpec, judge_cases
from autoj.runs.plan import request_key
from autoj.tasks.classify import ClassifiedQuery, ask_scenario
from autoj.tasks.selection_folder import select_case


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
