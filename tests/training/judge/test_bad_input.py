"""Bases that do not fit, checkpoints of other launches, and disks that are full in the middle."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from autoj.errors import BackendError, ConfigError, SpecMismatch, StorageFull
from autoj.training.judge import train as route
from autoj.training.judge.folder import TrainingFolder, last_checkpoint, open_folder
from autoj.training.judge.loading import TrainingJob
from autoj.training.judge.train import train
from tests.training import toy
from tests.training.judge.test_train import OBJECTIVE, curve_of, job_of

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_drawing")]


def with_template(base: Path, folder: Path, template: str) -> Path:
    """The toy with a chat template of its own, which its card takes."""
    shutil.copytree(base, folder)
    place = folder / "tokenizer_config.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "chat_template": template}))
    card = yaml.safe_load((folder / "judge.yaml").read_text())
    (folder / "judge.yaml").write_text(yaml.safe_dump({**card, "wrapper": "template"}))
    return folder


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (
            "{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content }}{% endif %}"
            "{% endfor %}",
            "leaves out the user's message",
        ),
        (
            "{% for m in messages %}{% if m.role != 'human' %}"
            "{{ raise_exception('only human and gpt') }}{% endif %}{% endfor %}",
            "cannot render these turns: only human and gpt",
        ),
    ],
)
def test_a_base_whose_template_lacks_a_role_is_refused(
    tmp_path: Path, base: Path, template: str, said: str
) -> None:
    start = with_template(base, tmp_path / "base", template)
    job = job_of(tmp_path, start, toy.rated_rows(2), OBJECTIVE, epochs=1)
    with pytest.raises(ConfigError, match=said) as told:
        train(job, tmp_path / "out")
    assert told.value.hint is not None
    assert "choose its wrapper" in told.value.hint
    assert not TrainingFolder(tmp_path / "out").checkpoints.exists()


def test_a_tokenizer_of_another_vocabulary_is_refused(tmp_path: Path, base: Path) -> None:
    import transformers

    start = Path(shutil.copytree(base, tmp_path / "base"))
    model = transformers.AutoModelForCausalLM.from_pretrained(start)
    model.resize_token_embeddings(300)
    model.save_pretrained(start)
    job = job_of(tmp_path, start, toy.rated_rows(2), OBJECTIVE, epochs=1)
    with pytest.raises(ConfigError, match=r"the token \d+, and the model's embedding has 300 rows"):
        train(job, tmp_path / "out")


def test_checkpoints_of_another_number_of_processes_are_refused(tmp_path: Path, base: Path) -> None:
    job = job_of(tmp_path, base, toy.rated_rows(2), OBJECTIVE, epochs=1)
    out = tmp_path / "out"
    settings = (job.recipe, {"data": [], "validation": []}, None, {})
    with open_folder(out, *settings, n_processes=2):
        (out / "checkpoints" / "checkpoint-1").mkdir(parents=True)
        (out / "checkpoints" / "checkpoint-1" / "rng_state_0.pth").touch()
    with (
        pytest.raises(SpecMismatch, match="n_processes: was 2, is now 4"),
        open_folder(out, *settings, n_processes=4),
    ):
        pass
    assert (out / "checkpoints" / "checkpoint-1" / "rng_state_0.pth").is_file()


def no_room(kind: str) -> Exception:
    """What a writer says of a full disk: each as it was seen on one of 1 MB."""
    from safetensors import SafetensorError

    if kind == "weights":
        said = "Error while serializing: I/O error: No space left on device (os error 28)"
        return SafetensorError(said)
    if kind == "optimiser":
        return RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 576 vs 534")
    return OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture(scope="module")
def three_steps(
    base: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[TrainingJob, list[str]]:
    """A training that saves after each of its three steps, and its losses on a disk with room."""
    folder = tmp_path_factory.mktemp("whole")
    job = job_of(
        folder, base, toy.rated_rows(4), OBJECTIVE,
        epochs=3, batch_samples=4, micro_batch_samples=4, checkpoint_steps=1, keep_checkpoints=9,
    )  # fmt: skip
    train(job, folder / "out")
    return job, losses_of(folder / "out")


def losses_of(folder: Path) -> list[str]:
    return [row["loss"] for row in curve_of(folder)]


@pytest.mark.parametrize("kind", ["weights", "optimiser", "state"])
def test_a_disk_that_fills_while_saving_keeps_the_checkpoint_before(
    tmp_path: Path,
    three_steps: tuple[TrainingJob, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    import torch
    from transformers import TrainerState
    from transformers import modeling_utils as models

    job, losses = three_steps
    owner, name = {
        "weights": (models, "safe_save_file"),
        "optimiser": (torch, "save"),
        "state": (TrainerState, "save_to_json"),
    }[kind]
    sound: Any = getattr(owner, name)

    def fills(*given: Any, **named: Any) -> Any:
        if "checkpoint-2" in " ".join(map(str, [*given, *named.values()])):
            raise no_room(kind)
        return sound(*given, **named)

    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=4096))
    with monkeypatch.context() as full:
        full.setattr(owner, name, fills)
        with pytest.raises(StorageFull, match="the disk is full") as told:
            train(job, tmp_path / "out")
    assert str(tmp_path / "out") in str(told.value)
    folder = TrainingFolder(tmp_path / "out")
    last = last_checkpoint(folder.checkpoints)
    assert last is not None
    assert last.name == "checkpoint-1"
    assert not folder.is_finished
    # With room again it goes on, and ends as if nothing had been.
    assert train(job, tmp_path / "out").resumed_at == 1
    assert losses_of(tmp_path / "out") == losses


def test_a_writer_that_fails_beside_free_room_is_no_full_disk(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(tmp_path, base, toy.rated_rows(1), OBJECTIVE)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1 << 40))
    with (
        pytest.raises(BackendError, match="training failed"),
        route._seam(job.recipe, tmp_path),
    ):
        raise no_room("optimiser")
