"""Input that a construction drops by name, or refuses before a teacher is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autoj.construct import negatives
from autoj.construct.binding import RECIPE
from autoj.construct.estimate import estimate
from autoj.construct.folder import Construction
from autoj.construct.pipeline import construct
from autoj.construct.recipe import ConstructRecipe, read_construct_recipe
from autoj.errors import ConfigError, DataError, MissingExtra, UnknownComponent
from autoj.jsonl import write_records

from .scripted_teacher import Teacher, pair_row

Make = Callable[..., ConstructRecipe]


@pytest.fixture
def make(recipe: ConstructRecipe, tmp_path: Path) -> Make:
    """Makes a recipe of some rows and stages."""

    def made(rows: list[dict[str, Any]], *stages: str, source: str = "") -> ConstructRecipe:
        write_records(tmp_path / "own.jsonl", rows)
        named = ("collect, shuffle: false", *stages, "mix")
        listed = "\n".join(f"  - {{stage: {stage}}}" for stage in named)
        text = f"title: x\nsources: [{{data: {tmp_path / 'own.jsonl'}{source}}}]\nstages:\n{listed}"
        path = tmp_path / "own.yaml"
        path.write_text(text.replace("TEACHER", str(tmp_path / "teacher.yaml")))
        return read_construct_recipe(path)

    return made


def _rows(n_rows: int = 6) -> list[dict[str, Any]]:
    return [{**pair_row(number), "scenario": "planning"} for number in range(n_rows)]


def _dropped(done: Construction) -> dict[str, dict[str, int]]:
    return {summary.name: summary.dropped for summary in done.summaries}


def test_rows_without_criteria_are_dropped_by_name(make: Make, tmp_path: Path) -> None:
    rows = _rows()
    rows[1]["scenario"], rows[2]["scenario"] = None, "no such thing"
    recipe = make(rows, "judge-pairs, teacher: TEACHER")
    assert estimate(recipe, tmp_path / "dry").teachers[0].n_in == 4
    dropped = _dropped(construct(recipe, tmp_path / "out"))["judge-pairs"]
    assert dropped["no scenario"] == dropped["unknown scenario"] == 1


def test_single_responses_without_criteria_are_dropped_by_name(make: Make, tmp_path: Path) -> None:
    rows = _rows()
    rows[2]["scenario"] = "no such thing"
    done = construct(make(rows, "judge-singles, teacher: TEACHER"), tmp_path / "out")
    assert _dropped(done)["judge-singles"]["unknown scenario"] == 1


def test_other_spellings_of_a_scenario_share_its_quota(make: Make, tmp_path: Path) -> None:
    rows = _rows()
    for row in rows[::2]:
        row["scenario"] = "Planning"
    done = construct(make(rows, "judge-pairs, teacher: TEACHER, quota: 2"), tmp_path / "out")
    assert {case.scenario for case in done.stage("collect").kept()} == {"planning"}
    assert done.summaries[1].n_kept == 2


def test_a_second_row_of_an_id_is_dropped(make: Make, tmp_path: Path) -> None:
    rows = [*_rows(), {**pair_row(1), "query": "Another one?", "scenario": "planning"}]
    recipe = make(rows, "judge-pairs, teacher: TEACHER")
    assert _dropped(construct(recipe, tmp_path / "out"))["collect"] == {"same id": 1}


@pytest.mark.parametrize("judgment", ["no judgment", 3, None])
def test_a_judgment_of_a_source_that_contradicts_its_label_is_left_out(
    make: Make, tmp_path: Path, judgment: object
) -> None:
    rows = [{**row, "meta": {"judgment": judgment, "made": 7}} for row in _rows()]
    done = construct(make(rows), tmp_path / "out")
    assert done.summaries[-1].notes["n_release"] == 0
    assert all("judgment" not in case.meta for case in done.stage("collect").kept())


def test_a_judgment_of_a_source_that_states_its_label_is_kept(make: Make, tmp_path: Path) -> None:
    first = construct(make(_rows(), "judge-pairs, teacher: TEACHER"), tmp_path / "first")
    path = tmp_path / "first" / "02-judge-pairs" / "kept.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    second = construct(make(rows), tmp_path / "second")
    assert second.summaries[-1].notes["n_release"] > 0
    assert second.summaries[-1].notes == first.summaries[-1].notes


def test_judgments_of_unlabelled_rows_break_nothing(make: Make, tmp_path: Path) -> None:
    rows = [{**row, "label": None, "meta": {"judgment": "x"}} for row in _rows()]
    recipe = make(rows)
    stages = (recipe.stages[0].model_copy(update={"unlabelled": "keep"}), *recipe.stages[1:])
    construct(recipe.model_copy(update={"stages": stages}), tmp_path / "out")


def test_a_stage_that_leaves_nothing_ends_the_construction(make: Make, tmp_path: Path) -> None:
    against = f"decontaminate, against: [{tmp_path / 'own.jsonl'}]"
    recipe = make(_rows(), against, "judge-pairs, teacher: TEACHER")
    for _ in range(2):
        with pytest.raises(DataError, match="stage decontaminate left no row"):
            construct(recipe, tmp_path / "out")
    assert not Teacher.asked


def test_an_unknown_held_out_scenario_is_refused(recipe: ConstructRecipe, tmp_path: Path) -> None:
    mix = recipe.stages[-1].model_copy(update={"held_out": ("plannning",)})
    wrong = recipe.model_copy(update={"stages": (*recipe.stages[:-1], mix)})
    with pytest.raises(UnknownComponent, match="Did you mean planning"):
        construct(wrong, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_scenario_of_a_source_is_refused(make: Make, tmp_path: Path) -> None:
    with pytest.raises(UnknownComponent, match="plannning"):
        construct(make(_rows(), source=", scenario: plannning"), tmp_path / "out")


def test_an_unknown_language_is_refused(recipe: ConstructRecipe, tmp_path: Path) -> None:
    pytest.importorskip("py3langid")
    collect = recipe.stages[0].model_copy(update={"languages": ("english",)})
    wrong = recipe.model_copy(update={"stages": (collect, *recipe.stages[1:])})
    with pytest.raises(ConfigError, match="'english' is no language code"):
        construct(wrong, tmp_path / "out")


def test_a_missing_package_is_found_before_the_teacher_is_asked(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Path:
        raise MissingExtra("classifier", "borrowed responses")

    monkeypatch.setattr(negatives, "model_folder", missing)
    with pytest.raises(MissingExtra):
        construct(make(_rows(), "judge-pairs, teacher: TEACHER", "negatives"), tmp_path / "out")
    assert not Teacher.asked


@pytest.mark.parametrize("stage", ["negatives", "judge-singles, teacher: TEACHER"])
def test_a_stage_that_makes_rows_stands_once(make: Make, stage: str) -> None:
    with pytest.raises(DataError, match="can stand only once"):
        make(_rows(), stage, stage)


def test_two_sources_of_one_name_are_refused(make: Make, tmp_path: Path) -> None:
    second = f"}}, {{data: {tmp_path / 'other' / 'own.jsonl'}"
    with pytest.raises(DataError, match="two sources are called 'own'"):
        make(_rows(), source=second)


def test_a_folder_of_something_else_is_refused(recipe: ConstructRecipe, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a construction and not empty"):
        construct(recipe, tmp_path)
    with pytest.raises(DataError, match="cannot be made"):
        construct(recipe, tmp_path / "construct.yaml")


@pytest.mark.parametrize("stages", [None, [], [{}], [{"stage": 5}], [1], 7])
def test_a_damaged_record_is_named(recipe: ConstructRecipe, tmp_path: Path, stages: object) -> None:
    construct(recipe, tmp_path / "out")
    write_records(tmp_path / "out" / RECIPE, [{"recipe": {"stages": stages}}])
    with pytest.raises(DataError, match="is not the record of a construction"):
        Construction.open(tmp_path / "out")


@pytest.mark.parametrize("summary", ["{}", "[", "\x00"])
def test_a_damaged_summary_is_named(recipe: ConstructRecipe, tmp_path: Path, summary: str) -> None:
    construct(recipe, tmp_path / "out")
    (tmp_path / "out" / "01-collect" / "summary.json").write_text(summary)
    with pytest.raises(DataError, match=r"summary\.json: is damaged"):
        Construction.open(tmp_path / "out")
