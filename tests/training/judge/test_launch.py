"""A training shared by processes: the same losses as alone, also when it is killed and resumed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from autoj.errors import SpecMismatch
from autoj.training.judge.folder import TrainingFolder
from autoj.training.judge.train import train
from tests.training import toy
from tests.training.judge.test_train import OBJECTIVE, curve_of, job_of

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("no_drawing"),
    pytest.mark.slow,
]

LAUNCH = Path(__file__).parents[3] / "recipes" / "accelerate" / "cpu-2.yaml"
KILL = """
import os, signal, sys
from pathlib import Path
from autoj.runs.watch import Watch
from autoj.training.judge.recipe import read_recipe
from autoj.training.judge.loading import TrainingJob
from autoj.training.judge.train import train


class KillAtFour(Watch):
    def progress(self, what, n_done, n_total):
        if (what, n_done) == ("training", 4):
            os.kill(os.getpid(), signal.SIGKILL)

recipe, data, out = map(Path, sys.argv[1:])
train(TrainingJob(recipe=read_recipe(recipe), data=(data,)), out, KillAtFour())
"""


def launched(*command: str | Path) -> subprocess.CompletedProcess[str]:
    start = ["-W", "ignore", "-m", "accelerate.commands.launch", "--config_file", str(LAUNCH)]
    # A port of its own, so that two tests may run at once.
    start += ["--main_process_port", "0"]
    return subprocess.run(
        [sys.executable, *start, *map(str, command)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )


def losses(folder: Path) -> list[float]:
    return [float(row["loss"]) for row in curve_of(folder) if row["loss"]]


def test_two_processes_end_as_one_does_even_when_killed(tmp_path: Path, base: Path) -> None:
    job = job_of(
        tmp_path, base, toy.rated_rows(4), OBJECTIVE,
        batch_samples=4, micro_batch_samples=1, epochs=6, checkpoint_steps=2,
    )  # fmt: skip
    train(job, tmp_path / "alone")
    files = [tmp_path / "recipe.yaml", job.data[0]]
    out = tmp_path / "shared"
    script = tmp_path / "kill.py"
    script.write_text(KILL)
    assert launched(script, *files, out).returncode != 0
    assert not TrainingFolder(out).is_finished
    assert (out / "checkpoints" / "checkpoint-2").is_dir()

    # Checkpoints of two processes are no checkpoints of one.
    with pytest.raises(SpecMismatch, match="n_processes: was 2, is now 1"):
        train(job, out)

    done = launched("-m", "autoj", "train", files[0], "--data", files[1], "--out", out)
    assert done.returncode == 0, done.stderr
    assert "resuming from step" in done.stderr
    assert orjson.loads((out / "train.json").read_bytes())["n_processes"] == 2
    assert losses(out) == pytest.approx(losses(tmp_path / "alone"), abs=1e-4)
    assert TrainingFolder(out).is_finished
