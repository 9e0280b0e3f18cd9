"""The cost of a construction before a teacher is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.construct.estimate import estimate
from autoj.construct.pipeline import construct
from autoj.construct.recipe import ConstructRecipe, JudgeSingles

from .scripted_teacher import Teacher


def test_the_range_holds_what_is_asked_then(recipe: ConstructRecipe, tmp_path: Path) -> None:
    found = estimate(recipe, tmp_path / "out")
    (teacher,) = found.teachers
    assert not Teacher.asked
    least, most = teacher.n_requests
    assert teacher.usd is not None
    done = construct(recipe, tmp_path / "out")
    assert least <= Teacher.asked.total() <= most
    judged = next(one for one in done.summaries if one.name == "judge-pairs")
    assert judged.n_kept <= teacher.n_kept_most
    assert found.not_estimated == ("negatives", "mix")


def test_a_recipe_without_a_teacher_costs_nothing(recipe: ConstructRecipe, tmp_path: Path) -> None:
    free = recipe.model_copy(
        update={"stages": tuple(one for one in recipe.stages if one.stage != "judge-pairs")}
    )
    assert estimate(free, tmp_path / "out").teachers == ()


def test_the_stages_that_were_counted_are_not_run_again(
    recipe: ConstructRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimate(recipe, tmp_path / "out")
    collected = (tmp_path / "out" / "01-collect" / "kept.jsonl").stat().st_mtime_ns
    construct(recipe, tmp_path / "out")
    assert (tmp_path / "out" / "01-collect" / "kept.jsonl").stat().st_mtime_ns == collected


def test_single_responses_are_counted_exactly_where_nothing_is_asked_before(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    singles = JudgeSingles(stage="judge-singles", teacher=recipe.stages[4].teacher, quota=3)  # type: ignore[union-attr]
    stages = (*recipe.stages[:4], singles, *recipe.stages[4:])
    found = estimate(recipe.model_copy(update={"stages": stages}), tmp_path / "out")
    assert not Teacher.asked
    first, second = found.teachers
    assert first.n_requests == (9 * 3, 9 * 3)
    assert (first.stage, second.stage) == ("judge-singles", "judge-pairs")
