"""A service with a ledger: what was answered is never asked twice, across restarts."""

from __future__ import annotations

from typing import Any

from autoj.jsonl import count_lines

from .conftest import longer_wins

PAIR = {"query": "q", "a": "x", "b": "y y"}


def test_an_answer_is_recorded_and_never_asked_twice(served, tmp_path) -> None:
    asked: list[str] = []

    def answer(request: Any) -> str:
        asked.append(request.key)
        return longer_wins(request)

    rows: list[Any] = []

    async def test(client: Any) -> None:
        for _ in range(2):
            rows.append((await client.post("/v1/compare", json=PAIR)).json())

    served(test, answer=answer, out=tmp_path)
    served(test, answer=answer, out=tmp_path)
    assert rows == [rows[0]] * 4
    assert rows[0]["winner"] == "b"
    assert len(asked) == 2
    assert count_lines(tmp_path / "script" / "ledger.jsonl") == 2


def test_a_prompt_is_recorded_by_its_text_and_settings(served, tmp_path) -> None:
    asked: list[str] = []

    def answer(request: Any) -> str:
        asked.append(request.key)
        return "Yes."

    async def test(client: Any) -> None:
        for tokens in (10, 10, 20):
            body = {"messages": [{"role": "user", "content": "Is it?"}], "max_tokens": tokens}
            said = (await client.post("/v1/chat/completions", json=body)).json()
            assert said["choices"][0]["message"]["content"] == "Yes."

    served(test, answer=answer, out=tmp_path)
    assert len(asked) == 2
