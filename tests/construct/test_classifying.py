"""Scenarios named by the classifier, by a judge, and by both."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from autoj.construct.estimate import estimate
from autoj.construct.pipeline import construct
from autoj.construct.recipe import Classify, ConstructRecipe, JudgePairs, read_construct_recipe
from autoj.construct.stages import StageFolder
from autoj.errors import BackendError, ConfigError, DataError, Unfinished, UnknownComponent
from autoj.records import Request
from autoj.reports.construct import estimate_view
from autoj.runs.budget import Budget

from ..scripted import Killed
from .rendered import text_of
from .scripted_teacher import Teacher


def _with(recipe: ConstructRecipe, **settings: object) -> ConstructRecipe:
    """The recipe, ending with a stage classify of other settings."""
    judged = next(stage for stage in recipe.stages if isinstance(stage, JudgePairs))
    settings = {"judge": judged.teacher, **settings} if settings.get("by") else settings
    stage = Classify.model_validate({"stage": "classify", **settings})
    return recipe.model_copy(update={"stages": (*recipe.stages[:3], stage)})


def _run(recipe: ConstructRecipe, out: Path) -> StageFolder:
    return construct(recipe, out).stage("classify")


def test_the_classifier_alone_asks_nobody_and_says_who_named(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    stage = _run(_with(recipe), tmp_path / "out")
    assert not Teacher.asked
    guessed = [case for case in stage.kept() if "scenario_by" in case.meta]
    assert {case.meta["scenario_by"] for case in guessed} == {"fast"}
    # Rows that state a scenario keep it, and are not guessed at.
    stated = [case for case in stage.kept() if "scenario_by" not in case.meta]
    assert guessed
    assert {"chitchat", "math_reasoning"} <= {case.scenario for case in stated}


def test_a_judge_is_asked_about_rows_without_a_scenario_alone(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    stage = _run(_with(recipe, by="judge"), tmp_path / "out")
    summary = stage.summary()
    assert summary is not None
    # Every fourth of the 60 has none; one of these is in the test set.
    assert summary.n_requests == Teacher.asked.total() == 14
    assert summary.dropped == {"no readable scenario": 5}
    assert summary.usd is not None
    named = Counter(case.scenario for case in stage.kept() if "scenario_by" in case.meta)
    assert named == {"planning": 5, "chitchat": 4}
    assert all("no scenario of the taxonomy" in (item.detail or "") for item in stage.dropped())
    assert [case.id for case in stage.kept()] == sorted(
        (case.id for case in stage.kept()), key=lambda name: int(name.partition("/")[2])
    )


def test_of_both_only_the_agreed_names_are_kept(recipe: ConstructRecipe, tmp_path: Path) -> None:
    stage = _run(_with(recipe, by="both"), tmp_path / "out")
    kept = [case for case in stage.kept() if "scenario_by" in case.meta]
    assert {case.meta["scenario_by"] for case in kept} == {"fast and teacher"}
    assert {case.scenario for case in kept} == {"planning"}
    dropped = list(stage.dropped())
    reasons = {item.reason for item in dropped}
    assert {"classifier and judge disagree", "no readable scenario"} <= reasons
    unequal = next(item for item in dropped if item.reason == "classifier and judge disagree")
    assert unequal.detail is not None
    assert unequal.detail.startswith("fast: planning (")
    assert unequal.detail.endswith("teacher: chitchat")


def test_a_judge_may_name_scenarios_of_the_users_own(
    recipe: ConstructRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "trip.yaml").write_text(
        "description: The user wants a journey arranged.\ngroup: Travel\n"
        "route: {content: The route can be travelled., weight: 3, type: content}\n"
    )
    menus: list[str] = []

    def reply(self: Teacher, request: Request) -> str:
        menus.append(request.messages[0].content)
        return "Trip."

    monkeypatch.setattr(Teacher, "_reply", reply)
    asking = _with(recipe, by="judge").model_copy(update={"scenarios": str(own)})
    stage = _run(asking, tmp_path / "out")
    named = {case.scenario for case in stage.kept() if "scenario_by" in case.meta}
    assert named == {"trip"}
    assert all("\n\nTravel:\n- trip: The user wants a journey arranged." in menu for menu in menus)
    assert all("- planning: " in menu for menu in menus)


def test_nobody_is_asked_about_a_query_that_the_classifier_is_unsure_of(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    alone = _run(_with(recipe), tmp_path / "alone").kept()
    surest = max(case.meta.get("scenario_probability", 0.0) for case in alone)
    stage = _run(_with(recipe, by="both", least_probability=surest), tmp_path / "out")
    unsure = [item for item in stage.dropped() if item.reason == "unsure scenario"]
    assert 0 < len(unsure) < 14
    assert Teacher.asked.total() == 14 - len(unsure)


def test_killed_anywhere_it_goes_on_and_asks_nothing_twice(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    asking = _with(recipe, by="both")
    wanted = list(_run(asking, tmp_path / "whole").kept())
    n_asked = Teacher.asked.total()
    for dies_after in (1, n_asked // 2, n_asked - 1):
        Teacher.asked, Teacher.dies_after = Counter(), dies_after
        with pytest.raises(Killed):
            construct(asking, tmp_path / f"{dies_after}")
        Teacher.dies_after = None
        assert list(_run(asking, tmp_path / f"{dies_after}").kept()) == wanted
        assert set(Teacher.asked.values()) == {1}


def test_a_cap_stops_it_and_a_judge_that_is_down_drops_nothing(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    asking = _with(recipe, by="judge")
    with pytest.raises(Unfinished, match="--max-requests 3"):
        construct(asking, tmp_path / "out", budget=Budget(max_requests=3))
    Teacher.down = True
    with pytest.raises(BackendError, match="the teacher failed on"):
        construct(asking, tmp_path / "out")
    Teacher.down = False
    assert _run(asking, tmp_path / "out").n_kept() == _run(asking, tmp_path / "whole").n_kept()


def test_a_dry_run_counts_its_requests_exactly(recipe: ConstructRecipe, tmp_path: Path) -> None:
    judged = next(stage for stage in recipe.stages if isinstance(stage, JudgePairs))
    asking = _with(recipe, by="judge")
    asking = asking.model_copy(update={"stages": (*asking.stages, judged)})
    found = estimate(asking, tmp_path / "out")
    assert not Teacher.asked
    names, pairs = found.teachers
    assert (names.stage, names.n_requests) == ("classify", (14, 14))
    assert names.completion_tokens == (14 * 8, 14 * 8)
    assert pairs.stage == "judge-pairs"
    assert found.guesses_scenarios
    done = {one.name: one for one in construct(asking, tmp_path / "out").summaries}
    assert done["classify"].n_requests == 14
    assert pairs.n_requests[0] <= done["judge-pairs"].n_requests <= pairs.n_requests[1]
    assert "guesses stand here" in text_of(estimate_view(found))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("by: judge", "by: judge asks a judge: name it under `judge`"),
        ("judge: gpt-4", "a judge is asked where `by` is judge or both"),
        ("by: judge, judge: gpt-4, least_probability: 0.2", "a judge states no probability"),
        ("by: people", "'classifier', 'judge' or 'both'"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    recipe: ConstructRecipe, tmp_path: Path, settings: str, said: str
) -> None:
    text = (tmp_path / "construct.yaml").read_text()
    bad = text.replace("{stage: classify}", f"{{stage: classify, {settings}}}")
    (tmp_path / "bad.yaml").write_text(bad)
    with pytest.raises(DataError, match=said):
        read_construct_recipe(tmp_path / "bad.yaml")


def test_the_judge_and_its_prompt_are_checked_before_anything_is_read(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    with pytest.raises(UnknownComponent, match="no judge 'nobody'"):
        construct(_with(recipe, by="judge", judge="nobody"), tmp_path / "out")
    with pytest.raises(ConfigError, match="judges a pair"):
        construct(_with(recipe, by="judge", protocol="pairwise"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
