"""Stand-ins for what tests do not have: models, servers, the public data sets."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autoj.backends.base import Backend
from autoj.backends.scripted import ScriptedBackend
from autoj.protocols import load_protocol
from autoj.records import JudgeCard, Request, Unreadable

from ..backends import openai_server

SERVER_OF_A_READER = "http://127.0.0.1:8000/v1"
"""The address that pages write for a server that the reader has started."""

_SENTENCES = (
    "So, the final decision is Response {number}.",
    "My verdict: [[{letter}]]",
    "Clear, but short.\n\nRating: [[{rating}]]",
    "{number}\nIt is clearer.\n\n### Reference: none",
    "1. {letter}: it says what is missing.\n2. {letter}\n\n{letter}: more specific.",
    "{rating}",
    "planning",
    "{letter}",
)


def written(protocol: str, digest: bytes) -> str:
    """A judgment that a protocol can read, and that follows from the digest."""
    reader = load_protocol(protocol)
    for sentence in _SENTENCES:
        text = sentence.format(
            number=1 + digest[0] % 2, letter="AB"[digest[0] % 2], rating=3 + digest[1] % 6
        )
        if not isinstance(reader.parse(text), Unreadable):
            return text
    raise AssertionError(f"no sentence here is one that {protocol} reads")


def answer(request: Request) -> str | tuple[float, ...]:
    """The scripted judge's answer to a request: readable, and always the same."""
    digest = hashlib.sha256(request.key.encode()).digest()
    if request.choices is not None:
        return tuple(-1.0 - digest[index] / 64 for index in range(len(request.choices)))
    if request.protocol in ("answer", "sample"):
        return f"An answer of {request.judge}, as any other: {digest.hex()}."
    return written(request.protocol, digest)


def _load(card: JudgeCard, **options: Any) -> Backend:
    # A script has no tokenizer, and so no chat template of its own.
    wrapper = "none" if card.wrapper == "template" else card.wrapper
    return ScriptedBackend(replace(card, wrapper=wrapper), answer)


@pytest.fixture
def scripted_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a script answer for each engine that would load a model."""
    for name in ("embedded", "hf", "vllm", "scalar"):
        monkeypatch.setattr(importlib.import_module(f"autoj.backends.{name}"), "load", _load)


def served(body: dict[str, Any], n_before: int = 0) -> openai_server.Answer:
    """The mock server's answer: a verdict, a rating or a scenario, as the prompt asks for."""
    digest = openai_server.digest_of(body)
    prompt = "\n".join(message["content"] for message in body["messages"])
    if body.get("logprobs"):
        places = [{" Response": math.log(0.98)}, {f" {1 + digest[0] % 2}": math.log(0.7)}]
        return openai_server.scored(places)
    if "[[A]]" in prompt:
        return openai_server.by_hash(body)
    if "[[rating]]" in prompt:
        return openai_server.completion(f"It is clear.\n\nRating: [[{3 + digest[1] % 6}]]")
    if "final decision is" in prompt:
        number = 1 + digest[0] % 2
        reason = f"- clarity: Response {number} is clearer."
        decision = f"So, the final decision is Response {number}."
        return openai_server.completion(f"{reason}\n\n{decision}")
    if 'Verdict: 1"' in prompt:
        return openai_server.completion(f"One is kinder.\n\nVerdict: {1 + digest[0] % 2}")
    if '"Score: "' in prompt:
        return openai_server.completion(f"It is kind.\n\nScore: {1 + digest[0] % 5}")
    if "Output (a)" in prompt:
        return openai_server.completion(f"Output ({'ab'[digest[0] % 2]})")
    return openai_server.completion("planning")


@pytest.fixture(scope="session")
def api() -> Iterator[str]:
    """The address of a server that speaks as the provider of an API does."""
    with openai_server.serving(served, keep=False) as server:
        yield server.base_url


def write_data_sets(folder: Path) -> None:
    """Write a few rows of each data set that pages name, where `AUTOJ_DATA` would have it."""
    release = folder / "autoj"
    scenarios = ("planning", "code_generation", "writing_email")
    pairs = [
        {
            "prompt": f"Question {number}?",
            "response 1": f"The first answer to {number}.",
            "response 2": f"Another answer to {number}, and a longer one.",
            "label": number % 3,
            "scenario": scenarios[number % 3],
        }
        for number in range(12)
    ]
    _write(release / "testdata_pairwise.jsonl", pairs)
    rated = [
        {"prompt": f"Question {number}?", "response": f"Answer {number}.", "scenario": scenario}
        for number, scenario in enumerate(scenarios)
    ]
    _write(release / "testdata_critique.jsonl", rated)
    critiques = [{"output": f"Answer {number} is short."} for number in range(len(scenarios))]
    _write(release / "reference_chatgpt_critique.jsonl", critiques)


def write_labelled_pairs(path: Path, n_pairs: int) -> None:
    """Write pairs of responses of several lengths, with all labels."""
    rows = [
        {
            "query": f"{path.stem} {number}?",
            "responses": ["Yes, " * (1 + number % 7), "No, " * (1 + number % 5)],
            "label": ("tie", "a", "b", "a", "b", "a")[number % 6],
        }
        for number in range(n_pairs)
    ]
    _write(path, rows)


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
