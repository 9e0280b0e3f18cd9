"""A translation in a construction as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autoj.construct.recipe import ConstructRecipe

from ..construct.translation.scripted_translator import (
    N_PAIRS,
    N_SINGLES,
    Translator,
    recipe,
    translator,
)

__all__ = ["recipe", "translator"]


@pytest.fixture
def path(recipe: ConstructRecipe, tmp_path: Path) -> Path:
    return tmp_path / "construct.yaml"


def test_what_is_dropped_is_shown_with_its_place(run, path: Path) -> None:
    Translator.faults = {
        "own/1:judgment": "最终决定是回应2->最终决定是回应1",
        "own/3:response-2": "抱歉，我无法翻译。",
    }
    code, out, err = run("construct", path, "--out", "mine")
    assert code == 0
    assert "stage 2 of 3: translate" in err
    assert "verdict changed" in out
    code, out, _ = run("construct", "show", "mine", "translate")
    text = " ".join(out.split())
    assert code == 0
    assert "own/1+zh verdict changed judgment: 1 for 2" in text
    assert "own/3+zh refused response 2" in text


def test_a_dry_run_says_what_a_translation_costs(run, path: Path) -> None:
    code, out, _ = run("construct", path, "--out", "mine", "--dry-run")
    assert code == 0
    assert not Translator.asked
    text = " ".join(out.split())
    assert f"it may be asked about {N_PAIRS + N_SINGLES + 1}" in text
    assert "Chinese is taken for a third as many characters as English" in text
    assert "Not estimated, as it depends on the answers: mix." in text


def test_a_dry_run_counts_what_earlier_teachers_let_through(run, path: Path) -> None:
    teacher = path.with_name("translator.yaml")
    judged = f"  - {{stage: judge-pairs, teacher: {teacher}, protocol: pairwise, quota: 4}}\n"
    text = path.read_text().replace("  - {stage: translate", f"{judged}  - {{stage: translate")
    path.write_text(text)
    code, out, _ = run("construct", path, "--out", "mine", "--dry-run", "--json")
    assert code == 0
    first, second = json.loads(out)["teachers"]
    assert (first["stage"], second["stage"]) == ("judge-pairs", "translate")
    # Four pairs at most, of the one scenario that all of them lack, and the single responses.
    assert second["n_in"] == 4 + N_SINGLES
    assert second["n_requests"][0] == 0
    assert second["n_requests"][1] >= 4 * 4
    assert Translator.asked == {}
