"""A run of TRL's GRPO on a toy model, with rewards from a scripted judge."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from autoj import Judge
from autoj.backends.base import Outcome
from autoj.records import Failure, Request
from autoj.rewards import trl
from autoj.rewards.scoring import RewardBy

from .test_trl import Counting

pytest.importorskip("trl", reason="the extra `train` is not installed: no trl")
datasets = pytest.importorskip("datasets", reason="the extra `train` is not installed: no datasets")


def every_fifth_fails(request: Request) -> str | Outcome:
    """Rates by the text's own sum; a fifth fails."""
    mark = sum(request.messages[-1].content.encode())
    if mark % 5 == 0:
        return Failure(key=request.key, error="E", message="down", retryable=True, attempts=1)
    return f"Rating: [[{1 + mark % 10}]]"


def trained(reward: Any, folder: Path, **settings: Any) -> Any:
    """A trainer of a toy model after its training."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from trl import GRPOConfig, GRPOTrainer

        from ..tiny_llama import make_model, make_tokenizer

        tokenizer = make_tokenizer()
        tokenizer.pad_token = tokenizer.eos_token
        trainer = GRPOTrainer(
            model=make_model(),
            processing_class=tokenizer,
            reward_funcs=[reward],
            train_dataset=datasets.Dataset.from_dict({"prompt": ["Which is better?"] * 8}),
            args=GRPOConfig(
                output_dir=str(folder),
                num_generations=4,
                max_completion_length=6,
                learning_rate=1e-3,
                logging_steps=1,
                report_to=[],
                save_strategy="no",
                use_cpu=True,
                bf16=False,
                disable_tqdm=True,
                **settings,
            ),
        )
        trainer.before = trainer.model.lm_head.weight.detach().clone()
        trainer.train()
    return trainer


@pytest.mark.slow
@pytest.mark.parametrize("concurrent", [False, True])
def test_grpo_trains_on_a_judge_and_takes_none(tmp_path: Path, concurrent: bool):
    backend = Counting(every_fifth_fails)
    reward = trl(Judge(backend), protocol="single", concurrent=concurrent)
    trainer = trained(reward, tmp_path, max_steps=3, per_device_train_batch_size=8)
    logs = [row for row in trainer.state.log_history if "reward" in row]
    rewarded = [row["reward"] for row in logs]
    assert len(rewarded) == 3
    assert all(1 <= reward <= 10 for reward in rewarded if reward is not None)
    name = "autoj_rating"
    assert all(1 <= row[f"rewards/{name}/mean"] <= 10 for row in logs)
    assert any(row["autoj/unrewarded"] > 0 for row in logs)
    assert not trainer.before.equal(trainer.model.lm_head.weight)
    assert backend.batches == [8, 8, 8]


@pytest.mark.slow
@pytest.mark.parametrize("by", ["rating", "calibrated-rating"])
def test_grpo_trains_on_the_rewards_of_a_real_judge(
    tmp_path: Path, model_folder: Path, by: RewardBy
):
    with Judge.load("embedded-small") as judge:
        trainer = trained(trl(judge, by=by), tmp_path, max_steps=2, per_device_train_batch_size=4)
        again = trl(judge, by=by)(prompts=["Name a colour."] * 2, completions=["Red.", ")))"])
    logs = [row for row in trainer.state.log_history if "reward" in row]
    assert [row["autoj/unrewarded"] for row in logs] == [0.0, 0.0]
    # Expected ratings of different texts differ, so that there is something to learn from.
    assert all(row["reward_std"] > 0 for row in logs)
    assert not trainer.before.equal(trainer.model.lm_head.weight)
    assert None not in again
    assert again[0] != again[1]
