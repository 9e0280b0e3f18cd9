"""A policy: a model that answers queries, of whose answers a killed build loses none.

A policy is any judge's card whose engine writes text; it is asked the query alone. Its folder has
the ledger of a run and a plan, which finds answers again without loading the model:

```
policies/NAME/plan.jsonl  ledger.jsonl  failures.jsonl
```
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from autoj.backends.base import Backend
from autoj.errors import BackendError, Cancelled, DataError, Unfinished
from autoj.jsonl import read_records, write_records
from autoj.protocols.base import RequestBody
from autoj.records import (
    Asked,
    Case,
    Completion,
    Decoding,
    Failure,
    JudgeCard,
    Message,
    Request,
    WrittenCompletion,
)
from autoj.runs.budget import Budget, price_usd
from autoj.runs.files import FAILURES, LEDGER, PLAN
from autoj.runs.fit import Overflow, fit
from autoj.runs.ledger import Ledger
from autoj.runs.loop import ask
from autoj.runs.plan import Planned, request_key
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.default_paths import slug
from autoj.tasks.engine import load_engine

T = TypeVar("T")
Answered: TypeAlias = WrittenCompletion | Failure
Purpose: TypeAlias = Literal["answer", "sample", "log-probability"]
"""A response of a pair, one of Eval-R's samples, or the log-probability of such a one."""

_DOING: dict[Purpose, str] = {
    "answer": "answering queries",
    "sample": "sampling responses",
    "log-probability": "scoring samples",
}
OVERFLOW = "ContextOverflow"
_MOST_FAILED = 0.5
"""With a larger share of failed requests, a policy is down and its failures are not read."""
_FEW = 8
"""Of fewer requests than these, each failure is read for itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query that a policy is asked, once or in several samples."""

    case: Case
    sample: int = 0


