"""`autoj train classifier` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autoj.scenarios.classifier import load_classifier

RECIPE = "kind: classifier\ntitle: toy\nfeatures: {words-1: 1.0}\nn_bits: 10\nfolds: 2\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    recipe, data = tmp_path / "recipe.yaml", tmp_path / "queries.jsonl"
    recipe.write_text(RECIPE, encoding="utf-8")
    rows = [
        {"query": f"{verb} {thing}", "scenario": name}
        for name, verb in (("planning", "Plan"), ("ranking", "Rank"))
        for thing in ("trips", "meals", "books", "towns", "games", "songs")
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return recipe, data


def test_it_says_what_it_trains_on_how_good_it_is_and_where_it_is(run, files):
    pytest.importorskip("sklearn")
    recipe, data = files
    code, out, err = run("train", recipe, "--data", data, "--out", "mine")
    assert code == 0
    for told in ("queries", "12", "accuracy", "macro f1", "top 3"):
        assert told in out
    assert "cross-validation: fold 2 of 2" in err
    assert "--classifier mine" in err
    assert load_classifier("mine").classify(["Rank apples"])[0].scenario == "ranking"


def test_a_plan_of_ours_trains_nothing(run, tmp_path):
    code, out, _ = run("train", "classifier", "--tier", "best", "--plan")
    assert code == 0
    assert "best" in out
    assert "58" in out
    assert not list(tmp_path.iterdir())


def test_it_wants_a_folder_and_data_that_can_be_read(run, files):
    recipe, _ = files
    code, _, err = run("train", recipe)
    assert code == 2
    assert "give --out" in err
    code, _, err = run("train", recipe, "--data", "none.jsonl", "--out", "mine")
    assert code == 2
    assert "none.jsonl" in err
