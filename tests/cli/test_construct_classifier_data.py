"""`autoj construct classifier-data` as a user meets it, with the review in between."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from autoj.construct.classifier_data.recipe import ClassifierDataRecipe

from ..construct.classifier_data.scripted_writer import NAMES, Writer, query_of, recipe, writer

pytest.importorskip("sklearn", reason="the extra `train` is missing")

__all__ = ["recipe", "writer"]


@pytest.fixture
def path(recipe: ClassifierDataRecipe, tmp_path: Path) -> Path:
    return tmp_path / "names.yaml"


def _fill(sheet: Path, filled: Path) -> None:
    """A person who knows the right names fills a sheet."""
    right = {query_of(name, number): name for name in NAMES for number in range(1_000)}
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row["review"] = right[row["query"]].replace("_", " ")
    with filled.open("w", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def test_seeds_review_and_the_classifier_beside_another(run, path: Path) -> None:
    command = ("construct", "classifier-data", path, "--out", "mine")
    code, out, err = run(*command)
    assert (code, out) == (1, "")
    assert "guessed scenarios are to be checked by a person: autoj construct review mine" in err
    code, out, _ = run("construct", "show", "mine")
    assert "3 of 5 stages are done" in out
    assert run("construct", "review", "mine", "--to-csv", "sheet.csv")[0] == 0
    _fill(Path("sheet.csv"), Path("filled.csv"))
    assert run("construct", "review", "mine", "--from-csv", "filled.csv")[0] == 0
    code, out, err = run(*command)
    assert code == 0
    assert "mine/data/train.jsonl" in out
    assert "autoj classify QUERIES --classifier mine/classifier" in out
    # Both sets, each with the new classifier, the shipped one and their paired difference.
    assert "test.jsonl: " in out
    assert "test_reviewed.jsonl: " in out
    assert "classifier less fast" in out
    assert "%" in out
    n_asked = Writer.asked.total()
    code, out, _ = run(*command, "--json")
    found = json.loads(out)
    assert Writer.asked.total() == n_asked
    assert [stage["name"] for stage in found["stages"]] == [
        "seeds", "queries", "classify", "split", "train",
    ]  # fmt: skip
    assert [one["judge"] for one in found["sets"][0]["results"]] == ["classifier", "fast"]
    assert found["sets"][0]["differences"]
    classified = run("classify", "queries.jsonl", "--classifier", "mine/classifier", "--limit", 9)
    assert classified[0] == 0


def test_a_dry_run_asks_nobody_and_makes_nothing(run, path: Path) -> None:
    command = ("construct", "classifier-data", path, "--out", "mine", "--dry-run")
    code, out, _ = run(*command)
    assert code == 0
    assert "queries kept, at most  36" in out
    assert "6 to 9" in out
    assert "if every query is of use" in out
    assert not Path("mine").exists()
    assert not Writer.asked
    assert json.loads(run(*command, "--json")[1])["teachers"][0]["n_requests"] == [6, 9]
    text = path.read_text()
    asking = text[text.index("seeds:") : text.index("queries:")]
    path.write_text(text.replace(asking, "first: fast\n"))
    assert "this costs nothing" in run(*command)[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing.yaml", "--out", "x"), "there is no such recipe of classifier data"),
        (("pairs.yaml", "--out", "x"), "unknown field"),
        (("names.yaml",), "--out"),
    ],
)
def test_a_mistake_is_a_user_error(run, path: Path, arguments, said) -> None:
    Path("pairs.yaml").write_text("title: x\nsources: []\nstages: []\n")
    code, _, err = run("construct", "classifier-data", *arguments)
    assert code == 2
    assert said in err
