"""`autoj scenarios`: the list, one scenario, and what is wrong with a folder of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autoj.scenarios import groups, render_message, scenario_names, shipped_library

SOUND = """\
description: The user wants a match report.
aliases: [match report]
basic: !include autoj:shared/basic
saves:
  content: "Every save has its minute, [bold]however\\e[31m late[/bold]."
  weight: 5
  type: content
"""
BROKEN = """\
description: The user wants a match report.
goals:
  content: Every goal is there.
  weight: 7
  type: content
saves: !include shared/savs.yaml
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mine = tmp_path / "mine"
    (mine / "shared").mkdir(parents=True)
    (mine / "report.yaml").write_text(SOUND)
    (mine / "shared" / "saves.yaml").write_text(
        "penalties:\n  content: Penalties are told apart.\n  weight: 2\n  type: style\n"
    )
    return mine


def test_all_scenarios_are_listed_by_group_with_their_counts(run) -> None:
    code, out, err = run("scenarios")
    assert (code, err) == (0, "")
    assert [line.strip() for line in out.splitlines() if line.strip() in groups()] == list(groups())
    positions = [out.index(f" {name} ") for name in scenario_names()]
    assert positions == sorted(positions)
    assert "58 scenarios, " in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_list_for_a_machine(run) -> None:
    code, out, _ = run("scenarios", "--json")
    rows = json.loads(out)
    assert code == 0
    assert [row["name"] for row in rows] == list(scenario_names())
    planning = next(row for row in rows if row["name"] == "planning")
    found = shipped_library().find("planning")
    assert planning["n_criteria"] == len(found.criteria) > planning["n_own"] == len(found.own)
    assert planning["group"] == "General Communication"


def test_a_folder_of_ones_own_is_listed_with_ours(run, folder) -> None:
    code, out, _ = run("scenarios", "--scenarios", folder)
    assert code == 0
    assert "your own" in out
    assert "59 scenarios" in out


def test_a_scenario_is_shown_with_the_weight_of_each_criterion(run) -> None:
    code, out, _ = run("scenarios", "show", "Small talk")
    assert code == 0
    for text in ("chitchat", "General Communication", "size of talk: One to four", "basic"):
        assert text in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_message_is_what_a_judge_reads(run) -> None:
    code, out, _ = run("scenarios", "show", "planning", "--message")
    assert code == 0
    assert out == render_message(shipped_library().find("planning")) + "\n"


def test_a_scenario_for_a_machine_has_criteria_and_message(run, folder) -> None:
    code, out, _ = run("scenarios", "show", "match report", "--scenarios", folder, "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["name"], found["n_own"]) == ("report", 1)
    own = next(row for row in found["criteria"] if row["name"] == "saves")
    assert (own["weight"], own["type"], own["line"]) == (5, "content", 4)
    assert own["path"] == str(folder / "report.yaml")
    assert "1. saves: Every save" in found["message"]


@pytest.mark.parametrize("options", [(), ("--message",)])
def test_what_stands_in_a_file_cannot_move_the_cursor(run, folder, options) -> None:
    code, out, _ = run("scenarios", "show", "report", "--scenarios", folder, *options)
    assert code == 0
    assert "\x1b" not in out
    assert "[bold]however" in out


def test_an_unknown_scenario_is_told_the_nearest(run) -> None:
    code, out, err = run("scenarios", "show", "planing")
    assert (code, out) == (2, "")
    assert "there is no scenario 'planing'" in err
    assert "planning" in err


def test_ours_are_sound(run) -> None:
    code, out, _ = run("scenarios", "check")
    assert code == 0
    assert out.startswith("58 scenarios with ")
    assert "no errors" in out


def test_a_sound_folder_of_ones_own(run, folder) -> None:
    code, out, _ = run("scenarios", "check", folder)
    assert (code, out) == (0, "1 scenario with 8 criteria in 3 files, no errors\n")


def test_every_fault_is_told_with_file_and_line_and_ends_with_2(run, folder) -> None:
    (folder / "broken.yaml").write_text(BROKEN)
    (folder / "shared" / "more.yaml").write_text("- no mapping\n")
    code, out, err = run("scenarios", "check", folder)
    assert code == 2
    told = [line for line in out.splitlines() if not line.startswith(" ")]
    assert [line.removeprefix(f"{folder}/").split(": ")[0] for line in told] == [
        "broken.yaml:4:goals.weight", "broken.yaml:6", "shared/more.yaml:1",
    ]  # fmt: skip
    assert "\n  Did you mean shared/saves.yaml" in out
    assert "3 faults" in err
    code, out, _ = run("scenarios", "check", folder, "--json")
    assert code == 2
    assert [fault["line"] for fault in json.loads(out)["faults"]] == [4, 6, 1]


def test_a_folder_with_faults_is_not_judged_by(run, folder) -> None:
    (folder / "broken.yaml").write_text(BROKEN)
    code, out, err = run("scenarios", "--scenarios", folder)
    assert (code, out) == (2, "")
    assert "broken.yaml:4:goals.weight" in err
    assert f"Run autoj scenarios check {folder} to list this and 1 more." in err.replace("\n", "")


def test_a_folder_that_is_not_there(run) -> None:
    code, _, err = run("scenarios", "check", "nowhere")
    assert code == 2
    assert "nowhere: there is no such folder of scenarios" in err
