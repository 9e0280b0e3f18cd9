"""A recipe with a scripted teacher, whose fixtures are registered where they are needed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import ClassVar

import pytest

from autoj.backends.scripted import ScriptedBackend
from autoj.construct import teacher as teachers
from autoj.construct.recipe import ConstructRecipe, read_construct_recipe
from autoj.jsonl import write_records
from autoj.records import Completion, Failure, JudgeCard, Request

from ..scripted import Killed

N_PAIRS = 60
_SCENARIOS = ("planning", "chitchat", "math_reasoning")

_RECIPE = """
title: pairs of our own
seed: 3
sources:
  - {{data: {pairs}, name: own}}
stages:
  - {{stage: collect, shuffle: false}}
  - {{stage: deduplicate, threshold: null}}
  - {{stage: decontaminate, against: [{tested}], ngrams: 5}}
  - {{stage: classify}}
  - {{stage: judge-pairs, teacher: {card}, quota: 8}}
  - {{stage: negatives, borrowed: 0, both_borrowed: 0, damaged: 0.5}}
  - {{stage: mix, held_out: [chitchat], validation: 0.2}}
"""

_CARD = """
title: A teacher
backend: scripted
model: none
wrapper: none
protocols: [pairwise-criteria]
context_tokens: 100000
usd_per_million_prompt_tokens: 1.0
usd_per_million_completion_tokens: 2.0
"""


def pair_row(number: int) -> dict[str, object]:
    """A labelled pair, whose query and teacher's answer follow from its number."""
    return {
        "id": f"{number}",
        "query": f"Plan number {number}: a trip of {number + 2} days, please, with {number} stops.",
        "responses": [
            f"Day 1 is for arriving. It is {number + 10} km to Bern. It was sunny. {'A' * number}",
            f"Stay at home. There are {number} reasons. {'B' * (number % 7)}",
        ],
        "label": ("a", "b", "tie")[number % 3],
        "scenario": _SCENARIOS[number % len(_SCENARIOS)] if number % 4 else None,
    }


class Teacher(ScriptedBackend):
    """Answers by the digits of the question's number; may die, fail, or be counted."""

    asked: ClassVar[Counter[str]] = Counter()
    dies_after: ClassVar[int | None] = None
    down: ClassVar[bool] = False
    refuses_key: ClassVar[bool] = False

    def __init__(self, card: JudgeCard) -> None:
        super().__init__(card, self._reply)

    def _reply(self, request: Request) -> str | Completion | Failure:
        cls = type(self)
        if cls.dies_after is not None and cls.asked.total() >= cls.dies_after:
            raise Killed
        cls.asked[request.key] += 1
        if cls.down or cls.refuses_key:
            return Failure(
                key=request.key,
                error="Unavailable" if cls.down else "BadRequest",
                message="no answer" if cls.down else "401: wrong key",
                retryable=cls.down,
                attempts=1,
            )
        number = int(request.case_id.rpartition("/")[2].partition("#")[0])
        if request.protocol.startswith("scenario"):
            return _scenario_of(number)
        if request.protocol.startswith("single"):
            return _about_one(request, number)
        says = ("Response 1", "Response 2", "Tie")[number % 3]
        match number % 10:
            case 7:
                return ""
            case 8:
                return "I would rather not say."
            case 9:
                return f"- Depth: it is good.\n\nSo, the final decision is {says}."
            case 5:
                says = "Response 1" if says != "Response 1" else "Tie"
        return (
            f"1. **Depth**: Response 1 plans {number} stops.\n\nSo, the final decision is {says}."
        )


@pytest.fixture
def teacher(monkeypatch: pytest.MonkeyPatch) -> None:
    Teacher.asked, Teacher.dies_after = Counter(), None
    Teacher.down = Teacher.refuses_key = False
    monkeypatch.setattr(teachers, "load_engine", lambda card, watch: Teacher(card))


@pytest.fixture
def recipe(teacher: None, tmp_path: Path) -> ConstructRecipe:
    rows = [pair_row(number) for number in range(N_PAIRS)]
    rows.append({**rows[1], "id": "again"})
    rows.append({**rows[2], "id": "unlabelled", "query": "Another one?", "label": None})
    rows.append({**rows[2], "id": "three", "responses": ["a", "b", "c"], "label": None})
    rows.append({**rows[2], "id": "long", "query": "Long?", "responses": ["x " * 50_000, "y"]})
    rows.append({"id": "broken", "query": 3})
    write_records(tmp_path / "pairs.jsonl", rows)
    write_records(tmp_path / "tested.jsonl", [{**rows[4], "id": "test"}])
    (tmp_path / "teacher.yaml").write_text(_CARD)
    text = _RECIPE.format(
        pairs=tmp_path / "pairs.jsonl",
        tested=tmp_path / "tested.jsonl",
        card=tmp_path / "teacher.yaml",
    )
    (tmp_path / "construct.yaml").write_text(text)
    return read_construct_recipe(tmp_path / "construct.yaml")


def _scenario_of(number: int) -> str:
    """A name of most queries: the classifier's own, another one, or none that can be read."""
    if number % 12 == 8:
        return "It might be a plan, or it might not."
    return "Scenario: Chitchat." if number % 12 == 4 else "planning"


def _about_one(request: Request, number: int) -> str:
    """A critique of one response, and of two critiques the joined one with its rating."""
    by = "criteria" if request.protocol.endswith("criteria") else "itself"
    if request.protocol != "single-merge":
        return "" if number % 11 == 3 else f"The plan of {number} stops is thin, by {by}."
    page = request.messages[0].content
    assert (
        f"by criteria.\n***\n[Critique 2]: The plan of {number} stops is thin, by itself." in page
    )
    match number % 5:
        case 1:
            return "It is thin, and has no rating."
        case 2:
            return "Rating: [[4]]\n\nIt is thin."
    return f"It is thin and vague.\n\nRating: [[{2 + number % 7}]]"
