"""Training on a GPU: packed as padded, fused as in chunks, and the memory that was estimated."""

from __future__ import annotations

import copy
import importlib.util
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")

import torch

from autoj.backends.hf.packing import pack_sequences
from autoj.runs.watch import SILENT
from autoj.training.judge import losses as batched
from autoj.training.judge.estimate import estimate
from autoj.training.judge.learning import learn
from autoj.training.judge.loading import make_ready, read_data
from autoj.training.judge.models import add_score_head
from autoj.training.judge.sampling import counted_extent
from autoj.training.judge.train import train
from tests.training import toy
from tests.training.judge.test_batched_losses import OBJECTIVES, batch
from tests.training.judge.test_train import job_of

from ...tiny_llama import make_model

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def model() -> Any:
    made = make_model("Llama")
    add_score_head(made)
    return made.to("cuda")


def losses_and_gradients(model: Any) -> tuple[Any, list[Any]]:
    model.zero_grad()
    losses, _ = learn(model, batch(), OBJECTIVES)
    losses.sum().backward()
    return losses.detach(), [one.grad.clone() for one in model.parameters()]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_packed_is_padded(model: Any, dtype: str) -> None:
    model = model.to(getattr(torch, dtype))
    model.score.float()
    packed = copy.deepcopy(model)
    pack_sequences(packed)
    tolerance = 1e-3 if dtype == "float32" else 0.1
    for ours, theirs in zip(losses_and_gradients(packed), losses_and_gradients(model), strict=True):
        torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=tolerance)


@pytest.mark.skipif(
    importlib.util.find_spec("liger_kernel") is None, reason="Liger is not installed"
)
def test_the_fused_loss_is_that_in_chunks(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert batched.fused_kernel(model, "cuda") is not None
    fused = losses_and_gradients(model)
    monkeypatch.setattr(batched, "fused_kernel", lambda *_: None)
    for ours, theirs in zip(fused, losses_and_gradients(model), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-2, rtol=1e-2)


def test_the_memory_is_what_was_estimated(tmp_path: Path) -> None:
    base = toy.make_model(tmp_path / "base", hidden_size=1024, intermediate_size=4096)
    job = job_of(
        tmp_path, base, toy.rated_rows(64), {"kind": "judgment", "protocol": "single"},
        epochs=1, batch_samples=64, micro_batch_samples=64, precision="auto",
    )  # fmt: skip
    made = make_ready(job, read_data(job), SILENT)
    expected = estimate(
        made.model, job.recipe, counted_extent(made.data, job.recipe), halved=True, measure=False
    ).memory_bytes
    del made
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    train(job, tmp_path / "out")
    assert expected == pytest.approx(torch.cuda.max_memory_allocated(), rel=0.15)
