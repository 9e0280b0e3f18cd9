"""A scripted judge and small runs of it; the fixtures are registered in `conftest.py`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from autoj.backends.base import OnText, Outcome
from autoj.backends.scripted import Answer, ScriptedBackend
from autoj.datasets import open_cases
from autoj.datasets.base import Cases
from autoj.jsonl import write_records
from autoj.records import JudgeCard, Request
from autoj.runs import RunSpec, make_spec

CARD = JudgeCard(
    name="script",
    title="A script",
    backend="scripted",
    model="script",
    protocols=("pairwise-verdict", "single-verdict", "pairwise", "single"),
    context_tokens=4096,
)


def by_hash(request: Request) -> str | tuple[float, ...]:
    """An answer that follows from the request alone: some readable, some not, some of each."""
    digest = hashlib.sha256(request.key.encode()).digest()
    if request.choices is not None:
        return tuple(-1.0 - digest[index] / 64 for index in range(len(request.choices)))
    menu = ("Response 1", "Response 2", "Tie", "Response 3")
    return f"- point: it is clear.\n\nSo, the final decision is {menu[digest[0] % 4]}."


class Recorder(ScriptedBackend):
    """A scripted backend that notes what it was asked, and may die."""

    def __init__(
        self, answer: Answer = by_hash, card: JudgeCard = CARD, dies_after: int | None = None
    ) -> None:
        super().__init__(card, answer)
        self.asked: list[Request] = []
        self._dies_after = dies_after

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        for request, outcome in self._pairs(requests):
            if self._dies_after is not None and len(self.asked) >= self._dies_after:
                raise Killed
            self.asked.append(request)
            yield outcome

    def _pairs(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Outcome]]:
        for request in requests:
            yield request, next(super().complete([request]))


class Killed(BaseException):
    """Stands for a killed process: nothing catches it."""


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    """Eight pairs; two share their texts, and one has two equal responses."""
    rows: list[dict[str, object]] = [
        {
            "id": f"case-{number}",
            "query": f"Question {number}?",
            "responses": [f"First answer {number}.", f"Second answer {number}."],
            "label": "ab"[number % 2],
        }
        for number in range(6)
    ]
    rows.append({**rows[0], "id": "copy-of-0"})
    rows.append({"id": "twins", "query": "Same?", "responses": ["Yes.", "Yes."], "label": "tie"})
    path = tmp_path / "pairs.jsonl"
    write_records(path, rows)
    return path


@pytest.fixture
def cases(pairs_file: Path) -> Cases:
    return open_cases(pairs_file)


@pytest.fixture
def pair_spec() -> Callable[..., RunSpec]:
    """Makes a spec for pairs with the scripted card."""

    def make(**settings: object) -> RunSpec:
        return make_spec("judge", CARD, **settings)  # type: ignore[arg-type]

    return make
