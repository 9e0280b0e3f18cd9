"""`autoj train` and `autoj export-model` as a user meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.judges import load_card

from ..training import toy
from ..training.conftest import base, no_drawing  # noqa: F401

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_drawing")]
OBJECTIVE = {"kind": "preference", "protocol": "pairwise-by-rating"}


@pytest.fixture
def files(tmp_path: Path, base: Path) -> tuple[Path, Path]:  # noqa: F811
    content = toy.recipe(base, OBJECTIVE, epochs=1, batch_samples=5, micro_batch_samples=5)
    recipe = toy.write_recipe(tmp_path / "recipe.yaml", content)
    return recipe, toy.write_rows(tmp_path / "pairs.jsonl", toy.pair_rows(10))


def test_a_plan_says_what_it_takes_and_writes_nothing(run, files, tmp_path):
    recipe, data = files
    code, out, _ = run("train", recipe, "--data", data, "--plan")
    assert code == 0
    for told in ("updates", "tokens", "of them trained", "GiB", "tokens/s", "time here"):
        assert told in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.jsonl", "recipe.yaml"]


def test_what_is_trained_judges_at_once_and_can_be_exported(run, files):
    recipe, data = files
    code, out, err = run("train", recipe, "--data", data, "--validation", data, "--out", "mine")
    assert code == 0
    assert out == ""
    assert "10 rows give 10 samples" in err
    assert "2 updates" in err
    assert "autoj judge … --judge mine" in err
    code, out, _ = run("judge", data, "--judge", "mine", "--out", "run")
    assert code == 0
    assert "pair-9" in out
    code, _, err = run("train", recipe, "--data", data, "--validation", data, "--out", "mine")
    assert code == 0
    assert "is finished" in err
    check = ("--validation", data, "--limit", 3)
    code, _, err = run("export-model", "mine", "--format", "merged", "--out", "merged", *check)
    assert code == 0
    assert "merged is in merged" in err
    assert "0 of 3 verdicts moved (0.0% [" in err
    assert load_card("merged").protocols == ("pairwise-by-rating", "single-verdict")
    for arguments, said in (
        (("--format", "gguf-q9"), "gguf-q9"),
        (("--format", "gguf-q8_0"), "--validation"),
        (("--format", "gguf", "--calibration", data), "takes no calibration texts"),
        (("--format", "merged", "--validation", "none.jsonl"), "none.jsonl"),
    ):
        code, _, err = run("export-model", "mine", "--out", "bad", *arguments)
        assert (code, "Traceback" in err) == (2, False)
        assert said in err
        assert not Path("bad").exists()


WRONG = [
    ((), "give --data"),
    (("--data", "pairs.jsonl"), "give --out"),
    (("--data", "none.jsonl", "--out", "x"), "none.jsonl"),
    (("--data", "pairs.jsonl", "--validation", "none.jsonl", "--out", "x"), "none.jsonl"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_what_is_missing_is_told(run, files, arguments, said):
    recipe, _ = files
    code, _, err = run("train", recipe, *arguments)
    assert code == 2
    assert said in err
    assert "Traceback" not in err


def test_a_bad_row_names_its_line_and_can_be_left_out(run, files):
    recipe, data = files
    data.write_text(data.read_text() + '{"query": "Q", "responses": ["a", "b"], "label": "d"}\n')
    code, _, err = run("train", recipe, "--data", data, "--out", "mine")
    assert code == 2
    assert "pairs.jsonl:11" in err
    assert "--skip-bad-rows" in err
    code, _, err = run("train", recipe, "--data", data, "--out", "mine", "--skip-bad-rows")
    assert code == 0
    assert "1 bad rows left out" in err
