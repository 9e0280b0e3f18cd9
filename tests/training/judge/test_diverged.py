"""A training that diverges: it stops, names the batch, and its last checkpoint is a good one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from autoj.errors import BackendError
from autoj.training.judge import trainer
from autoj.training.judge.folder import TrainingFolder, last_checkpoint
from autoj.training.judge.train import train
from tests.training import toy
from tests.training.judge.test_train import OBJECTIVE, job_of

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_drawing")]


@pytest.mark.parametrize("spoilt", ["loss", "gradient"])
def test_it_stops_names_its_batch_and_keeps_the_last_good_checkpoint(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch, spoilt: str
) -> None:
    job = job_of(
        tmp_path, base, toy.rated_rows(6), OBJECTIVE,
        epochs=2, batch_samples=2, micro_batch_samples=2, checkpoint_steps=1, keep_checkpoints=9,
    )  # fmt: skip
    sound, steps = trainer.learn, iter(range(1, 100))
    seen: list[list[str]] = []

    def learn(model: Any, samples: Any, objectives: Any) -> Any:
        losses, right = sound(model, samples, objectives)
        seen.append([sample.case_id for sample in samples])
        if next(steps) == 4:
            if spoilt == "loss":
                return losses * math.nan, right
            # The loss is a number, and its gradient is none.
            losses.register_hook(lambda gradient: gradient * math.inf)
        return losses, right

    monkeypatch.setattr(trainer, "learn", learn)
    with pytest.raises(BackendError, match="training diverged at step 4") as told:
        train(job, tmp_path / "out")
    assert all(repr(case_id) in str(told.value) for case_id in seen[3])
    last = last_checkpoint(TrainingFolder(tmp_path / "out").checkpoints)
    assert last is not None
    assert last.name == "checkpoint-3"
    assert not TrainingFolder(tmp_path / "out").is_finished
