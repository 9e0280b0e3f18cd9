"""`autoj bench ablation` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autoj.jsonl import write_records

from ..scripted import Recorder


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    rows = [
        {"query": f"Q {n}?", "responses": [f"One {n}.", f"Other {n}."], "label": "ab"[n % 2]}
        for n in range(8)
    ]
    write_records(tmp_path / "pairs.jsonl", rows)
    return tmp_path / "pairs.jsonl"


def test_two_judges_stand_side_by_side_with_published_rows(
    run, monkeypatch, tmp_path: Path, pairs: Path
) -> None:
    monkeypatch.setattr(
        "autoj.tasks.engine.load_backend", lambda card, on_fetch=None: Recorder(card=card)
    )
    judges = ["embedded-small", "embedded-small-base"]
    code, out, err = run("bench", "ablation", *judges, "--data", pairs, "--out", tmp_path / "runs")
    assert code == 0, err
    for words in ("less embedded-small", "published", "55.0", "8.42", "the paper's own sets"):
        assert words in out
    folders = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert folders == judges

    runs = [str(tmp_path / "runs" / name) for name in folders]
    code, out, _ = run("bench", "ablation", *runs, "--data", pairs, "--json")
    told = json.loads(out)
    assert [each["judge"] for each in told["results"]] == judges
    assert told["differences"]["embedded-small-base"][0]["figure"] == "averaged accuracy"


def test_one_judge_is_refused(run, pairs: Path) -> None:
    code, _, err = run("bench", "ablation", "embedded", "--data", pairs)
    assert code == 2
    assert "two judges" in err
