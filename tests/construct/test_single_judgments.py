"""Judgments of single responses: two critiques, joined and rated."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from autoj.construct.pipeline import construct
from autoj.construct.recipe import ConstructRecipe, JudgeSingles
from autoj.construct.single_judgments import without_titles
from autoj.construct.stages import StageFolder
from autoj.protocols import load_protocol
from autoj.records import Case, Rating
from autoj.training.judge.rows import read_rows

from ..scripted import Killed
from .scripted_teacher import Teacher


@pytest.fixture
def singles(recipe: ConstructRecipe) -> ConstructRecipe:
    pairs = recipe.stages[4]
    stage = JudgeSingles(stage="judge-singles", teacher=pairs.teacher, quota=9)  # type: ignore[union-attr]
    stages = (*recipe.stages[:4], stage, recipe.stages[6])
    return recipe.model_copy(update={"stages": stages})


def _rated(stage: StageFolder) -> list[Case]:
    return [case for case in stage.kept() if len(case.responses) == 1]


def test_each_response_is_criticised_twice_and_rated_once(
    singles: ConstructRecipe, tmp_path: Path
) -> None:
    stage = construct(singles, tmp_path / "out").stage("judge-singles")
    rated = _rated(stage)
    summary = stage.summary()
    assert summary is not None
    assert set(summary.dropped) == {
        "empty reply", "no readable verdict", "the rating is not at the end",
    }  # fmt: skip
    n_without = summary.dropped["empty reply"]
    assert summary.n_made == 27
    assert summary.n_requests == 2 * 27 + (27 - n_without)
    for case in rated:
        judgment = case.meta["judgment"]
        reading = load_protocol("single").parse(judgment)
        assert isinstance(reading, Rating)
        assert reading.value == case.label
        assert judgment.startswith("It is thin and vague.")


def test_responses_are_balanced_over_scenarios_and_expected_quality(
    singles: ConstructRecipe, tmp_path: Path
) -> None:
    stage = construct(singles, tmp_path / "out").stage("judge-singles")
    asked = [*_rated(stage), *(item.case for item in stage.dropped() if item.case is not None)]
    assert set(Counter(case.scenario for case in asked).values()) == {9}
    pairs = {case.id: case for case in stage.kept() if len(case.responses) == 2}
    is_better = Counter(
        pairs[case.meta["made_of"]].label == "ab"[int(case.id[-1]) - 1]
        for case in asked
        if pairs[case.meta["made_of"]].label != "tie"
    )
    assert min(is_better.values()) >= 0.3 * is_better.total()


def test_rated_responses_reach_the_training_files(singles: ConstructRecipe, tmp_path: Path) -> None:
    done = construct(singles, tmp_path / "out")
    train = tmp_path / "out" / "train"
    rated = [row for row in read_rows(train / "train.jsonl") if len(row.case.responses) == 1]
    assert rated
    assert all(isinstance(row.case.label, float) for row in rated)
    released = list(read_rows(train / "release.jsonl"))
    assert len(released) == 2 * len(rated)
    assert Counter(row.judgment for row in released) == Counter(
        row.judgment for row in rated for _ in range(2)
    )
    assert done.summaries[-1].notes["n_release"] == len(released)


@pytest.mark.parametrize("dies_after", range(1, 70, 9))
def test_killed_anywhere_it_ends_as_an_uninterrupted_one(
    singles: ConstructRecipe, tmp_path: Path, dies_after: int
) -> None:
    wanted = list(construct(singles, tmp_path / "whole").stage("judge-singles").kept())
    n_asked = Teacher.asked.total()
    Teacher.asked, Teacher.dies_after = Counter(), dies_after
    with pytest.raises(Killed):
        construct(singles, tmp_path / "out")
    Teacher.dies_after = None
    assert list(construct(singles, tmp_path / "out").stage("judge-singles").kept()) == wanted
    assert Teacher.asked.total() == n_asked
    assert set(Teacher.asked.values()) == {1}


@pytest.mark.parametrize(
    ("critique", "wanted"),
    [
        ("Meta-Critique:\n\nIt names no source.", "It names no source."),
        ("**Meta-critique**\nIt names no source.", "It names no source."),
        ("### Final Evaluation:\nIt names no source.", "It names no source."),
        ("It names no source.\n\n### Final Rating", "It names no source."),
        ("It names no source.\n\n**Rating:**", "It names no source."),
        ("### Critique\n\n### Rating", ""),
        # No titles
        ("It names no source.", "It names no source."),
        ("Review of sources: none is named.", "Review of sources: none is named."),
        ("It names no source.\n\nThe rating", "It names no source.\n\nThe rating"),
        ("### Critique 1\n\nShort.\n\n### Critique 2\n\nDull.",
         "### Critique 1\n\nShort.\n\n### Critique 2\n\nDull."),
    ],
)  # fmt: skip
def test_titles_are_taken_off(critique: str, wanted: str) -> None:
    assert without_titles(critique) == wanted
    assert without_titles(wanted) == wanted


def test_a_long_gap_takes_no_time() -> None:
    assert without_titles(f"#{' ' * 50_000}x{chr(10) * 50_000}# Rating{' ' * 50_000}y")