class Policy:
    """A model that answers queries; its engine is loaded while a question is open.

    Args:
        card: its card.
        policies: the folder with a folder of each.
        decoding: the sampling settings of its answers.
        budget: the caps; answers of earlier sessions are counted at once.
        watch: told of progress.

    Raises:
        DataError: its ledger is damaged.
        ConfigError: money is capped, and the card states no prices.
    """

    def __init__(
        self,
        card: JudgeCard,
        policies: Path,
        decoding: Decoding,
        budget: Budget,
        watch: Watch = SILENT,
    ) -> None:
        self.card, self._decoding = card, decoding
        self._budget, self._watch = budget, watch
        self._path = policies / slug(card.name)
        budget.check(card)
        budget.count_earlier(card, self._read(LEDGER, WrittenCompletion))

    def answer(
        self, questions: Sequence[Question], purpose: Purpose, decoding: Decoding | None = None
    ) -> list[Answered]:
        """Answers questions, those first whose answers are in the ledger.

        Args:
            questions: asked in this order.
            purpose: finds the answers again.
            decoding: the sampling settings; None takes the policy's.

        Returns:
            An answer per question, or why there is none.

        Raises:
            Unfinished: a cap was reached; the same call with a higher one goes on.
            BackendError: the engine broke down, or most requests failed.
            Cancelled: `watch` cancelled it.
        """
        known = self._known(questions, purpose)
        if known is None:
            with closing(load_engine(self.card, self._watch)) as engine:
                planned = [
                    self._planned(question, purpose, engine, decoding or self._decoding)
                    for question in questions
                ]
                self._ask(planned, engine, purpose)
            known = [item.asked.key for item in planned]
        found = self._found(known)
        if self._budget.stopped:
            raise Unfinished(self._budget.summary())
        self._check_answered(found)
        return found

    def samples(self, questions: Sequence[Question], decoding: Decoding) -> list[Answered]:
        """Samples answers, with log-probabilities where the engine gives them.

        An engine that scores texts is asked a second time, about what it wrote; a server states
        them with its answer, where its card says `text_logprobs`, or not at all.

        Raises:
            Unfinished: as `answer`.
            BackendError: as `answer`.
        """
        found = self.answer(questions, "sample", decoding)
        missing = [
            (question, answer.text)
            for question, answer in zip(questions, found, strict=True)
            if isinstance(answer, WrittenCompletion) and answer.logprob is None and answer.text
        ]
        scores = self._score(missing, decoding) if missing else {}
        return [
            replace(answer, logprob=scores[asked])
            if (asked := (question.case.id, question.sample)) in scores
            and isinstance(answer, WrittenCompletion)
            else answer
            for question, answer in zip(questions, found, strict=True)
        ]

    def cost(self) -> tuple[int, float | None]:
        """The number of its answers, and their price; None where the card states none."""
        answers = list(self._read(LEDGER, Completion))
        prices = [
            price_usd(self.card, answer.prompt_tokens, answer.completion_tokens)
            for answer in answers
        ]
        known = [price for price in prices if price is not None]
        return len(answers), sum(known) if known else None

    def _score(
        self, written: Sequence[tuple[Question, str]], decoding: Decoding
    ) -> dict[tuple[str, int], float]:
        """The log-probabilities of written texts by case and sample; none of a server's."""
        questions = [question for question, _ in written]
        keys = self._known(questions, "log-probability")
        if keys is None:
            with closing(load_engine(self.card, self._watch)) as engine:
                if not engine.limits.scores_texts:
                    return {}
                planned = [
                    self._planned(question, "log-probability", engine, decoding, text)
                    for question, text in written
                ]
                self._ask(planned, engine, "log-probability")
            keys = [item.asked.key for item in planned]
        if self._budget.stopped:
            raise Unfinished(self._budget.summary())
        scored = {answer.key: answer for answer in self._read(LEDGER, Completion)}
        return {
            (question.case.id, question.sample): answer.choice_logprobs[0]
            for question, key in zip(questions, keys, strict=True)
            if (answer := scored.get(key)) is not None and answer.choice_logprobs is not None
        }

    def _known(self, questions: Sequence[Question], purpose: Purpose) -> list[str] | None:
        """The keys of questions that are all answered; None where one is open."""
        plan = {(row.case_id, row.sample, row.protocol): row.key for row in self._read(PLAN, Asked)}
        answered = {answer.key for answer in self._read(LEDGER, Completion)}
        keys = [plan.get((each.case.id, each.sample, purpose)) for each in questions]
        known = [key for key in keys if key is not None and key in answered]
        return known if len(known) == len(keys) else None

    def _planned(
        self,
        question: Question,
        purpose: Purpose,
        engine: Backend,
        decoding: Decoding,
        text: str | None = None,
    ) -> Planned:
        """The request of a question; with a text, the one that scores it as an answer."""
        messages = (Message(role="user", content=question.case.query),)
        # The empty text shares the prompt alone, so that all of the other is scored.
        choices = None if text is None else (text, "")
        body = RequestBody(messages=messages, choices=choices)
        asked = Asked(
            case_id=question.case.id,
            judge=self.card.name,
            protocol=purpose,
            shown=(),
            sample=question.sample,
            scored=choices is not None,
            truncated=False,
            key=request_key(engine.card, body, decoding, question.sample),
        )
        fitted = fit(question.case, [()], lambda *_: body, engine, decoding, "error")
        if isinstance(fitted, Overflow):
            said = f"the query is too long for the context of {self.card.name!r}"
            failure = Failure(
                key=asked.key, error=OVERFLOW, message=said, retryable=False, attempts=1
            )
            return Planned(asked=asked, request=None, failure=failure)
        request = Request(
            key=asked.key,
            judge=asked.judge,
            case_id=asked.case_id,
            protocol=asked.protocol,
            shown=asked.shown,
            sample=asked.sample,
            messages=messages,
            choices=choices,
            decoding=decoding,
        )
        return Planned(asked=asked, request=request)

    def _ask(self, planned: Sequence[Planned], engine: Backend, purpose: Purpose) -> None:
        """Sends the requests that are open, after their plan is written."""
        self._path.mkdir(parents=True, exist_ok=True)
        rows = {(row.case_id, row.sample, row.protocol): row for row in self._read(PLAN, Asked)}
        for item in planned:
            rows[item.asked.case_id, item.asked.sample, item.asked.protocol] = item.asked
        write_records(self._path / PLAN, rows.values())
        n_done = 0

        def tell(_: object) -> None:
            nonlocal n_done
            n_done += 1
            self._watch.progress(f"{self.card.name}: {_DOING[purpose]}", n_done, len(planned))
            if self._watch.cancelled():
                raise Cancelled("cancelled")

        with Ledger(self._path) as ledger:
            ask(planned, engine, ledger, tell, self._budget)

    def _found(self, keys: Sequence[str]) -> list[Answered]:
        answers = {answer.key: answer for answer in self._read(LEDGER, WrittenCompletion)}
        failures = {failure.key: failure for failure in self._read(FAILURES, Failure)}
        return [answers.get(key) or failures.get(key) or _unanswered(key) for key in keys]

    def _read(self, name: str, kind: type[T]) -> Iterator[T]:
        try:
            yield from read_records(self._path / name, kind)
        except DataError as error:
            raise DataError(
                error.reason,
                path=error.path,
                line=error.line,
                hint="Restore it from a copy, or delete that line: its question is asked again.",
            ) from None

    def _check_answered(self, found: Sequence[Answered]) -> None:
        """Refuses answers of which most failed: the model is down, or its key is wrong.

        Raises:
            BackendError: they did; the same command asks them again.
        """
        failed = [item for item in found if isinstance(item, Failure) and item.error != OVERFLOW]
        if len(found) >= _FEW and len(failed) > _MOST_FAILED * len(found):
            raise BackendError(
                f"{self.card.name} failed on {len(failed):,} of {len(found):,} requests; the last "
                f"error: {failed[-1].message}",
                hint="Nothing was dropped. Once it is back, the same command asks them again.",
            )


def _unanswered(key: str) -> Failure:
    said = "the engine gave no answer"
    return Failure(key=key, error="NoAnswer", message=said, retryable=True, attempts=1)
