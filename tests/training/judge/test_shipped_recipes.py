"""The recipes at the paper's size: the paper's settings, one base with its ablations, launches."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from autoj.errors import DataError
from autoj.scenarios import groups
from autoj.training.judge.recipe import read_recipe
from tests.training import toy

FOLDER = Path(__file__).parents[3] / "recipes"
AT_SCALE = sorted(
    [*FOLDER.glob("autoj-[!p]*.yaml"), *FOLDER.glob("ablations/*"), *FOLDER.glob("scenario-*")]
)
LAUNCHES = sorted((FOLDER / "accelerate").glob("*.yaml"))


def test_the_judges_recipe_has_the_settings_of_section_4() -> None:
    recipe = read_recipe(FOLDER / "autoj-13b.yaml")
    optimiser = recipe.optimiser
    assert (optimiser.learning_rate, optimiser.betas) == (1e-5, (0.9, 0.95))
    assert (optimiser.weight_decay, optimiser.warmup, optimiser.schedule) == (0.1, 0.03, "cosine")
    assert (recipe.batch_samples, recipe.max_tokens, recipe.epochs) == (64, 4096, 5)
    assert (recipe.checkpoint_steps, recipe.update.method) == (50, "all")
    assert (recipe.precision, recipe.tf32, recipe.gradient_checkpointing) == (
        "bfloat16",
        True,
        True,
    )
    assert recipe.swap_pairs
    assert recipe.balance
    assert {objective.kind for objective in recipe.objectives} == {"judgment"}


def test_the_classifiers_recipe_has_the_settings_of_appendix_b() -> None:
    recipe = read_recipe(FOLDER / "scenario-classifier-13b.yaml")
    assert (recipe.epochs, recipe.batch_samples, recipe.max_tokens) == (3, 64, 2048)
    assert (recipe.optimiser.learning_rate, recipe.optimiser.warmup) == (1e-5, 0.0)


@pytest.mark.parametrize("path", AT_SCALE, ids=lambda path: path.stem)
def test_a_recipe_at_scale_states_its_models_shape_and_its_data(path: Path) -> None:
    recipe = read_recipe(path)
    assert recipe.base.shape is not None
    assert 5e9 < recipe.base.shape.n_weights < 16e9
    assert recipe.published is not None


def ablation(name: str) -> dict[str, Any]:
    """The fields in which an ablation differs from the judge."""
    whole = read_recipe(FOLDER / "autoj-13b.yaml").model_dump()
    changed = read_recipe(FOLDER / "ablations" / f"{name}.yaml").model_dump()
    return {key: value for key, value in changed.items() if value != whole[key] and key != "title"}


def test_an_ablation_changes_one_thing() -> None:
    assert set(ablation("no-swap")) == {"swap_pairs"}
    assert set(ablation("held-out-1")) == {"held_out"}
    assert set(ablation("criteria-in-input")) == {"objectives", "protocols"}
    assert [each["kind"] for each in ablation("decision-only")["objectives"]] == ["decision"]
    assert [each["kind"] for each in ablation("scalar")["objectives"]] == ["scalar"]
    assert ablation("mathematics")["published"]["pairs"] == 3436 + 1000


def test_the_small_ablation_changes_what_is_learnt_alone() -> None:
    whole = read_recipe(FOLDER / "embedded-judgment.yaml").model_dump()
    alone = read_recipe(FOLDER / "embedded-decision.yaml").model_dump()
    differ = {key for key, value in alone.items() if value != whole[key]}
    assert differ == {"title", "objectives", "protocols"}
    assert [each["kind"] for each in alone["objectives"]] == ["decision"]


def test_the_settings_of_appendix_c_hold_out_one_of_each_group_and_one_group() -> None:
    first, second = (ablation(f"held-out-{number}")["held_out"] for number in (1, 2))
    assert [sum(name in names for name in first) for names in groups().values()] == [1] * 8
    assert set(second) == set(groups()["NLP Tasks"])


@pytest.mark.skipif(importlib.util.find_spec("accelerate") is None, reason="no accelerate")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", LAUNCHES, ids=lambda path: path.stem)
def test_accelerate_reads_a_launch_and_knows_its_plan(path: Path) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    config = load_config_from_file(str(path))
    kind = str(getattr(config.distributed_type, "value", config.distributed_type))
    if path.stem.startswith("fsdp2"):
        assert (kind, config.fsdp_config["fsdp_version"]) == ("FSDP", 2)
    elif path.stem.startswith("zero3"):
        assert (kind, config.deepspeed_config["zero_stage"]) == ("DEEPSPEED", 3)
    else:
        assert kind == "MULTI_GPU"
    assert config.num_processes == (2 if path.stem == "cpu-2" else 8 * config.num_machines)


def test_a_recipe_extends_another_field_by_field(tmp_path: Path) -> None:
    first = toy.recipe(tmp_path, {"kind": "judgment", "protocol": "single"})
    toy.write_recipe(tmp_path / "first.yaml", first)
    (tmp_path / "second.yaml").write_text(
        "extends: first.yaml\ntitle: Second\noptimiser: {learning_rate: 0.5}\n"
    )
    one, other = (read_recipe(tmp_path / f"{name}.yaml") for name in ("first", "second"))
    assert (other.title, other.optimiser.learning_rate) == ("Second", 0.5)
    assert other.optimiser.weight_decay == one.optimiser.weight_decay == 0
    assert other.objectives == one.objectives


@pytest.mark.parametrize(
    ("extends", "said"),
    [("second.yaml", "extends itself"), ("none.yaml", "no such recipe"), ("[a, b]", "one path")],
)
def test_a_recipe_that_extends_no_recipe_is_told_so(
    tmp_path: Path, extends: str, said: str
) -> None:
    (tmp_path / "second.yaml").write_text(f"extends: {extends}\ntitle: Second\n")
    with pytest.raises(DataError, match=said):
        read_recipe(tmp_path / "second.yaml")
