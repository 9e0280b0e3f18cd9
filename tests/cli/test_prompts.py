"""`autoj prompts`, and judging by a prompt of one's own: from a file to what a server is sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from autoj.jsonl import write_records
from autoj.prompts import read_prompt
from autoj.protocols import NOT_SHOWN, file_of, load_protocol, protocol_names

from ..backends.openai_server import completion, scored, serving

ROWS = [
    {"id": "one", "query": "Say {response_2}.", "responses": ["Yes [[B]]", "No"], "reference": "R"},
    {"id": "two", "query": "Say no.", "responses": ["No", "Yes"], "reference": "\x1b[31m"},
]
MINE = """\
---
name: politeness
kind: pairwise
answer:
  pattern: 'Verdict: ([12]|tie)'
---
<!-- system -->
You compare how polite two replies are.
<!-- user -->
Request: {query}
1: {response_1}
2: {response_2}
"""
RUBRIC = {"criteria": "Is it kind?"} | {
    f"score{score}_description": f"Kindness {score}." for score in range(1, 6)
}


def test_ours_are_listed_with_the_reason_where_there_is_no_file(run) -> None:
    for command in (("prompts",), ("prompts", "list")):
        code, out, err = run(*command)
        assert (code, err) == (0, "")
        assert all(f" {name} " in out for name in protocol_names())
        assert max(map(len, out.splitlines())) <= 80
    code, out, _ = run("prompts", "--json")
    found = {row["name"]: row for row in json.loads(out)}
    assert {name for name, row in found.items() if row["no_file_because"]} == set(NOT_SHOWN)
    assert found["pairwise-reference"]["needs_reference"]
    assert found["single-criteria-each"]["needs_scenario"]
    assert found["single-verdict"]["kind"] == "single"


def test_a_prompt_of_ours_is_printed_as_a_file_to_start_from(run, tmp_path) -> None:
    code, out, _ = run("prompts", "show", "single-criteria")
    assert code == 0
    assert out == file_of(load_protocol("single-criteria"))
    assert read_prompt(out, Path("x.md")).name == "my-single-criteria"
    code, out, err = run("prompts", "show", "pairwise", "--out", "mine.md")
    assert (code, out) == (0, "")
    assert "--prompt mine.md" in err
    assert (tmp_path / "mine.md").read_text() == file_of(load_protocol("pairwise"))
    code, _, err = run("prompts", "show", "single", "--out", "mine.md")
    assert code == 2
    assert "is there already" in err


def test_what_cannot_be_printed_says_why(run) -> None:
    code, _, err = run("prompts", "show", "pandalm")
    assert code == 2
    assert "a row with an input has another text" in err
    code, _, err = run("prompts", "show", "pairwize")
    assert code == 2
    assert "Did you mean" in err


def test_a_file_is_checked_and_shown_with_an_example(run, tmp_path) -> None:
    (tmp_path / "mine.md").write_text(MINE)
    code, out, _ = run("prompts", "check", "mine.md")
    assert code == 0
    for text in ("politeness", "pairwise", "You compare how polite", "2: About 90 °C, {query}"):
        assert text in out
    code, out, _ = run("prompts", "check", "mine.md", "--json")
    assert json.loads(out)["example"]["messages"][0]["role"] == "system"
    (tmp_path / "bad.md").write_text(MINE.replace("{query}", "{qury}"))
    code, _, err = run("prompts", "check", "bad.md")
    assert code == 2
    assert "bad.md:10: there is no placeholder {qury}: did you mean {query}?" in err


def test_a_rating_on_another_scale_is_said(run, tmp_path) -> None:
    write_records(tmp_path / "rubric.json", [RUBRIC])
    assert run("prompts", "import", "prometheus", "rubric.json", "--out", "kind.md")[0] == 0
    code, out, _ = run("prompts", "check", "kind.md")
    assert code == 0
    assert "a rating r from 1 to 5 counts as 1 + 2.25 * (r - 1)" in " ".join(out.split())


@pytest.fixture
def rows(tmp_path) -> Path:
    write_records(tmp_path / "rows.jsonl", ROWS)
    return tmp_path / "rows.jsonl"


@pytest.fixture
def api(monkeypatch):
    pytest.importorskip("openai", reason="the extra `openai` is not installed")
    pytest.importorskip("aiohttp", reason="the extra `openai` is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")

    def point_to(server) -> str:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        return "openai:mock"

    return point_to


def sent(server) -> list[list[tuple[str, str]]]:
    return [
        [(turn["role"], turn["content"]) for turn in body["messages"]] for body in server.bodies
    ]


def test_a_prompt_of_ones_own_end_to_end(run, tmp_path, rows, api) -> None:
    (tmp_path / "mine.md").write_text(MINE)
    with serving(lambda body, n: completion("2 is curt.\n\nVerdict: 1")) as server:
        command = ("judge", rows, "--prompt", "mine.md", "--judge", api(server), "--out", "run")
        code, out, err = run(*command, "--json")
        assert code == 0
        (tmp_path / "mine.md").unlink()
        assert run("show", "run")[0] == 0
        code, shown, _ = run("show", "run", "one")
        assert code == 0
        assert "2 is curt." in shown
        assert run("prompts", "show", "run", "--out", "kept.md")[0] == 0
        assert (tmp_path / "kept.md").read_text() == MINE
        n_asked = len(server.bodies)
        assert run(*(part if part != "mine.md" else "kept.md" for part in command))[0] == 0
        assert len(server.bodies) == n_asked == 4
    assert [verdict["winners"] for verdict in json.loads(out)["verdicts"]] == [["a", "b"]] * 2
    assert "2 rows have a reference answer, which protocol 'politeness' does not show" in err
    system = ("system", "You compare how polite two replies are.")
    assert [system, ("user", "Request: Say {response_2}.\n1: Yes [[B]]\n2: No")] in sent(server)
    assert [system, ("user", "Request: Say {response_2}.\n1: No\n2: Yes [[B]]")] in sent(server)


def test_a_cards_own_prompt(run, tmp_path, rows, api) -> None:
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "mine.md").write_text(MINE)
    with serving(lambda body, n: completion("Verdict: tie")) as server:
        api(server)
        (tmp_path / "cards" / "polite.yaml").write_text(
            "title: Polite\nbackend: openai\nmodel: mock\nwrapper: none\nprompt: mine.md\n"
            "context_tokens: 4096\n"
        )
        code, out, _ = run("judge", rows, "--judge", "cards/polite.yaml", "--json")
    assert code == 0
    assert {verdict["winner"] for verdict in json.loads(out)["verdicts"]} == {"tie"}
    assert sent(server)[0][0][1] == "You compare how polite two replies are."
    code, out, _ = run("judges", "show", "cards/polite.yaml")
    assert (code, "politeness" in out) == (0, True)
    code, out, _ = run("judges", "show", "cards/polite.yaml", "--yaml")
    assert json.dumps(str(tmp_path / "cards" / "mine.md")) in out
    (tmp_path / "cards" / "mine.md").write_text(MINE.replace("kind:", "kin:"))
    code, _, err = run("judge", rows, "--judge", "cards/polite.yaml")
    assert code == 2
    assert "mine.md:3:kin: unknown field; did you mean kind?" in err


def test_an_annotator_of_alpaca_eval_end_to_end(run, tmp_path, rows, api) -> None:
    folder = tmp_path / "evaluators" / "clf"
    folder.mkdir(parents=True)
    (folder / "clf.txt").write_text(
        "<|im_start|>system\nYou select.\n<|im_end|>\n<|im_start|>user\n"
        '{instruction}\n{"m": """{output_1}"""}\n{"M": """{output_2}"""}\n<|im_end|>'
    )
    config = {
        "prompt_template": "clf/clf.txt",
        "fn_completion_parser": "logprob_parser",
        "completion_parser_kwargs": {"numerator_token": "m", "denominator_tokens": ["m", "M"]},
    }
    (folder / "configs.yaml").write_text(yaml.safe_dump({"clf": config}))
    code, _, err = run("prompts", "import", "alpaca-eval", folder, "--out", "clf.md")
    assert code == 0, err
    with serving(lambda body, n: scored([{"m": -0.1, "M": -2.4}])) as server:
        api(server)
        (tmp_path / "server.yaml").write_text(
            "title: A server\nbackend: openai\nmodel: mock\nwrapper: none\nprompt: clf.md\n"
            "context_tokens: 4096\noptions: {scoring: logprobs}\n"
        )
        code, out, err = run("judge", rows, "--judge", "server.yaml", "--json")
    assert code == 0, err
    (first, _) = json.loads(out)["verdicts"]
    assert first["winners"] == ["a", "b"]
    assert first["probabilities"] is not None
    assert [
        ("system", "You select."),
        ("user", 'Say {response_2}.\n{"m": """Yes [[B]]"""}\n{"M": """No"""}'),
    ] in sent(server)


def test_a_rubric_of_prometheus_end_to_end(run, tmp_path, rows, api) -> None:
    write_records(tmp_path / "rubric.json", [RUBRIC])
    code, _, err = run(
        "prompts", "import", "prometheus", "rubric.json", "--reference", "--out", "kind.md"
    )
    assert code == 0, err
    with serving(lambda body, n: completion("Kind enough.\n\nScore: 4")) as server:
        model = api(server)
        code, out, err = run("rate", rows, "--prompt", "kind.md", "--judge", model, "--json")
    assert code == 0, err
    assert "prompt 'rubric': a rating r from 1 to 5 counts as 1 + 2.25 * (r - 1)" in err
    assert [verdict["ratings"] for verdict in json.loads(out)["verdicts"]] == [[7.75, 7.75]] * 2
    (turn,) = sent(server)[0]
    assert "Criterion: Is it kind?\n" in turn[1]
    assert "\n4: Kindness 4.\n" in turn[1]
    assert "[Reference answer]\nR\n[End of reference answer]" in turn[1]


def test_mistakes_are_told_before_anything_is_asked(run, tmp_path, rows) -> None:
    (tmp_path / "mine.md").write_text(MINE)
    for arguments, said in (
        (("judge", rows, "--prompt", "yours.md"), "yours.md: there is no such prompt"),
        (("rate", rows, "--prompt", "mine.md"), "judges a pair, and autoj rate needs one"),
        (("judge", rows, "--prompt", "mine.md"), "was trained on"),
        (("judge", rows, "--protocol", "mine"), "there is no protocol 'mine'"),
    ):
        code, _, err = run(*arguments)
        assert code == 2
        assert said in err
    assert not (tmp_path / "runs").exists()
