"""A construction with a real teacher: a language model's own, untidy text through every stage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autoj import critiques
from autoj.construct.pipeline import Construction, construct
from autoj.construct.recipe import ConstructRecipe, JudgePairs, PairFile, read_construct_recipe
from autoj.fetching import weights_file
from autoj.jsonl import read_records
from autoj.judges import load_card
from autoj.records import Completion

_REPOSITORY = Path(__file__).resolve().parents[2]
_N_ROWS = 4
_REASONS = {
    "disagrees with the label", "no readable verdict", "cannot be reformatted", "cut off",
    "empty reply", "reply too long", "reply in another language",
}  # fmt: skip


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> ConstructRecipe:
    """The recipe of `examples/`, on a handful of its rows."""
    monkeypatch.chdir(_REPOSITORY)
    found = read_construct_recipe(Path("examples/construct-local.yaml"))
    source = PairFile(data=found.sources[0].data, name="examples", limit=_N_ROWS)
    return found.model_copy(update={"sources": (source,)})


@pytest.fixture
def teacher(recipe: ConstructRecipe) -> JudgePairs:
    """The stage that asks; skips where its weights would have to be fetched."""
    (stage,) = (stage for stage in recipe.stages if isinstance(stage, JudgePairs))
    digest = (load_card(stage.teacher).revision or "").removeprefix("sha256:")
    if not weights_file(digest).is_file():
        pytest.skip(f"the weights of {stage.teacher} are not in the cache")
    return stage


@pytest.mark.slow
def test_a_real_teachers_text_is_kept_or_dropped_by_name(
    recipe: ConstructRecipe, teacher: JudgePairs, tmp_path: Path
) -> None:
    # A weak teacher may contradict every label, and then no row would be left.
    stages = tuple(
        stage.model_copy(update={"keep_disagreeing": True}) if stage == teacher else stage
        for stage in recipe.stages
    )
    recipe = recipe.model_copy(update={"stages": stages})
    made = construct(recipe, tmp_path / "made")
    stage = made.stage("judge-pairs")
    ledger = stage.path / "waves" / "001" / "ledger.jsonl"
    answers = list(read_records(ledger, Completion))
    assert len({answer.key for answer in answers}) == len(answers) == _N_ROWS
    dropped = [
        json.loads(line) for line in (stage.path / "dropped.jsonl").read_bytes().splitlines()
    ]
    kept = list(stage.kept())
    assert len(kept) + len(dropped) == _N_ROWS
    assert {row["reason"] for row in dropped} <= _REASONS
    assert kept, "the teacher wrote nothing that can be read"
    for case in kept:
        judgment = critiques.parse(case.meta["judgment"])
        assert judgment is not None
        assert judgment.factors
        assert {"1": "a", "2": "b", "tie": "tie"}[judgment.decision] == case.label

    before = ledger.read_bytes()
    again = construct(recipe, tmp_path / "made")
    assert ledger.read_bytes() == before
    assert again.summaries == Construction.open(tmp_path / "made").summaries == made.summaries
