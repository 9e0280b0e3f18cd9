"""A dry run without the data: declared counts, files that are here, and what is assumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autoj.construct.expectation import expect, lacks_declared_data
from autoj.construct.held_out import held_out_scenarios
from autoj.construct.pipeline import construct
from autoj.construct.recipe import ConstructRecipe, read_construct_recipe
from autoj.datasets import is_at_hand
from autoj.errors import ConfigError, DataError

from .scripted_teacher import N_PAIRS, Teacher

PAPER = Path(__file__).parents[2] / "recipes" / "autoj-paper.yaml"
ABSENT = "hf-dataset:nobody/absent-pairs:train"


@pytest.fixture
def declared(recipe: ConstructRecipe) -> dict[str, Any]:
    """The scripted recipe with another source that is not at hand, as plain values."""
    values = recipe.model_dump(mode="json")
    absent = {
        "data": ABSENT, "name": "absent", "declared": {"rows": 1000, "kept": 0.5},
    }  # fmt: skip
    values["sources"].append(absent)
    values["assumed"] = {
        "kept": {"judge-pairs": 0.5},
        "shares": {"planning": 0.9, "math_reasoning": 0.09, "chitchat": 0.01},
        "published_pairs": 30,
    }
    return values


def test_what_is_here_is_counted_and_the_rest_is_declared(declared: dict[str, Any]) -> None:
    recipe = ConstructRecipe.model_validate(declared)
    assert lacks_declared_data(recipe)
    found = expect(recipe)
    assert not Teacher.asked
    own, absent = found.sources
    assert (own.n_rows, own.n_kept, own.is_counted) == (N_PAIRS + 5, N_PAIRS + 1, True)
    assert (absent.n_rows, absent.n_kept, absent.is_counted) == (1000, 500, False)
    by_name = {stage.stage: stage for stage in found.stages}
    assert by_name["collect"].n_in == N_PAIRS + 1005
    judged = by_name["judge-pairs"]
    # Each of three scenarios is full at 8, and half of the judgments are kept.
    assert found.pairs == {"chitchat": 8, "math_reasoning": 8, "planning": 8}
    assert judged.n_requests == 48
    assert judged.usd == pytest.approx(
        (judged.prompt_tokens + 2 * judged.completion_tokens) / 1e6, rel=0.01
    )
    assert by_name["negatives"].n_made == 12
    assert by_name["mix"].n_kept == 36
    assert found.published == ("published", 30, None)
    assert found.absent == (ABSENT,)
    assert any("1,000 rows by its card" in said for said in found.assumptions)
    assert not any(said.startswith("own:") for said in found.assumptions)


def test_a_scenario_with_few_queries_stays_below_its_quota(declared: dict[str, Any]) -> None:
    declared["sources"] = declared["sources"][1:]
    found = expect(ConstructRecipe.model_validate(declared))
    # One of a hundred of 500 rows is 5, half of which are kept.
    assert found.pairs == {"math_reasoning": 8, "planning": 8, "chitchat": 2}
    requests = {stage.stage: stage.n_requests for stage in found.stages}
    assert requests["judge-pairs"] == 16 + 16 + 5


def test_single_responses_are_three_requests_up_to_a_total(declared: dict[str, Any]) -> None:
    teacher = declared["stages"][4]["teacher"]
    singles = {"stage": "judge-singles", "teacher": teacher, "quota": 5, "total": 12}
    declared["stages"].insert(4, singles)
    found = expect(ConstructRecipe.model_validate(declared))
    assert found.n_singles == 12
    stage = found.stages[4]
    assert (stage.n_made, stage.n_requests) == (12, 36)


def test_a_source_that_is_neither_here_nor_declared(declared: dict[str, Any]) -> None:
    declared["sources"].append({"data": "missing.jsonl"})
    with pytest.raises(DataError, match=r"missing\.jsonl: is not at hand"):
        expect(ConstructRecipe.model_validate(declared))


def test_scenarios_that_nobody_knows(declared: dict[str, Any]) -> None:
    del declared["assumed"]["shares"]
    with pytest.raises(ConfigError, match="the scenarios of source 'own' are not known"):
        expect(ConstructRecipe.model_validate(declared))


@pytest.mark.parametrize(
    ("assumed", "said"),
    [
        ({"shares": {"planning": 0.5}}, "they sum to 0.50"),
        ({"kept": {"collect": 0.5}}, "kept.collect"),
        ({"kept": {"classify": 2}}, "less than or equal to 1"),
    ],
)
def test_assumptions_that_cannot_be(
    declared: dict[str, Any], assumed: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        ConstructRecipe.model_validate({**declared, "assumed": assumed})


def test_declarations_may_be_corrected_after_a_construction(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    done = construct(recipe, tmp_path / "out")
    values = recipe.model_dump(mode="json")
    values["sources"][0]["declared"] = {"rows": 65}
    values["assumed"] = {"published_pairs": 1}
    assert construct(ConstructRecipe.model_validate(values), tmp_path / "out") == done


def test_a_data_set_is_at_hand_where_its_cache_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets", reason="the extra `data` is not installed")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path))
    assert not is_at_hand(Path(ABSENT))
    (tmp_path / "nobody___absent-pairs").mkdir()
    assert is_at_hand(Path(ABSENT))
    assert not is_at_hand(tmp_path / "pairs.jsonl")


def test_a_listed_test_set_that_is_missing_is_an_error_before_anything_is_asked(
    recipe: ConstructRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AUTOJ_DATA", raising=False)
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    values = recipe.model_dump(mode="json")
    values["stages"][2]["against"] = ["eval-p"]
    with pytest.raises(DataError, match="'eval-p' is not on this machine") as raised:
        construct(ConstructRecipe.model_validate(values), tmp_path / "out")
    assert raised.value.hint is not None
    assert "autoj data get eval-p" in raised.value.hint
    assert not Teacher.asked
    values["sources"][0]["declared"] = {"rows": 3}
    values["sources"][0]["data"] = ABSENT
    values["assumed"] = {"shares": {"planning": 1.0}}
    assert expect(ConstructRecipe.model_validate(values)).absent == (ABSENT, "eval-p")


def test_the_paper_recipe_is_estimated_without_its_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AUTOJ_DATA", raising=False)
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    recipe = read_construct_recipe(PAPER)
    found = expect(recipe)
    assert found.n_singles == 960
    assert found.published == ("the paper", 3436, 960)
    assert max(found.pairs.values()) == 100
    # Both the published count and the quotas bound what the declared counts may say.
    assert 3436 < sum(found.pairs.values()) < 5800
    assert len(found.pairs) == 58
    assert len(found.absent) == 9
    stages = {stage.stage: stage for stage in found.stages}
    assert stages["judge-singles"].n_requests == 2880
    assert stages["judge-pairs"].usd is not None
    assert not found.not_estimated


def test_the_paper_recipe_names_the_scenarios_of_setting_1() -> None:
    text = " ".join(PAPER.read_text(encoding="utf-8").replace("#", "").split())
    assert f"held_out: [{', '.join(held_out_scenarios('setting-1'))}]" in text
