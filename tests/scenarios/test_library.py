"""A user's folder of scenarios on top of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.errors import DataError, UnknownComponent
from autoj.scenarios import (
    check_folder,
    load_library,
    render_message,
    resolve_scenario,
    scenario_names,
    shipped_library,
)

from .folders import criterion, write

MATCH = (
    "description: The user wants a match report.\ngroup: Sports\naliases: [report of a match]\n"
    "basic: !include autoj:shared/basic\n" + criterion("saves", weight=5)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(
        tmp_path / "mine",
        {
            "match-report.yaml": MATCH,
            "planning.yaml": "all: !include autoj:planning\nslack and fallback: ~\n"
            + criterion("owner and means", "Every step names its owner."),
            "shared/unused.yaml": criterion("unused"),
            ".hidden/broken.yaml": "- no",
            "notes.txt": "no YAML: at: all",
        },
    )


def test_a_new_scenario_is_found_by_any_spelling_of_its_names(folder: Path) -> None:
    library = load_library(folder)
    found = library.find("match_report")
    for name in ("Match Report", "match-report", " MATCH_REPORT ", "Report of a match"):
        assert library.find(name) is found
    assert (found.group, found.description) == ("Sports", "The user wants a match report.")
    assert [item.name for item in found.own] == ["saves"]
    assert len(found.criteria) == 8
    assert "1. saves: It is saves.\n" in render_message(found)


def test_a_scenario_of_ours_is_changed(folder: Path) -> None:
    ours, changed = shipped_library().find("planning"), load_library(folder).find("planning")
    assert changed.description == ours.description
    assert changed.group == ours.group
    assert len(changed.criteria) == len(ours.criteria) - 1
    assert "slack and fallback" not in {item.name for item in changed.criteria}
    assert "Every step names its owner." in {item.content for item in changed.criteria}


def test_what_the_folder_does_not_have_is_ours(folder: Path) -> None:
    library = load_library(folder)
    assert library.find("default") is shipped_library().find("others")
    assert library.names() == (*scenario_names(), "match_report")
    assert load_library(None) is shipped_library()


def test_a_file_may_be_named_by_another_name_of_ours(tmp_path: Path) -> None:
    write(tmp_path, {"value-judgment.yml": criterion("fair")})
    found = load_library(tmp_path).find("value_judgement")
    assert [item.name for item in found.criteria] == ["fair"]
    assert found.group == "General Communication"


def test_an_unknown_name_is_told_the_nearest_of_both(folder: Path) -> None:
    library = load_library(folder)
    with pytest.raises(UnknownComponent, match=r"no scenario 'match_reprt'(?s:.*)match_report"):
        library.find("match_reprt")
    with pytest.raises(UnknownComponent, match=r"(?s)no scenario 'plannning'.*planning"):
        library.find("plannning")


def test_the_original_releases_tree_is_read(tmp_path: Path) -> None:
    include = 'basic-writing:\n  !include "./resources/criteria/basics/basic.yaml"\n\nextended:\n'
    indented = "".join(f"  {line}\n" for line in criterion("clear").splitlines())
    write(
        tmp_path / "resources" / "criteria",
        {
            "basics/basic.yaml": criterion("short", kind="basic"),
            "specials/planning.yaml": include + indented,
            "specials/default.yaml": include + indented,
        },
    )
    library = load_library(tmp_path / "resources" / "criteria" / "specials")
    for name in ("planning", "others"):
        found = library.find(name)
        assert [item.name for item in found.criteria] == ["short", "clear"]
        assert found.description == shipped_library().find(name).description


def test_a_sound_folder_is_counted(folder: Path) -> None:
    checked = check_folder(folder)
    assert checked.faults == ()
    assert {scenario.name for scenario in checked.scenarios} == {"match_report", "planning"}
    # Two scenarios, what nothing includes, and of ours planning and the basic set.
    assert checked.n_files == 2 + 1 + 2
    assert checked.aliases == {"report_of_a_match": "match_report"}


def faults_of(folder: Path) -> list[tuple[str, int | None, str]]:
    return [(fault.path.name, fault.line, fault.reason) for fault in check_folder(folder).faults]


def test_every_fault_of_a_folder_is_told_by_file_and_line(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.yaml": "description: d\nx: 1\n"
            + criterion("one", weight=7)
            + "y: !include no.yaml\n",
            "b.yaml": "not: [closed\n",
            "shared/c.yaml": criterion("one", kind="stile"),
        },
    )
    assert [(name, line) for name, line, _ in faults_of(tmp_path)] == [
        ("a.yaml", 2), ("a.yaml", 5), ("a.yaml", 7), ("b.yaml", 2), ("c.yaml", 4),
    ]  # fmt: skip


def test_a_new_scenario_needs_a_description(tmp_path: Path) -> None:
    write(tmp_path, {"plannning.yaml": criterion("clear")})
    ((name, line, reason),) = faults_of(tmp_path)
    assert (name, line) == ("plannning.yaml", 1)
    assert "'plannning' is not one of the shipped scenarios, so it needs a description" in reason


def test_a_scenario_needs_criteria(tmp_path: Path) -> None:
    write(tmp_path, {"planning.yaml": "description: The user wants it.\n"})
    assert faults_of(tmp_path) == [("planning.yaml", 1, "the file has no criteria")]


def test_two_files_for_one_scenario_are_a_fault(tmp_path: Path) -> None:
    write(tmp_path, {"default.yaml": criterion("a"), "others.yaml": criterion("b")})
    ((name, line, reason),) = faults_of(tmp_path)
    assert (name, line) == ("others.yaml", 1)
    assert "scenario 'others' is already defined by" in reason
    assert "default.yaml" in reason


@pytest.mark.parametrize("alias", ["planning", "Small Talk", "other own", "shared name"])
def test_a_name_that_another_scenario_has_is_no_alias(tmp_path: Path, alias: str) -> None:
    own = "description: d\naliases:\n  - shared name\n" + criterion("a")
    write(
        tmp_path,
        {
            "own.yaml": f"description: d\naliases:\n  - {alias}\n" + criterion("a"),
            "other_own.yaml": own
            if alias == "shared name"
            else "description: d\n" + criterion("a"),
        },
    )
    ((_, line, reason),) = faults_of(tmp_path)
    assert line == 3
    assert f"{alias!r} already names scenario" in reason


def test_an_alias_of_ones_own_name_is_nothing_new(tmp_path: Path) -> None:
    write(tmp_path, {"planning.yaml": "aliases: [Planning]\n" + criterion("a")})
    assert faults_of(tmp_path) == []


def test_loading_a_folder_with_faults_ends_with_the_first(tmp_path: Path) -> None:
    write(tmp_path, {"planning.yaml": "x: 1\ny: 2\n" + criterion("a")})
    with pytest.raises(DataError, match=r"planning\.yaml:1:x: expected a criterion") as told:
        load_library(tmp_path)
    assert told.value.hint == f"Run autoj scenarios check {tmp_path} to list this and 1 more."


def test_a_folder_that_is_none_or_empty_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"file.yaml": criterion("a"), "empty/notes.txt": ""})
    for folder, words in (
        ("missing", "no such folder"),
        ("file.yaml", "no such folder"),
        ("empty", "has no YAML file"),
    ):
        with pytest.raises(DataError, match=words):
            check_folder(tmp_path / folder)


def test_a_file_that_another_includes_keeps_its_own_criteria(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a_first.yaml": "description: d\nx: !include ./sub/../z_last.yaml\n" + criterion("a"),
            "z_last.yaml": "description: d\n" + criterion("z"),
            "sub/c.yaml": criterion("c"),
        },
    )
    library = load_library(tmp_path)
    assert [item.name for item in library.find("z_last").own] == ["z"]
    assert [item.name for item in library.find("a_first").own] == ["a"]


def test_a_users_name_goes_before_another_name_of_ours(tmp_path: Path) -> None:
    assert resolve_scenario("small talk") == "chitchat"
    write(tmp_path, {"small_talks.yaml": "description: d\n" + criterion("a")})
    assert load_library(tmp_path).find("small talks").name == "small_talks"
