"""Stages behind a review: made again on the corrected names, and nothing asked twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from autoj.construct.folder import MADE_ON, Construction
from autoj.construct.pipeline import construct
from autoj.construct.recipe import ConstructRecipe, JudgeSingles
from autoj.construct.review.opening import open_review
from autoj.errors import DataError, Unfinished
from autoj.reports.construct import construction_view
from autoj.runs.budget import Budget

from ...scripted import Killed
from ..rendered import text_of
from ..scripted_teacher import Teacher

MADE = ("kept.jsonl", "dropped.jsonl")


def review(out: Path, *words: str) -> None:
    with open_review(out).session() as session:
        for word in words:
            session.answer(word)


def _files(out: Path) -> dict[str, bytes]:
    """The files of the stages as they stand, without those that were set aside."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*.jsonl"))
        if path.name in MADE or path.parent.name == "train"
        if ".before-review" not in str(path)
    }


def _as_reviewed_first(recipe: ConstructRecipe, out: Path, *words: str) -> dict[str, bytes]:
    """The files of a construction that was reviewed before its teacher was asked."""
    construct(recipe, out, until=4)
    review(out, *words)
    construct(recipe, out)
    return _files(out)


def test_a_review_after_the_teacher_ends_like_one_before_it(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    words = ("chitchat", "x", "", "brainstorming")
    wanted = _as_reviewed_first(recipe, tmp_path / "before", *words)
    Teacher.asked = Counter()
    out = tmp_path / "after"
    construct(recipe, out)
    n_first = Teacher.asked.total()
    review(out, *words)
    found = Construction.open(out)
    assert found.stale == ("judge-pairs", "negatives", "mix")
    assert "Made before the last review: judge-pairs, negatives, mix." in text_of(
        construction_view(found)
    )
    done = construct(recipe, out)
    assert done.stale == ()
    assert _files(out) == wanted
    # Renamed rows are judged by other criteria, so that some questions are new; none is repeated.
    assert set(Teacher.asked.values()) == {1}
    judged = next(one for one in done.summaries if one.name == "judge-pairs")
    assert n_first < Teacher.asked.total() == judged.n_requests
    assert judged.usd == pytest.approx((judged.prompt_tokens + 2 * judged.completion_tokens) / 1e6)
    assert construct(recipe, out) == done
    # What had no answers was not kept.
    aside = [path.name for path in out.iterdir() if "before-review" in path.name]
    assert aside == ["05-judge-pairs.before-review-1"]


def test_a_second_review_uses_the_answers_of_all_sessions(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    construct(recipe, out)
    review(out, "chitchat", "x")
    construct(recipe, out)
    review(out, "b", "b", "", "")
    # Both rows are as they were guessed: everything was asked before.
    n_asked = Teacher.asked.total()
    done = construct(recipe, out)
    assert Teacher.asked.total() == n_asked
    assert set(Teacher.asked.values()) == {1}
    construct(recipe, tmp_path / "never")
    assert _files(out) == _files(tmp_path / "never")
    judged = next(one for one in done.summaries if one.name == "judge-pairs")
    assert judged.n_requests == n_asked


def test_a_stage_that_a_cap_stopped_before_the_review_is_begun_again(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    wanted = _as_reviewed_first(recipe, tmp_path / "before", "chitchat")
    Teacher.asked = Counter()
    out = tmp_path / "out"
    with pytest.raises(Unfinished):
        construct(recipe, out, budget=Budget(max_requests=6))
    review(out, "chitchat")
    # What was paid before the review counts against the cap, too.
    with pytest.raises(Unfinished):
        construct(recipe, out, budget=Budget(max_requests=9))
    assert Teacher.asked.total() == 9
    construct(recipe, out)
    assert _files(out) == wanted
    assert set(Teacher.asked.values()) == {1}


def test_killed_while_it_is_made_again_it_goes_on(recipe: ConstructRecipe, tmp_path: Path) -> None:
    words = ("chitchat", "x")
    wanted = _as_reviewed_first(recipe, tmp_path / "before", *words)
    Teacher.asked = Counter()
    construct(recipe, tmp_path / "whole")
    n_first = Teacher.asked.total()
    review(tmp_path / "whole", *words)
    construct(recipe, tmp_path / "whole")
    n_all = Teacher.asked.total()
    for dies_after in range(n_first, n_all):
        out = tmp_path / f"killed-{dies_after}"
        Teacher.asked = Counter()
        construct(recipe, out)
        review(out, *words)
        Teacher.dies_after = dies_after
        with pytest.raises(Killed):
            construct(recipe, out)
        Teacher.dies_after = None
        construct(recipe, out)
        assert _files(out) == wanted
        assert Teacher.asked.total() == n_all
        assert set(Teacher.asked.values()) == {1}


def test_rated_responses_are_made_again_likewise(recipe: ConstructRecipe, tmp_path: Path) -> None:
    teacher = next(stage for stage in recipe.stages if stage.stage == "judge-pairs").teacher  # type: ignore[union-attr]
    singles = JudgeSingles(stage="judge-singles", teacher=teacher, quota=3)
    other = recipe.model_copy(update={"stages": (*recipe.stages[:4], singles)})
    out = tmp_path / "out"
    construct(other, out)
    review(out, "chitchat", "x")
    done = construct(other, out).summaries[-1]
    assert set(Teacher.asked.values()) == {1}
    assert done.n_requests == Teacher.asked.total()


def test_right_answers_make_nothing_stale(recipe: ConstructRecipe, tmp_path: Path) -> None:
    construct(recipe, tmp_path / "out")
    review(tmp_path / "out", "", "", "s")
    assert Construction.open(tmp_path / "out").stale == ()


def test_a_damaged_note_is_named_with_a_way_on(recipe: ConstructRecipe, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _as_reviewed_first(recipe, out, "chitchat")
    note = out / "05-judge-pairs" / MADE_ON
    assert json.loads(note.read_bytes())["corrections"]
    note.write_text("{")
    with pytest.raises(DataError, match="is damaged"):
        construct(recipe, out)
    note.unlink()
    n_asked = Teacher.asked.total()
    construct(recipe, out)
    assert Teacher.asked.total() == n_asked


def test_other_stages_cannot_be_reviewed(recipe: ConstructRecipe, tmp_path: Path) -> None:
    out = tmp_path / "out"
    construct(recipe, out, until=3)
    with pytest.raises(DataError, match="no finished stage 'classify'"):
        open_review(out)
    with pytest.raises(DataError, match="stage collect names no scenarios"):
        open_review(out, "collect")
