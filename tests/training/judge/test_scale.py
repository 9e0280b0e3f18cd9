"""The plan of a recipe at scale, by its base's dimensions; what does not fit is not loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from autoj.cli.app import app
from autoj.errors import ConfigError, UserError
from autoj.judges import load_card
from autoj.training.judge import train as route
from autoj.training.judge.estimate import check_gpu_memory
from autoj.training.judge.launch import Launch, this_launch
from autoj.training.judge.recipe import Objective, Recipe, read_recipe
from autoj.training.judge.scale import (
    GPUS,
    LAYOUTS,
    Layout,
    known_shape,
    memory_per_gpu,
    plan_scale,
)
from autoj.training.judge.train import train
from tests.training import toy
from tests.training.judge.test_train import OBJECTIVE, job_of

FOLDER = Path(__file__).parents[3] / "recipes"
JUDGE = read_recipe(FOLDER / "autoj-13b.yaml")
GB = 10**9


def whole_length(recipe: Recipe) -> int:
    """The tokens of a micro-batch whose sequences are as long as they may be."""
    return recipe.micro_batch_samples * recipe.max_tokens


def test_the_published_and_our_own_steps_stand_side_by_side() -> None:
    plan = plan_scale(JUDGE, ())
    assert (plan.published_steps, plan.n_steps, plan.steps_range) == (675, 686, (685, 690))
    assert plan.n_samples == 2 * 3436 + 2 * 960
    assert plan.n_weights == plan.n_trained == 13_015_864_320


def test_all_weights_of_13b_need_eight_gpus_and_packed_ones_a_small_one() -> None:
    plan = plan_scale(JUDGE, ())
    fits = {layout.name: plan.memory_bytes[layout] <= 80 * GB for layout in LAYOUTS}
    assert fits == {
        "1 GPU": False,
        "8 GPUs, each a copy": False,
        "4 GPUs, FSDP2 or ZeRO-3": True,
        "8 GPUs, FSDP2 or ZeRO-3": True,
        "16 GPUs, FSDP2 or ZeRO-3": True,
    }
    packed = plan_scale(read_recipe(FOLDER / "autoj-qwen3-14b-qlora.yaml"), ())
    assert packed.memory_bytes[LAYOUTS[0]] < 24 * GB
    assert packed.n_trained < 0.02 * packed.n_weights


def test_a_faster_gpu_takes_fewer_hours() -> None:
    hours = {gpu.name: found for gpu, found in plan_scale(JUDGE, ()).gpu_hours.items()}
    assert hours["A100 80 GB"] == pytest.approx(hours["H100 80 GB"] * 989 / 312)
    # 8 operations a weight of the layers and token, with recomputation, and a little for attention
    # and for the projection of what is written.
    least = 8 * 12.69e9 * 52_752_000 / (312e12 * 0.4) / 3600
    assert least < hours["A100 80 GB"] < 1.05 * least


def test_data_are_counted_where_they_are_given(tmp_path: Path) -> None:
    data = toy.write_rows(tmp_path / "rows.jsonl", toy.pair_rows(3) + toy.rated_rows(2))
    plan = plan_scale(JUDGE, (data,))
    assert (plan.n_samples, plan.published_steps) == (2 * 3 + 2 * 2, None)


def test_a_plan_without_data_needs_published_counts() -> None:
    recipe = JUDGE.model_copy(update={"published": None})
    with pytest.raises(ConfigError, match="give --data"):
        plan_scale(recipe, ())


def test_what_needs_80_gb_is_refused_on_24_with_what_to_change() -> None:
    assert JUDGE.base.shape is not None
    with pytest.raises(ConfigError, match=r"needs about 22[01] GiB.*1 GPU.*22 GiB") as told:
        check_gpu_memory(JUDGE, JUDGE.base.shape, LAYOUTS[0], 24 * GB, whole_length)
    assert told.value.hint is not None
    assert "frozen: 4bit" in told.value.hint
    assert "16 GPUs" in told.value.hint
    assert "frozen: bfloat16" not in told.value.hint
    shared = Layout(n_gpus=8, sharded=True)
    check_gpu_memory(JUDGE, JUDGE.base.shape, shared, GPUS[0].memory_bytes, whole_length)


def test_more_sharing_needs_less_memory() -> None:
    assert JUDGE.base.shape is not None
    found = [
        memory_per_gpu(JUDGE, JUDGE.base.shape, Layout(n_gpus=n, sharded=True)) for n in (4, 8, 16)
    ]
    assert found == sorted(found, reverse=True)


def test_memory_is_that_of_the_longest_texts_where_there_are_data(tmp_path: Path) -> None:
    def memory(n_words: int, **fields: object) -> int:
        rows = toy.pair_rows(8)
        rows[5]["query"] = " ".join(["why"] * n_words)
        data = toy.write_rows(tmp_path / "rows.jsonl", rows + toy.rated_rows(8))
        return plan_scale(JUDGE.model_copy(update=fields), (data,)).memory_bytes[LAYOUTS[0]]

    unknown = plan_scale(JUDGE, ()).memory_bytes[LAYOUTS[0]]
    assert memory(10) < memory(1000) < memory(5000) == unknown
    padded, packed = (
        memory(5000, packing=packing, swap_pairs=False, epochs=1, micro_batch_samples=2)
        for packing in (False, True)
    )
    assert packed < padded


def test_responses_that_are_read_together_count_each() -> None:
    assert JUDGE.base.shape is not None
    objective = {"kind": "preference", "protocol": "pairwise-by-rating"}
    recipe = JUDGE.model_copy(
        update={"objectives": (Objective.model_validate(objective),), "compare_together": 4}
    )
    two = recipe.model_copy(update={"compare_together": 2})
    apart = [
        memory_per_gpu(each, JUDGE.base.shape, LAYOUTS[0], n_tokens)
        for each, n_tokens in ((recipe, None), (two, None), (two, 1))
    ]
    assert apart[0] - apart[2] == pytest.approx(2 * (apart[1] - apart[2]), rel=0.01)


def test_a_folders_shape_is_that_of_its_weights(base: Path) -> None:
    from transformers import AutoModelForCausalLM

    recipe = JUDGE.model_copy(update={"base": JUDGE.base.model_copy(update={"shape": None})})
    shape = known_shape(recipe, load_card(str(base)))
    assert shape is not None
    assert shape.n_weights == AutoModelForCausalLM.from_pretrained(base).num_parameters()


def test_a_training_that_does_not_fit_loads_nothing(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(tmp_path, base, toy.rated_rows(3), OBJECTIVE)
    monkeypatch.setattr(route, "free_bytes", lambda device: 1 << 20)
    monkeypatch.setattr(route, "make_ready", lambda *args: pytest.fail("it loads"))
    with pytest.raises(ConfigError, match="nothing was loaded"):
        train(job, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_short_texts_are_not_refused_for_what_max_tokens_would_take(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(tmp_path, base, toy.rated_rows(8), OBJECTIVE, max_tokens=1024)
    shape = known_shape(job.recipe, load_card(str(base)))
    assert shape is not None
    whole = memory_per_gpu(job.recipe, shape, LAYOUTS[0])
    monkeypatch.setattr(route, "free_bytes", lambda device: whole - 1)
    # It goes on to its folder, beyond the refusal.
    (tmp_path / "out").touch()
    with pytest.raises(UserError, match="out"):
        train(job, tmp_path / "out")


def test_the_command_plans_without_data_and_without_weights() -> None:
    shown = CliRunner().invoke(app, ["train", str(FOLDER / "autoj-13b.yaml"), "--plan"])
    assert shown.exit_code == 0, shown.output
    for words in ("675", "685 to 690", "H200 141 GB", "assumed", "FSDP2 or ZeRO-3"):
        assert words in shown.output


def test_a_batch_is_shared_by_the_processes_of_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("RANK", "3"), ("WORLD_SIZE", "8"), ("ACCELERATE_USE_FSDP", "true")):
        monkeypatch.setenv(name, value)
    found = this_launch()
    assert found == Launch(rank=3, n_processes=8, sharded=True)
    assert not found.is_first
    assert found.accumulation(JUDGE) == 8
    with pytest.raises(ConfigError, match="multiple"):
        Launch(rank=0, n_processes=7, sharded=True).accumulation(JUDGE)
