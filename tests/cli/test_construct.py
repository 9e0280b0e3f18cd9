"""`autoj construct` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autoj.construct.recipe import ConstructRecipe

from ..construct.scripted_teacher import Teacher, recipe, teacher

__all__ = ["recipe", "teacher"]


@pytest.fixture
def path(recipe: ConstructRecipe, tmp_path: Path) -> Path:
    return tmp_path / "construct.yaml"


def test_all_stages_and_what_they_dropped(run, path: Path) -> None:
    code, out, err = run("construct", path, "--out", "mine")
    assert code == 0
    assert "stage 5 of 7: judge-pairs" in err
    assert "disagrees with the label" in out
    assert "autoj train RECIPE --data mine/train/train.jsonl" in out
    shown = run("construct", "show", "mine")
    assert shown == (0, out, "")


def test_one_stage_lists_its_dropped_rows(run, path: Path) -> None:
    run("construct", path, "--out", "mine")
    code, out, _ = run("construct", "show", "mine", "decontaminate")
    assert code == 0
    assert "own/4" in out
    assert "tested.jsonl" in out.replace("\n", "").replace(" ", "")
    code, _, err = run("construct", "show", "mine", "nothing")
    assert code == 2
    assert "finished: collect, deduplicate" in err


def test_a_dry_run_asks_nobody(run, path: Path) -> None:
    code, out, _ = run("construct", path, "--out", "mine", "--dry-run")
    assert code == 0
    assert not Teacher.asked
    assert "Not estimated, as it depends on the answers: negatives, mix." in out
    code, out, _ = run("construct", path, "--out", "mine", "--dry-run", "--json")
    assert json.loads(out)["teachers"][0]["n_requests"][0] <= 24


def test_a_dry_run_of_the_paper_recipe_needs_none_of_its_data(run) -> None:
    recipe = Path(__file__).parents[2] / "recipes" / "autoj-paper.yaml"
    code, out, _ = run("construct", recipe, "--out", "paper", "--dry-run")
    assert code == 0
    assert "An estimate from declared counts" in out
    assert "the paper (published)" in out
    assert "3,436" in out
    assert "Assumed, not measured on these data:" in out
    assert "hf-dataset:stanfordnlp/SHP:train" in out
    assert not Path("paper").exists()
    code, out, _ = run("construct", recipe, "--out", "paper", "--dry-run", "--json")
    assert code == 0
    assert json.loads(out)["n_singles"] == 960


def test_the_mix_is_shown_as_tables_20_and_21(run, path: Path) -> None:
    run("construct", path, "--out", "mine")
    code, out, _ = run("construct", "show", "mine", "mix")
    assert code == 0
    assert "pairs to train on, each once (Table 20)" in out
    assert "win (the first is better)" in out
    assert "math_reasoning" in out
    code, out, _ = run("construct", "show", "mine", "negatives")
    assert "rules that decide made pairs without judging" in out


def test_a_cap_ends_with_exit_code_1_and_a_way_on(run, path: Path) -> None:
    code, _, err = run("construct", path, "--out", "mine", "--max-requests", 3)
    assert code == 1
    assert "higher --max-requests" in err
    _, out, _ = run("construct", "show", "mine")
    assert "4 of 7 stages are done" in out
    code, out, _ = run("construct", path, "--out", "mine", "--json")
    assert code == 0
    assert [stage["name"] for stage in json.loads(out)["stages"]][-1] == "mix"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["construct", "missing.yaml", "--out", "x"], "there is no such recipe"),
        (["construct", "show", "."], "is not a construction"),
        (["construct", "examples.yaml"], "--out"),
    ],
)
def test_a_mistake_is_a_user_error(run, arguments: list[str], said: str) -> None:
    code, _, err = run(*arguments)
    assert code == 2
    assert said in err
