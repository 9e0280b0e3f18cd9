"""Prompts, byte for byte: our own golden file, and the release's where the real data lies here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj.chat import render
from autoj.protocols import load_protocol, protocol_names
from autoj.records import Case, Message, Response, Verdict

# test_older_judges.py holds the published prompts of these; test_criteria.py those with criteria,
# test_scenario.py those that name scenarios.
OLDER = ("pandalm", "scalar", "selfee", "steamshp")
GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "prompts.json").read_text(encoding="utf-8")
)
RELEASED = {
    "pairwise_en": "pairwise",
    "pairwise_zh": "pairwise-zh",
    "single_en": "single",
    "single_zh": "single-zh",
    "critique_comparison_en": "critique-comparison",
    "critique_comparison_zh": "critique-comparison-zh",
    "scenario_classifier": "scenario",
}


def _case(source: dict[str, Any], critiques: list[str]) -> Case:
    return Case(
        id="golden",
        query=source["query"],
        cluster="golden",
        reference=source.get("reference"),
        responses=tuple(Response(text=text) for text in source["responses"]),
        critiques=tuple(critiques),
    )


def _name(prompt: dict[str, Any]) -> str:
    return f"{prompt['protocol']}-{prompt['shown']}{'-follow' * prompt['follow']}"


@pytest.mark.parametrize("prompt", GOLDEN["prompts"], ids=_name)
def test_a_prompt_is_what_it_was_byte_for_byte(prompt: dict[str, Any]) -> None:
    protocol = load_protocol(prompt["protocol"])
    case, shown = _case(GOLDEN, GOLDEN["critiques"]), tuple(prompt["shown"])
    if prompt["follow"]:
        verdict = Verdict(case_id="golden", judge="j", winner="b", ratings=(6.4, 2.0))
        body = protocol.follow(case, verdict, shown)
        assert body is not None
    else:
        body = protocol.build(case, shown)
    assert render(body.messages, prompt["wrapper"], body.prefix) == prompt["text"]
    assert body.prefix == prompt["prefix"]
    assert body.choices == (prompt["choices"] and tuple(prompt["choices"]))
    assert list(body.stop) == prompt["stop"]


def test_every_protocol_has_a_golden_prompt() -> None:
    golden = {prompt["protocol"] for prompt in GOLDEN["prompts"]}
    elsewhere = {
        name for name in protocol_names() if "-criteria" in name or name.startswith("scenario")
    }
    assert golden == set(protocol_names()) - set(OLDER) - elsewhere


@pytest.fixture(scope="module")
def released(data_folder: Path) -> dict[str, dict[str, Any]]:
    rows = json.loads((data_folder / "autoj" / "golden_prompts.json").read_text(encoding="utf-8"))
    return {row["name"]: row for row in rows}


@pytest.mark.parametrize("name", RELEASED)
def test_a_prompt_is_the_releases_byte_for_byte(
    released: dict[str, dict[str, Any]], name: str
) -> None:
    row = released[name]
    protocol = load_protocol(RELEASED[name])
    shown = {"response": (0,), "query": ()}.get(protocol.subject, (0, 1))
    body = protocol.build(_case(row, row.get("feedback", [])), shown)
    assert [message.content for message in body.messages] == [row["message"]]
    if row["text"] is not None:
        assert render(body.messages, row["wrapper"]) == row["text"]


def test_the_system_wrapper_is_the_releases_byte_for_byte(
    released: dict[str, dict[str, Any]],
) -> None:
    row = released["llama2_system_wrapper"]
    messages = [
        Message(role="system", content=row["system"]),
        Message(role="user", content=row["message"]),
    ]
    assert render(messages, row["wrapper"]) == row["text"]


def test_no_released_prompt_is_left_out(released: dict[str, dict[str, Any]]) -> None:
    assert set(released) == {*RELEASED, "llama2_system_wrapper"}
