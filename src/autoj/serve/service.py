"""The judges of a service, and the one way from a request to its answers."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from autoj.api.cases import checked
from autoj.backends import load_backend
from autoj.backends.base import Backend
from autoj.errors import UnknownComponent
from autoj.judges import ALIASES, load_card
from autoj.records import JudgeCard, Verdict
from autoj.runs import make_spec
from autoj.serve.engine import Engine
from autoj.serve.metrics import Metrics
from autoj.serve.problems import Problem
from autoj.serve.questions import Classifying, Judging, OnPart, Question, Selecting
from autoj.serve.recorded import Recorded
from autoj.serve.settings import ServiceSettings
from autoj.tasks.classify import ClassifiedQuery, make_classify_spec
from autoj.tasks.selection_folder import make_select_spec

_VERDICT_FIELDS = tuple(field.name for field in fields(Verdict))
Loader = Callable[[JudgeCard], Backend]


class Service:
    """Judges by name, each with its engine.

    Args:
        judges: names, paths of cards, or `backend:model`; the first answers where none is named.
        settings: limits.
        load: loads the backend of a card.

    Raises:
        UnknownComponent: there is no such judge.
    """

    def __init__(
        self,
        judges: Sequence[str | JudgeCard],
        settings: ServiceSettings,
        load: Loader = load_backend,
    ) -> None:
        self.settings = settings
        self.engines: dict[str, Engine] = {}
        for judge in judges:
            card = load_card(judge) if isinstance(judge, str) else judge
            loader = _loader(card, load, settings.out)
            self.engines[card.name] = Engine(
                card.name, card, loader, capacity=settings.most_waiting
            )
        self.metrics = Metrics(self.engines)
        self._question = lru_cache(maxsize=512)(_make_question)

    def start(self) -> None:
        """Starts loading all judges."""
        for engine in self.engines.values():
            engine.start()

    def close(self) -> None:
        """Judges what waits and frees all judges."""
        for engine in self.engines.values():
            engine.close()

    def engine(self, judge: str | None) -> Engine:
        """The engine of a judge by its name; None is the first.

        Raises:
            Problem: the service has no such judge.
        """
        if judge is None:
            return next(iter(self.engines.values()))
        judge = judge if judge in self.engines else ALIASES.get(judge, judge)
        if judge not in self.engines:
            unknown = UnknownComponent("judge", judge, self.engines)
            raise Problem(status=404, detail=str(unknown), field="judge")
        return self.engines[judge]

    def question(self, task: str, engine: Engine, settings: Mapping[str, Any]) -> Question:
        """The question of a task by a judge; equal settings give the same question.

        Args:
            task: "judge", "rate", "ratings", "pairs" or "classify".
            engine: the judge.
            settings: of `make_spec`.

        Raises:
            UserError: the settings do not fit the judge.
        """
        return self._question(task, _Named(engine.card), tuple(sorted(settings.items())))

    async def ask(
        self,
        client: str,
        engine: Engine,
        question: Question,
        subjects: Sequence[Any],
        *,
        deadline_seconds: float | None = None,
        on_part: OnPart | None = None,
    ) -> list[Any]:
        """Asks a question about some subjects, and waits for all answers.

        A caller that is cancelled, or whose deadline passes, takes its subjects out of the queue.

        Args:
            client: who asks.
            engine: the judge.
            question: the question.
            subjects: cases or prompts.
            deadline_seconds: the most time that it may take; None is the service's.
            on_part: receives text while it is generated, in another thread.

        Raises:
            ConfigError: a case has a reference answer that the judge's protocol does not show.
            TimeoutError: the deadline passed.
            QueueFull: the judge has too much to do.
            BackendError: the engine broke down.
        """
        if isinstance(question, Judging | Selecting):
            for case in subjects:
                checked(case, question.spec)
        waiting = engine.submit(client, question, subjects, on_part)
        answers = [asyncio.wrap_future(its) for its in waiting]
        limit = deadline_seconds or self.settings.deadline_seconds
        try:
            async with asyncio.timeout(limit):
                found = await asyncio.gather(*answers)
        except BaseException:
            for answer in answers:
                answer.cancel()
            # Each exception is looked at, or it would be reported as forgotten.
            await asyncio.gather(*answers, return_exceptions=True)
            raise
        self.metrics.count(engine.name, map(state_of, found))
        return list(found)


def _loader(card: JudgeCard, load: Loader, out: Path | None) -> Callable[[], Backend]:
    """Loads a card's backend; with a folder, one that records what it is asked."""
    if out is None:
        return partial(load, card)
    folder = out / re.sub(r"[^A-Za-z0-9_-]+", "-", card.name)
    return partial(Recorded, partial(load, card), folder)


class _Named:
    """A card that is equal to itself alone: cards hold dictionaries, which have no hash."""

    def __init__(self, card: JudgeCard) -> None:
        self.card = card

    def __hash__(self) -> int:
        return id(self.card)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Named) and other.card is self.card


def _make_question(task: str, judge: _Named, settings: tuple[tuple[str, Any], ...]) -> Question:
    card, stated = judge.card, dict(settings)
    match task:
        case "judge" | "rate":
            return Judging(make_spec(task, card, **stated))
        case "ratings" | "pairs":
            return Selecting(make_select_spec(card, task, **stated))
        case "classify":
            return Classifying(make_classify_spec(card, **stated))
    raise AssertionError(f"no task is called {task!r}")


def state_of(answer: object) -> str:
    """The outcome of an answer: "judged", "unreadable" or "failed".

    A verdict of which some part is known is judged; its counts tell what is missing.
    """
    match answer:
        case Verdict(n_failed=n_failed) if n_failed and not is_known(answer):
            return "failed"
        case Verdict(n_unreadable=n_unreadable) if n_unreadable and not is_known(answer):
            return "unreadable"
        case ClassifiedQuery(state=state) if state != "named":
            return "unreadable" if state == "unreadable" else "failed"
        case Verdict() | ClassifiedQuery():
            return "judged"
    return "written"


def is_known(verdict: Verdict) -> bool:
    """True where a verdict has a winner, all its ratings or a selected response."""
    # Of a pair that is compared by ratings, one alone decides nothing.
    rated = verdict.rule != "incomplete" and any(its is not None for its in verdict.ratings)
    return verdict.winner is not None or verdict.selected is not None or rated


def record_of(answer: Verdict | ClassifiedQuery) -> dict[str, Any]:
    """An answer as a row of the command's file, with `state`, its outcome."""
    if isinstance(answer, Verdict):
        row = {name: getattr(answer, name) for name in _VERDICT_FIELDS}
        return {**row, "state": state_of(answer)}
    return {field.name: getattr(answer, field.name) for field in fields(answer)}


def unscored(verdict: Verdict) -> str:
    """The reason for which a verdict has no rating, for an error."""
    if verdict.n_failed:
        return f"{verdict.n_failed} of the judge's requests failed"
    return "the judge's answer could not be read"
