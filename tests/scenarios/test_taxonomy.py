"""The 58 scenarios in 8 groups, as the released data spells them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.errors import UnknownComponent
from autoj.scenarios import group_of, groups, resolve_scenario, scenario_names


def test_there_are_58_scenarios_in_8_groups() -> None:
    assert len(scenario_names()) == 58
    assert len(set(scenario_names())) == 58
    assert len(groups()) == 8


def test_each_scenario_is_in_the_group_that_lists_it() -> None:
    listed = [(name, group) for group, names in groups().items() for name in names]
    assert [name for name, _ in listed] == list(scenario_names())
    assert all(group_of(name) == group for name, group in listed)


def test_names_and_groups_are_those_of_the_released_data(data_folder: Path) -> None:
    path = data_folder / "autoj" / "scenario_groups.json"
    released = json.loads(path.read_text(encoding="utf-8"))
    assert {group: list(names) for group, names in groups().items()} == released


def test_a_name_is_known_however_its_words_are_joined() -> None:
    for name in scenario_names():
        words = name.split("_")
        for spelling in (name, name.upper(), " ".join(words).title(), "-".join(words)):
            assert resolve_scenario(f" {spelling} ") == name


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("default", "others"),
        ("exam_question_with_math", "solving_exam_question_with_math"),
        ("exam_question_without_math", "solving_exam_question_without_math"),
        ("general_creative_writing", "creative_writing"),
        ("General Functional Writing", "functional_writing"),
        ("value_judgment", "value_judgement"),
        ("small talk", "chitchat"),
        ("role-play", "roleplay"),
        ("text_summarisation", "text_summarization"),
        ("code translation", "code_to_code_translation"),
    ],
)
def test_other_names_are_known(alias: str, name: str) -> None:
    assert resolve_scenario(alias) == name
    assert group_of(alias) == group_of(name)


@pytest.mark.parametrize(
    ("name", "nearest"), [("plannning", "planning"), ("code generator", "code_generation")]
)
def test_an_unknown_scenario_is_told_the_nearest(name: str, nearest: str) -> None:
    for look_up in (resolve_scenario, group_of):
        with pytest.raises(UnknownComponent, match=f"no scenario '{name}'") as told:
            look_up(name)
        assert told.value.hint is not None
        assert nearest in told.value.hint


def test_a_scenario_like_no_other_is_told_the_command_that_lists_all() -> None:
    with pytest.raises(UnknownComponent) as told:
        resolve_scenario("zzz")
    assert f"and {len(scenario_names()) - 5} more; autoj scenarios lists them" in str(told.value)


@pytest.mark.parametrize("name", ["email", "recipe", "summary", "story", "code", "translation"])
def test_a_name_that_may_be_a_users_own_is_not_taken_for_ours(name: str) -> None:
    with pytest.raises(UnknownComponent):
        resolve_scenario(name)


@given(name=st.text())
def test_any_text_is_a_scenario_or_is_refused(name: str) -> None:
    try:
        resolved = resolve_scenario(name)
    except UnknownComponent:
        return
    assert resolved in scenario_names()
