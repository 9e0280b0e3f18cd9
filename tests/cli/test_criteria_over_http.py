"""Criteria through a server: each case is asked by those of the scenario that was named for it."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("aiohttp", reason="the extra `openai` is not installed")

from autoj.jsonl import write_records
from autoj.scenarios import render_message, shipped_library

from ..backends.openai_server import completion, serving
from ..classifiers import WordClassifier

ROWS = [
    {"query": "Plan a trip.", "responses": ["Go.", "Stay."]},
    {"query": "What is the sum?", "responses": ["4", "5"]},
]


@pytest.fixture
def card(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "autoj.runs.scenario_settings.load_classifier", lambda name: WordClassifier()
    )

    def write(base_url: str) -> str:
        path = tmp_path / "server.yaml"
        path.write_text(
            "title: A server\nbackend: openai\nmodel: mock\nwrapper: none\n"
            "protocols: [pairwise-criteria, scenario]\ncontext_tokens: 4096\n"
            f"options: {{base_url: {base_url}}}\n"
        )
        return str(path)

    return write


def test_the_criteria_of_each_named_scenario_are_sent(run, tmp_path, card) -> None:
    rows = tmp_path / "rows.jsonl"
    write_records(rows, ROWS)
    with serving(lambda body, n: completion("So, the final decision is Response 1.")) as server:
        code, out, _ = run("judge", rows, "--judge", card(server.base_url), "--classify", "--json")
    assert code == 0
    assert json.loads(out)["summary"]["naming"]["n_classified"] == 2
    sent = {(body["messages"][0]["role"], body["messages"][0]["content"]) for body in server.bodies}
    find = shipped_library().find
    assert sent == {
        ("system", render_message(find(name))) for name in ("planning", "math_reasoning")
    }
    for body in server.bodies:
        user = body["messages"][1]["content"]
        row = next(row for row in ROWS if str(row["query"]) in user)
        scenario = "planning" if row is ROWS[0] else "math_reasoning"
        assert body["messages"][0]["content"] == render_message(find(scenario))
        assert all(f"]: {response}\n" in user for response in row["responses"])


def test_a_server_names_scenarios(run, tmp_path, card) -> None:
    rows = tmp_path / "rows.jsonl"
    write_records(rows, [{"query": "Plan a trip."}])
    with serving(lambda body, n: completion(" Planning.")) as server:
        code, out, _ = run("classify", rows, "--judge", card(server.base_url), "--json")
    assert code == 0
    assert json.loads(out)["summary"]["scenarios"][0]["scenario"] == "planning"
    (body,) = server.bodies
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert body["messages"][0]["content"].endswith("Query:\nPlan a trip.\nScenario:\n")
