"""Variants of a training on the toy: scenarios named, scenarios held out, frozen weights packed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.training.judge.loading import TrainingJob, load, read_data
from autoj.training.judge.recipe import read_recipe
from autoj.training.judge.sample_files import read_outline
from autoj.training.judge.train import train
from tests.training import toy
from tests.training.judge.test_train import OBJECTIVE, curve_of, job_of

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_drawing")]

SCENARIO = {"kind": "scenario", "protocol": "scenario"}


def test_the_names_of_scenarios_are_learnt(tmp_path: Path, base: Path) -> None:
    queries = [
        {"query": "Plan my trip.", "scenario": "planning"},
        {"query": "Say hello.", "scenario": "default"},
    ]
    fields = {"batch_samples": 2, "micro_batch_samples": 2, "epochs": 40}
    job = job_of(tmp_path, base, queries, SCENARIO, **fields)
    train(job, tmp_path / "out")
    losses = [float(row["loss"]) for row in curve_of(tmp_path / "out") if row["loss"]]
    assert losses[-1] < 0.2 < 2 < losses[0]
    assert load_card(str(tmp_path / "out")).protocols == ("scenario",)


def test_held_out_scenarios_give_no_samples(tmp_path: Path, base: Path) -> None:
    rows = toy.rated_rows(4)
    for row, scenario in zip(rows, ["planning", "ranking", "planning", "chitchat"], strict=True):
        row["scenario"] = scenario
    job = job_of(tmp_path, base, rows, OBJECTIVE, held_out=["planning"])
    (found,) = read_outline(job.recipe, job.data, job.data[0], lenient=False).data
    assert {planned.case.scenario for planned in found.samples} == {"ranking", "chitchat"}


def test_a_row_without_a_scenario_may_be_of_one_held_out(tmp_path: Path, base: Path) -> None:
    job = job_of(tmp_path, base, toy.rated_rows(2), OBJECTIVE, held_out=["planning"])
    with pytest.raises(DataError, match=r"rows\.jsonl:1:scenario: .*names no scenario"):
        read_outline(job.recipe, job.data, None, lenient=False)


def lora(folder: Path, base: Path, frozen: str) -> TrainingJob:
    update = {"method": "lora", "rank": 2, "frozen": frozen}
    fields = {"update": update, "epochs": 2, "batch_samples": 4, "micro_batch_samples": 4}
    return job_of(folder, base, toy.rated_rows(4), OBJECTIVE, **fields)


def test_frozen_weights_stay_in_bfloat16_under_a_float32_adapter(
    tmp_path: Path, base: Path
) -> None:
    import torch

    job = lora(tmp_path, base, "bfloat16")
    kinds = {
        (weight.requires_grad, weight.dtype)
        for weight in load(job, read_data(job)).model.parameters()
    }
    assert kinds == {(False, torch.bfloat16), (True, torch.float32)}
    assert train(job, tmp_path / "out").n_steps == 2


def test_an_adapter_is_trained_over_packed_weights(tmp_path: Path, base: Path) -> None:
    job = lora(tmp_path, base, "4bit")
    if importlib.util.find_spec("bitsandbytes") is None:
        with pytest.raises(ConfigError, match="bitsandbytes"):
            train(job, tmp_path / "out")
        return
    assert train(job, tmp_path / "out").n_steps == 2
    assert (tmp_path / "out" / "adapter" / "adapter_model.safetensors").is_file()


def test_only_an_adapter_has_frozen_weights(tmp_path: Path) -> None:
    recipe = toy.recipe(tmp_path, OBJECTIVE, update={"method": "all", "frozen": "4bit"})
    with pytest.raises(DataError, match="does not take frozen"):
        read_recipe(toy.write_recipe(tmp_path / "recipe.yaml", recipe))
