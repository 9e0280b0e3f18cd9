"""Answers from a function or from a recorded run: for tests, replays and simple baselines.

`--judge scripted:runs/old` replays a recorded run, without its model.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from autoj.backends.base import Limits, OnText, Outcome
from autoj.errors import ConfigError
from autoj.jsonl import read_records
from autoj.records import Asked, Completion, Failure, JudgeCard, Request

Answer = Callable[[Request], "str | tuple[float, ...] | Outcome"]
"""A text, the log-probabilities of the request's choices, or a whole completion or failure."""


class ScriptedBackend:
    """Answers each request by calling a function."""

    def __init__(self, card: JudgeCard, answer: Answer) -> None:
        self.card = card
        self.limits = Limits(context_tokens=card.context_tokens, scores_choices=True, streams=False)
        self._answer = answer

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        """Answers in order, one at a time."""
        for request in requests:
            outcome = _as_outcome(request, self._answer(request))
            if on_text is not None and isinstance(outcome, Completion):
                on_text(request.key, outcome.text)
            yield outcome

    def count_tokens(self, text: str) -> int:
        """Counts words, since a script has no tokenizer."""
        return len(text.split())

    def close(self) -> None:
        """Does nothing, as there is nothing to free."""


def _as_outcome(request: Request, answer: str | tuple[float, ...] | Outcome) -> Outcome:
    if isinstance(answer, Completion | Failure):
        return answer
    prompt_tokens = sum(len(message.content.split()) for message in request.messages)
    if isinstance(answer, str):
        return Completion(
            key=request.key,
            text=answer,
            finish="stop",
            prompt_tokens=prompt_tokens,
            completion_tokens=len(answer.split()),
        )
    choices = request.choices or ()
    if len(answer) != len(choices):
        raise ConfigError(f"{len(answer)} log-probabilities for {len(choices)} choices")
    return Completion(
        key=request.key,
        text=max(zip(answer, choices, strict=True))[1],
        finish="stop",
        prompt_tokens=prompt_tokens,
        completion_tokens=0,
        choice_logprobs=answer,
    )


class _Replay:
    """A recorded run, searched by the request and not by the judge."""

    def __init__(self, folder: Path) -> None:
        ledger = {
            record.key: record for record in read_records(folder / "ledger.jsonl", Completion)
        }
        self._recorded = {
            (asked.case_id, asked.protocol, asked.shown, asked.sample, asked.scored): ledger[
                asked.key
            ]
            for name in ("plan.jsonl", "follow.jsonl")
            for asked in read_records(folder / name, Asked)
            if asked.key in ledger
        }
        if not self._recorded:
            raise ConfigError(f"{folder} has no recorded answers to replay")

    def __call__(self, request: Request) -> Outcome:
        asked = (request.case_id, request.protocol, request.shown, request.sample)
        recorded = self._recorded.get((*asked, request.choices is not None))
        if recorded is None:
            return Failure(
                key=request.key,
                error="NotRecorded",
                message=f"the recorded run has no answer to {asked}",
                retryable=False,
                attempts=1,
            )
        return replace(recorded, key=request.key)


def load(card: JudgeCard, answer: Answer | None = None) -> ScriptedBackend:
    """Loads a scripted judge.

    Args:
        card: its card; the model is the folder of a recorded run where no function is given.
        answer: the function that answers each request.

    Raises:
        ConfigError: there is neither a function nor a recorded run.
    """
    if answer is not None:
        return ScriptedBackend(card, answer)
    folder = Path(card.model)
    if not (folder / "ledger.jsonl").is_file():
        raise ConfigError(
            f"the scripted judge {card.name!r} needs a function or a recorded run, "
            f"and {str(folder)!r} is not a run folder"
        )
    return ScriptedBackend(card, _Replay(folder))
