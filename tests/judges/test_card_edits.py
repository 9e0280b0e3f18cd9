"""A calibration is put into a card, and the rest of the file stays as it was."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.judges.card_edits import find_card, write_calibration, write_sure_threshold
from autoj.records import Calibration, JudgeCard, SureThreshold

JUDGE = JudgeCard(name="mine", title="Mine", backend="scripted", model="script")
FITTED = Calibration(temperature=1.25, tie=0.5, fitted_on="val.jsonl: 9 a, 8 b, 3 ties")
CARD = """\
# What this is: a judge of ours.
title: Mine  # not yours
backend: scripted
model: script
wrapper: none

protocols: [pairwise-verdict, pairwise-by-rating]
context_tokens: 4096
"""
OTHER = Calibration(temperature=2.0, tie=0.0)


def card(tmp_path: Path, text: str = CARD, name: str = "mine.yaml") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def test_a_new_calibration_takes_the_threshold_of_the_former_one_away(tmp_path: Path) -> None:
    path = card(tmp_path)
    threshold = SureThreshold(below=0.6, right=0.9, n=300)
    for protocol in ("pairwise-verdict", "pairwise-by-rating"):
        write_sure_threshold(path, JUDGE, protocol, threshold)
    write_calibration(path, JUDGE, "pairwise-verdict", FITTED)
    assert load_card(str(path)).unsure == {"pairwise-by-rating": threshold}
    write_calibration(path, JUDGE, "pairwise-by-rating", OTHER)
    assert "unsure" not in yaml.safe_load(path.read_text())


def test_a_calibration_is_added_below_a_text_that_stays(tmp_path: Path) -> None:
    path = card(tmp_path)
    before = load_card(str(path))
    write_calibration(path, JUDGE, "pairwise-verdict", FITTED)
    assert path.read_text().startswith(CARD + "calibration:\n")
    assert load_card(str(path)) == replace(before, calibration={"pairwise-verdict": FITTED})
    assert os.listdir(tmp_path) == ["mine.yaml"]


def test_a_second_one_stands_beside_the_first_and_a_third_replaces_its_own(tmp_path: Path) -> None:
    path = card(tmp_path, CARD + "# the end\n")
    for protocol, fitted in (
        ("pairwise-verdict", OTHER),
        ("pairwise-by-rating", FITTED),
        ("pairwise-verdict", FITTED),
    ):
        write_calibration(path, JUDGE, protocol, fitted)
    assert load_card(str(path)).calibration == {
        "pairwise-verdict": FITTED,
        "pairwise-by-rating": FITTED,
    }
    assert path.read_text().startswith(CARD + "# the end\n")
    assert path.read_text().count("calibration:") == 1


@pytest.mark.parametrize(
    "block",
    [
        "calibration: {}  # none yet\n",
        "calibration: {pairwise-verdict: {temperature: 2.0, tie: 0.0}}\n",
        "calibration:\n  pairwise-verdict:\n    temperature: 2\n    # as guessed\n    tie: 0.0\n",
        "'calibration':\n  pairwise-verdict: {temperature: 2, tie: 0}\n",
    ],
)
def test_a_block_in_the_middle_is_replaced_in_its_place(tmp_path: Path, block: str) -> None:
    head, tail = CARD.split("\nprotocols", 1)
    after = f"\n# How it is asked.\nprotocols{tail}"
    path = card(tmp_path, head + block + after)
    write_calibration(path, JUDGE, "pairwise-verdict", FITTED)
    assert path.read_text().startswith(head)
    assert path.read_text().endswith(after)
    assert load_card(str(path)).calibration == {"pairwise-verdict": FITTED}


@pytest.mark.parametrize(
    "text",
    [
        CARD.rstrip("\n"),
        CARD.replace("\n", "\r\n"),
        "\ufeff" + CARD,
        "---\n" + CARD + "...\n",
        "{title: Mine, backend: scripted, model: script, wrapper: none,\n"
        " protocols: [pairwise-verdict], context_tokens: 4096}\n",
    ],
    ids=["no-newline", "crlf", "byte-order-mark", "document", "flow"],
)
def test_unusual_layouts_keep_their_content(tmp_path: Path, text: str) -> None:
    path = card(tmp_path, text)
    before = load_card(str(path))
    for fitted in (OTHER, FITTED):
        write_calibration(path, JUDGE, "pairwise-verdict", fitted)
        assert load_card(str(path)) == replace(before, calibration={"pairwise-verdict": fitted})


def test_the_card_of_another_judge_is_refused(tmp_path: Path) -> None:
    path = card(tmp_path)
    with pytest.raises(ConfigError, match="another judge: its model is 'script', and the"):
        write_calibration(path, replace(JUDGE, model="other"), "pairwise-verdict", FITTED)
    # What one of the two does not say cannot differ.
    write_calibration(path, replace(JUDGE, revision="abc"), "pairwise-verdict", FITTED)
    pinned = card(tmp_path, CARD + "revision: def\n", "pinned.yaml")
    with pytest.raises(ConfigError, match="its revision is 'def'"):
        write_calibration(pinned, replace(JUDGE, revision="abc"), "pairwise-verdict", FITTED)
    assert pinned.read_text() == CARD + "revision: def\n"


def test_a_card_that_is_none_is_left_alone(tmp_path: Path) -> None:
    path = card(tmp_path, "title: Mine\n")
    with pytest.raises(DataError, match=r"mine\.yaml:backend"):
        write_calibration(path, JUDGE, "pairwise-verdict", FITTED)
    assert path.read_text() == "title: Mine\n"
    with pytest.raises(DataError, match="no such judge card"):
        write_calibration(tmp_path / "none.yaml", JUDGE, "pairwise-verdict", FITTED)


def test_a_write_that_fails_says_so_and_leaves_the_card(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    path = card(tmp_path)

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.fsync", refused)
    with pytest.raises(ConfigError, match="cannot be written: Permission denied"):
        write_calibration(path, JUDGE, "pairwise-verdict", FITTED)
    assert path.read_text() == CARD
    assert os.listdir(tmp_path) == ["mine.yaml"]


def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    path = card(tmp_path)
    path.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(path)
    write_calibration(link, JUDGE, "pairwise-verdict", FITTED)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert yaml.safe_load(path.read_text())["calibration"]


def test_a_judges_folder_stands_for_its_card(tmp_path: Path) -> None:
    path = card(tmp_path, name="judge.yaml")
    assert find_card(tmp_path) == path
    assert find_card(path) == path
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"has no judge\.yaml"):
        find_card(tmp_path / "empty")
    with pytest.raises(ConfigError, match="expected a card's file"):
        find_card(Path("embedded"))
