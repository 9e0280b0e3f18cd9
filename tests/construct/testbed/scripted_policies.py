"""Policies that answer from a script, and the files of a small testbed of two scenarios."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from autoj.backends.base import Limits
from autoj.backends.scripted import ScriptedBackend
from autoj.construct.testbed import annotating, folder, settings
from autoj.construct.testbed import policies as asked_models
from autoj.jsonl import write_records
from autoj.records import Completion, Failure, JudgeCard, Request

from ...scripted import Killed

SCENARIOS = ("planning", "writing_email")
SETTINGS = settings.BuildSettings(
    scenarios=SCENARIOS, per_scenario=6, n_samples=3, max_tokens=20, seed=5
)
CARDS = tuple(
    JudgeCard(
        name=name,
        title=name,
        backend="scripted",
        model=name,
        wrapper="none",
        usd_per_million_prompt_tokens=1.0,
        usd_per_million_completion_tokens=2.0,
    )
    for name in ("ant", "bee", "cow")
)


class ScriptedPolicy(ScriptedBackend):
    """Answers by the query; may die, fail by a word in it, and be counted."""

    asked: ClassVar[Counter[str]] = Counter()
    loaded: ClassVar[Counter[str]] = Counter()
    dies_after: ClassVar[int | None] = None
    scores: ClassVar[bool] = True

    def __init__(self, card: JudgeCard) -> None:
        super().__init__(card, self._reply)
        ScriptedPolicy.loaded[card.name] += 1
        self.limits = Limits(
            context_tokens=60, scores_choices=True, streams=False, scores_texts=type(self).scores
        )

    def _reply(self, request: Request) -> str | tuple[float, ...] | Completion | Failure:
        cls = type(self)
        if cls.dies_after is not None and cls.asked.total() >= cls.dies_after:
            raise Killed
        cls.asked[request.key] += 1
        if request.choices is not None:
            return (-float(len(request.choices[0])), 0.0)
        query = request.messages[0].content
        text = f"{self.card.name}: {hashlib.sha256(request.key.encode()).hexdigest()[:8]}"
        written = Completion(
            key=request.key, text=text, finish="stop", prompt_tokens=8, completion_tokens=2
        )
        for word, outcome in _faults(written, query).items():
            if word in query:
                return outcome
        return written


def _faults(written: Completion, query: str) -> dict[str, Completion | Failure]:
    """What a policy does with a query, by a word in it."""
    failure = Failure(
        key=written.key, error="BadRequest", message="no", retryable=False, attempts=1
    )
    return {
        "FAIL": failure,
        "EMPTY": replace(written, text=" "),
        "CUT": replace(written, finish="length"),
        "FILTER": replace(written, finish="filtered"),
        "SAME": replace(written, text="the same"),
    }


@pytest.fixture
def policies(monkeypatch: pytest.MonkeyPatch) -> type[ScriptedPolicy]:
    """Lets a script answer for each policy."""
    ScriptedPolicy.asked, ScriptedPolicy.loaded = Counter(), Counter()
    ScriptedPolicy.dies_after, ScriptedPolicy.scores = None, True
    monkeypatch.setattr(asked_models, "load_engine", lambda card, watch: ScriptedPolicy(card))
    return ScriptedPolicy


@pytest.fixture
def sources(policies: type[ScriptedPolicy], tmp_path: Path) -> settings.BuildSources:
    """Labelled pairs of both scenarios, too few of the second; an unlabelled pair; queries."""
    pairs = [pair_row(number, "planning") for number in range(9)]
    pairs += [pair_row(number, "writing_email") for number in range(9, 11)]
    pairs += [{**pair_row(11, "writing_email"), "label": None}]
    pairs += [{**pair_row(12, "chitchat")}, {**pairs[3], "id": "again"}, {"id": "bad", "query": 1}]
    write_records(tmp_path / "pairs.jsonl", pairs)
    queries = [
        {"id": f"{number}", "query": f"Write an email number {number}", "scenario": SCENARIOS[1]}
        for number in range(5)
    ]
    write_records(tmp_path / "asked.jsonl", queries)
    return settings.BuildSources(
        pairs=(tmp_path / "pairs.jsonl",),
        queries=(tmp_path / "asked.jsonl",),
        policies=CARDS,
        base_models=CARDS[:1],
    )


def pair_row(number: int, scenario: str) -> dict[str, object]:
    """A labelled pair whose texts follow from its number."""
    return {
        "id": f"{number}",
        "query": f"Request number {number} about {scenario}?",
        "responses": [f"First to {number}.", f"Second to {number}."],
        "label": ("a", "b", "tie")[number % 3],
        "scenario": scenario,
    }


def annotate(
    testbed: folder.Testbed,
    name: str,
    choose: Callable[[annotating.Page], annotating.Choice],
    most: int | None = None,
) -> None:
    """Lets a scripted annotator answer open pairs, at most so many."""
    annotation = annotating.Annotation(testbed, name)
    with annotation.opened():
        for _ in range(annotation.n_pages if most is None else most):
            if (page := annotation.page()) is None:
                return
            annotation.answer(choose(page))


def first_model(page: annotating.Page) -> annotating.Choice:
    """Prefers the response that is first in the alphabet, wherever it stands."""
    return "1" if page.responses[0] < page.responses[1] else "2"
