"""A teacher that writes seed queries from a script, and recipes; fixtures are registered apart."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import ClassVar

import pytest

from autoj.backends.scripted import ScriptedBackend
from autoj.construct import teacher as teachers
from autoj.construct.classifier_data.recipe import (
    ClassifierDataRecipe,
    read_classifier_data_recipe,
)
from autoj.jsonl import write_records
from autoj.records import Completion, Failure, JudgeCard, Request

from ...scripted import Killed

NAMES = ("planning", "chitchat", "code_generation")
# Enough words of each scenario for a classifier to tell them apart.
_WORDS = {
    "planning": ("Plan a trip of {n} days to Bern", "Lay out a week for {n} guests"),
    "chitchat": ("Hi, how are you today, friend {n}?", "Tell me a joke, number {n}"),
    "code_generation": ("Write a Python function f{n}(x)", "A SQL query for table t{n}"),
}  # fmt: skip

_RECIPE = """
kind: classifier-data
title: Three scenarios of ours
seed: 5
names: [planning, chitchat, code_generation]
seeds: {{teacher: {card}, per_scenario: 12, rounds: 3, examples: 2}}
queries: [{{data: {queries}, name: real}}]
threshold: null
against: [{tested}]
per_scenario: 6
compare: [fast]
"""

_CARD = """
title: A writer
backend: scripted
model: none
wrapper: none
protocols: [single]
context_tokens: 100000
usd_per_million_prompt_tokens: 1.0
usd_per_million_completion_tokens: 2.0
"""


def query_of(name: str, number: int) -> str:
    """A query of a scenario, other ones by other numbers."""
    kinds = _WORDS[name]
    return f"{kinds[number % len(kinds)].format(n=number)} ({'abcdefghij'[number % 10]})"


class Writer(ScriptedBackend):
    """Writes what is asked for, and some that is of no use; may die, or be down."""

    asked: ClassVar[Counter[str]] = Counter()
    dies_after: ClassVar[int | None] = None
    down: ClassVar[bool] = False

    def __init__(self, card: JudgeCard) -> None:
        super().__init__(card, self._reply)

    def _reply(self, request: Request) -> str | Completion | Failure:
        cls = type(self)
        if cls.dies_after is not None and cls.asked.total() >= cls.dies_after:
            raise Killed
        cls.asked[request.key] += 1
        if cls.down:
            return Failure(
                key=request.key, error="Unavailable", message="down", retryable=True, attempts=1
            )
        page = request.messages[-1].content
        name = request.case_id.partition("#")[0]
        wanted = int(re.findall(r"Number of requests to write: (\d+)", page)[0])
        n_there = page.count("</query>") - 1
        return written(name, request.case_id, wanted, n_there)


def written(name: str, case_id: str, wanted: int, n_there: int) -> str:
    """The reply to a request: queries in tags, in the first round with faults."""
    first = 100 * int(case_id.partition("#")[2])
    queries = [query_of(name, first + number) for number in range(wanted)]
    if case_id == "chitchat#1":
        return "I would rather not."
    if case_id.endswith("#1"):
        queries[1] = queries[0].upper()
        queries[2] = "Improve this: [paste your text here]"
        queries += [query_of(name, 999), query_of(name, 998)]
    if case_id == "planning#2":
        queries.append(query_of(name, 997))
    return "Here they are:\n" + "\n".join(f"<query>{query}</query>" for query in queries)


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> None:
    Writer.asked, Writer.dies_after, Writer.down = Counter(), None, False
    monkeypatch.setattr(teachers, "load_engine", lambda card, watch: Writer(card))


@pytest.fixture
def recipe(writer: None, tmp_path: Path) -> ClassifierDataRecipe:
    """A recipe with 60 real queries, some of them repeated, in a test file, or a seed."""
    rows = [
        {"id": f"{number}", "query": query_of(NAMES[number % 3], 500 + number)}
        for number in range(60)
    ]
    rows.append({"id": "again", "query": str(rows[4]["query"]).lower()})
    rows.append({"id": "seed", "query": query_of("planning", 100)})
    rows.append({"id": "long", "query": "x " * 20_000})
    rows.append({"id": "broken", "query": 3})
    write_records(tmp_path / "queries.jsonl", rows)
    write_records(tmp_path / "tested.jsonl", [{**rows[9], "responses": ["a", "b"]}])
    (tmp_path / "writer.yaml").write_text(_CARD)
    text = _RECIPE.format(
        card=tmp_path / "writer.yaml",
        queries=tmp_path / "queries.jsonl",
        tested=tmp_path / "tested.jsonl",
    )
    (tmp_path / "names.yaml").write_text(text)
    return read_classifier_data_recipe(tmp_path / "names.yaml")
