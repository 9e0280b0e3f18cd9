"""The export to Inspect's `precomputed_scores`: a record for each score, none for a failure."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.reports.exports import export_run
from autoj.runs import judge_run, make_spec, open_run

from ..rewards.test_trl import by_length
from ..scripted import CARD, Recorder

ANSWERS = {"one": "good good", "two": "broken", "three": "odd", "four": "fair"}


def rated_run(folder: Path, answers: dict[str, Any] = ANSWERS) -> Path:
    """A run that rated the answers, whose cases have the names of Inspect's samples."""
    spec = make_spec("rate", CARD, protocol="single")
    rows = folder.with_suffix(".jsonl")
    write_records(
        rows, [its if isinstance(its, dict) else row(name, its) for name, its in answers.items()]
    )
    with open_run(folder, spec, open_cases(rows)) as run:
        judge_run(run, spec, Recorder(by_length))
    return folder


def row(name: str, *texts: str, **meta: Any) -> dict[str, Any]:
    return {"id": name, "query": f"Say {name}.", "responses": list(texts), "meta": meta}


def test_an_export_has_a_record_for_each_score_and_none_for_a_failure(tmp_path):
    out = tmp_path / "scores.jsonl"
    found = export_run(rated_run(tmp_path / "run"), "inspect", out)
    records = {row["id"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert {name: row["value"] for name, row in records.items()} == {"one": 3.0, "four": 1.0}
    assert records["one"]["answer"] == "good good"
    assert records["one"]["metadata"] == {"judge": CARD.name, "protocol": "single"}
    assert found.notes == {"samples have no score (failed, unreadable or undecided): left out": 2}
    with pytest.raises(ConfigError, match=r"only from a file with the extension \.jsonl"):
        export_run(tmp_path / "run", "inspect", tmp_path / "scores.json")


def test_an_export_tells_epochs_apart_and_refuses_two_scores_of_a_sample(tmp_path):
    rows = {
        "a": row("a", "good", sample_id=7, epoch=1),
        "b": row("b", "fair", sample_id=7, epoch=2),
    }
    out = tmp_path / "scores.jsonl"
    export_run(rated_run(tmp_path / "run", rows), "inspect", out)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["id"], row["epoch"], row["value"]) for row in records] == [
        ("7", 1, 2.0),
        ("7", 2, 1.0),
    ]
    twice = {"a": row("a", "good", sample_id=7), "b": row("b", "fair", sample_id=7)}
    with pytest.raises(DataError, match="two cases are of sample '7'"):
        export_run(rated_run(tmp_path / "twice", twice), "inspect", tmp_path / "other.jsonl")
    assert not (tmp_path / "other.jsonl").exists()


def test_a_pair_is_the_share_that_the_second_response_wins(tmp_path):
    spec = make_spec("judge", CARD, protocol="pairwise-verdict")
    write_records(tmp_path / "pairs.jsonl", [row("pair", "x", "y")])
    with open_run(tmp_path / "run", spec, open_cases(tmp_path / "pairs.jsonl")) as run:
        judge_run(run, spec, Recorder(lambda request: second_is_better(request.shown)))
    export_run(tmp_path / "run", "inspect", tmp_path / "scores.jsonl")
    (record,) = map(json.loads, (tmp_path / "scores.jsonl").read_text().splitlines())
    assert record["value"] == pytest.approx(0.7 + 0.1 / 2)
    assert record["answer"] == "y"


def second_is_better(shown: tuple[int, ...]) -> tuple[float, ...]:
    first, second = (0.2, 0.7) if shown == (0, 1) else (0.7, 0.2)
    return math.log(first), math.log(second), math.log(0.1)
