"""`autoj collect` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FILES = Path(__file__).parents[1] / "datasets" / "files"


def test_sources_are_counted_by_label_and_drops_by_reason(run) -> None:
    code, out, err = run(
        "collect", FILES / "chatbot-arena.jsonl", FILES / "shp.jsonl", FILES / "native.jsonl",
        "--out", "pairs.jsonl",
    )  # fmt: skip
    assert code == 0
    assert "chatbot-arena.jsonl as chatbot-arena" in err
    assert "not two responses" in out
    assert "pairs.dropped.jsonl has the dropped ones" in out
    assert len(Path("pairs.jsonl").read_text().splitlines()) == 6


def test_one_language_is_kept_and_json_has_the_summary(run) -> None:
    pytest.importorskip("py3langid")
    code, out, _ = run(
        "collect", FILES / "chatbot-arena.jsonl", "--languages", "en, de", "--limit", 3,
        "--name", "arena", "--out", "pairs.jsonl", "--json",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    assert found["summary"]["dropped"] == {"another language": 1}
    assert found["summary"]["notes"]["sources"][0]["name"] == "arena"
    rows = [json.loads(line) for line in Path("pairs.jsonl").read_text().splitlines()]
    assert {row["source"] for row in rows} == {"arena"}


def test_queries_alone_are_a_file_that_classify_reads(run) -> None:
    code, out, _ = run("collect", FILES / "sharegpt.jsonl", "--queries", "--out", "q.jsonl")
    assert code == 0
    assert "label" not in out
    code, _, err = run("classify", "q.jsonl", "--out", "scenarios.jsonl")
    assert code == 0
    assert "reading q.jsonl as queries" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mt-bench-votes.jsonl"], "serve testing only"),
        (["sharegpt.jsonl"], "--queries"),
        (["none.jsonl"], "there is no such file"),
        (["shp.jsonl", "native.jsonl", "--name", "x"], "the name 'x' is for one source"),
        (["shp.jsonl", "--scenario", "planing"], "Did you mean planning"),
        (["shp.jsonl", "--format", "shpp"], "Did you mean shp"),
        (["shp.jsonl", "--map", "query=asked,a=x,b=y"], "there is no column 'asked'"),
    ],
)
def test_a_mistake_is_a_user_error(run, arguments: list[str], said: str) -> None:
    given = [str(FILES / name) if name.endswith(".jsonl") else name for name in arguments]
    code, _, err = run("collect", *given, "--out", "pairs.jsonl")
    assert code == 2
    assert said in " ".join(err.split())
    assert not Path("pairs.jsonl").exists()


def test_votes_for_a_test_set_are_taken_when_asked_for(run) -> None:
    votes = FILES / "mt-bench-votes.jsonl"
    assert run("collect", votes, "--purpose", "testing", "--out", "pairs.jsonl")[0] == 0
    assert len(Path("pairs.jsonl").read_text().splitlines()) == 2
