"""Constructions end to end with a scripted teacher, also when they are killed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from autoj import critiques
from autoj.construct.folder import Construction
from autoj.construct.pipeline import construct
from autoj.construct.recipe import ConstructRecipe, read_construct_recipe
from autoj.construct.stages import StageFolder
from autoj.errors import BackendError, DataError, SpecMismatch, Unfinished
from autoj.runs.budget import Budget
from autoj.training.judge.rows import read_rows

from ..scripted import Killed
from .scripted_teacher import N_PAIRS, Teacher


def _files(path: Path) -> dict[str, bytes]:
    """The files that a construction is made for; ledgers of one wave may differ in order."""
    names = ("kept.jsonl", "dropped.jsonl", "summary.json")
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*.json*"))
        if file.name in names or file.parent.name == "train"
    }


def test_every_row_is_kept_or_dropped_by_a_named_reason(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    done = construct(recipe, tmp_path / "out")
    by_name = {summary.name: summary for summary in done.summaries}
    assert by_name["collect"].n_in == N_PAIRS + 5
    assert by_name["collect"].dropped == {
        "no label": 1, "not two responses": 1, "too long": 1, "cannot be read": 1,
    }  # fmt: skip
    assert by_name["deduplicate"].dropped == {"same query": 1}
    assert by_name["decontaminate"].dropped == {"in a test set": 1}
    assert by_name["decontaminate"].notes["contamination"][0]["n_same_text"] == 1
    judged = by_name["judge-pairs"]
    assert judged.n_in == judged.n_kept + sum(judged.dropped.values())
    assert set(judged.dropped) == {
        "quota reached", "empty reply", "no readable verdict", "cannot be reformatted",
        "disagrees with the label",
    }  # fmt: skip
    assert judged.n_requests == Teacher.asked.total()
    assert judged.usd == pytest.approx((judged.prompt_tokens + 2 * judged.completion_tokens) / 1e6)
    assert by_name["negatives"].n_made > 0


def test_no_scenario_gets_more_than_its_quota_and_nothing_is_asked_in_vain(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    stage = construct(recipe, tmp_path / "out").stage("judge-pairs")
    kept = Counter(case.scenario for case in stage.kept())
    assert max(kept.values()) <= 8
    dropped = Counter(item.reason for item in stage.dropped())
    # Every question that was asked is a kept pair or one that was dropped for what was answered.
    assert Teacher.asked.total() == kept.total() + dropped.total() - dropped["quota reached"]
    assert set(Teacher.asked.values()) == {1}


def test_the_training_files_are_those_that_training_reads(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    construct(recipe, tmp_path / "out")
    train = tmp_path / "out" / "train"
    rows = list(read_rows(train / "train.jsonl"))
    judged = [row for row in rows if row.judgment is not None]
    assert judged
    for row in judged:
        assert row.judgment is not None
        parsed = critiques.parse(row.judgment)
        assert parsed is not None
        assert {"1": "a", "2": "b", "tie": "tie"}[parsed.decision] == row.case.label
    assert {row.case.scenario for row in rows}.isdisjoint({"chitchat"})
    assert {row.case.scenario for row in read_rows(train / "held_out.jsonl")} == {"chitchat"}
    queries = {row.case.cluster for row in rows}
    assert queries.isdisjoint(row.case.cluster for row in read_rows(train / "validation.jsonl"))
    released = list(read_rows(train / "release.jsonl"))
    assert len(released) == 2 * len(judged)
    labels = Counter(row.case.label for row in released)
    assert labels["a"] == labels["b"]
    chats = list(map(json.loads, (train / "messages.jsonl").read_text().splitlines()))
    assert [chat["messages"][1]["content"] for chat in chats] == [row.judgment for row in released]


def test_a_construction_killed_anywhere_ends_as_an_uninterrupted_one(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    construct(recipe, tmp_path / "whole")
    wanted, n_asked = _files(tmp_path / "whole"), Teacher.asked.total()
    for dies_after in range(1, n_asked, 5):
        Teacher.asked, Teacher.dies_after = Counter(), dies_after
        out = tmp_path / f"killed-{dies_after}"
        with pytest.raises(Killed):
            construct(recipe, out)
        Teacher.dies_after = None
        construct(recipe, out)
        assert _files(out) == wanted
        assert set(Teacher.asked.values()) == {1}
        assert Teacher.asked.total() == n_asked


@pytest.mark.parametrize("last", range(1, 8))
def test_a_construction_killed_between_stages_goes_on(
    recipe: ConstructRecipe, tmp_path: Path, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    construct(recipe, tmp_path / "whole")
    Teacher.asked = Counter()
    real, n_written = StageFolder.write, 0

    def write(self: StageFolder, *args: object, **settings: object) -> object:
        nonlocal n_written
        n_written += 1
        if n_written == last:
            raise Killed
        return real(self, *args, **settings)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(StageFolder, "write", write)
        with pytest.raises(Killed):
            construct(recipe, tmp_path / "out")
    construct(recipe, tmp_path / "out")
    assert _files(tmp_path / "out") == _files(tmp_path / "whole")
    assert set(Teacher.asked.values()) == {1}


def test_a_finished_construction_asks_nothing(recipe: ConstructRecipe, tmp_path: Path) -> None:
    first = construct(recipe, tmp_path / "out")
    Teacher.asked = Counter()
    assert construct(recipe, tmp_path / "out") == first == Construction.open(tmp_path / "out")
    assert not Teacher.asked


def test_caps_hold_over_sessions(recipe: ConstructRecipe, tmp_path: Path) -> None:
    with pytest.raises(Unfinished, match="--max-requests 5 is reached"):
        construct(recipe, tmp_path / "out", budget=Budget(max_requests=5))
    with pytest.raises(Unfinished):
        construct(recipe, tmp_path / "out", budget=Budget(max_requests=7))
    assert Teacher.asked.total() == 7
    construct(recipe, tmp_path / "out", budget=Budget(max_requests=500))
    construct(recipe, tmp_path / "whole")
    assert _files(tmp_path / "out") == _files(tmp_path / "whole")


@pytest.mark.parametrize("fault", ["down", "refuses_key"])
def test_a_teacher_that_is_down_drops_nothing(
    recipe: ConstructRecipe, tmp_path: Path, fault: str
) -> None:
    setattr(Teacher, fault, True)
    with pytest.raises(BackendError, match="the teacher failed on"):
        construct(recipe, tmp_path / "out")
    setattr(Teacher, fault, False)
    construct(recipe, tmp_path / "out")
    construct(recipe, tmp_path / "whole")
    assert _files(tmp_path / "out") == _files(tmp_path / "whole")


def test_another_recipe_is_refused(recipe: ConstructRecipe, tmp_path: Path) -> None:
    construct(recipe, tmp_path / "out")
    other = recipe.model_copy(update={"seed": 4})
    with pytest.raises(SpecMismatch, match=r"recipe\.seed: was 3, is now 4"):
        construct(other, tmp_path / "out")


def test_changed_data_is_refused(recipe: ConstructRecipe, tmp_path: Path) -> None:
    construct(recipe, tmp_path / "out")
    with (tmp_path / "tested.jsonl").open("a") as stream:
        stream.write('{"query": "x", "responses": ["a", "b"]}\n')
    with pytest.raises(SpecMismatch, match=r"files\."):
        construct(recipe, tmp_path / "out")


def test_a_missing_test_set_is_an_error_before_anything_is_asked(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    (tmp_path / "tested.jsonl").unlink()
    with pytest.raises(DataError, match=r"tested\.jsonl"):
        construct(recipe, tmp_path / "out")
    assert not Teacher.asked
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("stage: mix", "stage: mixx"),
            "does not match any of the expected tags: .collect.",
        ),
        (("quota: 8", "quotas: 8"), r":11:.*quotas: unknown field; did you mean quota"),
        (("quota: 8", "quota: 0"), r":11:.*quota"),
        (
            ("  - {stage: collect, shuffle: false}\n", ""),
            r":[0-9]+:stages\.0: the first stage must be collect",
        ),
        (("title: pairs of our own", ""), "title: Field required"),
        (("seed: 3", "seed: 3\nsed: 4"), r":4:sed: unknown field; did you mean seed"),
    ],
)
def test_a_bad_recipe_names_line_and_field(
    recipe: ConstructRecipe, tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    text = (tmp_path / "construct.yaml").read_text()
    (tmp_path / "bad.yaml").write_text(text.replace(*change))
    with pytest.raises(DataError, match=said):
        read_construct_recipe(tmp_path / "bad.yaml")
