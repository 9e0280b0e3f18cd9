"""The speed of a training, and the share of a processor's peak that it reaches (MFU)."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from autoj.training.judge.launch import this_launch
from autoj.training.judge.recipe import Recipe, Shape
from autoj.training.judge.samples import Sample, n_asked
from autoj.training.judge.scale import flops_per_token

# Matrices that keep a processor busy and are multiplied in a fraction of a second.
_SIDES = {"cuda": 8192, "cpu": 512}
_REPEATS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The most floating point operations per second of one processor."""

    flops_per_second: float
    is_measured: bool
    """True where a matrix product was timed; False where the recipe states it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """The speed of a training, all its processes together."""

    tokens_per_second: float
    peak: Peak | None
    peak_share: float | None
    """Operations of the model over the peak of all processors, recomputation not counted; None for
    a model whose dimensions are not known."""


def best_seconds(device: str, do: Callable[[], Any], repeats: int = _REPEATS) -> float:
    """Times a call several times on a device, "cuda" or "cpu", and returns the shortest."""
    import torch

    def wait() -> None:
        if device == "cuda":
            torch.cuda.synchronize()

    seconds: list[float] = []
    for _ in range(repeats):
        wait()
        started = time.perf_counter()
        do()
        wait()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


@contextmanager
def training_precision(recipe: Recipe, device: str) -> Iterator[None]:
    """Products of float32 are as in the training, which switches TF32 on when it begins."""
    import torch

    # The older `allow_tf32` cannot be restored: once set, it overrides what the training sets.
    products = torch.backends.cuda.matmul
    before = products.fp32_precision
    if recipe.tf32 and device == "cuda":
        products.fp32_precision = "tf32"
    try:
        yield
    finally:
        products.fp32_precision = before


def product_flops(device: str, dtype: Any, side: int | None = None) -> float:
    """Measures operations per second of products of square matrices.

    Args:
        device: "cuda" or "cpu".
        dtype: the precision, of torch.
        side: rows and columns; None takes what keeps the device busy.
    """
    import torch

    n = side or _SIDES[device]
    left = torch.randn(n, n, device=device).to(dtype)
    with torch.no_grad():
        return 2 * n**3 / best_seconds(device, lambda: left @ left)


def find_peak(recipe: Recipe, device: str, *, halved: bool) -> Peak:
    """The processor's peak as the recipe states it, else as a matrix product shows it now.

    Args:
        recipe: may state it.
        device: "cuda" or "cpu".
        halved: whether products are computed in bfloat16.
    """
    import torch

    if recipe.peak_tflops is not None:
        return Peak(flops_per_second=1e12 * recipe.peak_tflops, is_measured=False)
    with training_precision(recipe, device):
        found = product_flops(device, torch.bfloat16 if halved else torch.float32)
    return Peak(flops_per_second=found, is_measured=True)


def _now() -> float:
    """The time when a GPU has done all that it was given."""
    import torch

    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.monotonic()


class Stopwatch:
    """Times the optimiser steps of a training, without what comes between two."""

    def __init__(self, recipe: Recipe, samples: Sequence[Sample]) -> None:
        self._recipe, self._samples = recipe, samples
        self._began = 0.0
        self._steps: list[tuple[int, float]] = []

    def begin(self) -> None:
        """A step begins."""
        self._began = _now()

    def end(self, step: int) -> None:
        """A step has ended; they count from 1."""
        self._steps.append((step, _now() - self._began))

    def speed(self, shape: Shape | None, peak: Peak) -> Speed | None:
        """The speed of all steps but the first, which warms up; None without a second one."""
        timed = self._steps[1:]
        if not timed:
            return None
        size = self._recipe.batch_samples
        seen = [
            each for step, _ in timed for each in self._samples[(step - 1) * size : step * size]
        ]
        return speed_of(self._recipe, seen, sum(took for _, took in timed), shape, peak)


def speed_of(
    recipe: Recipe, samples: Sequence[Sample], seconds: float, shape: Shape | None, peak: Peak
) -> Speed:
    """The speed of training on samples in some seconds.

    Args:
        recipe: states what is trained.
        samples: what was trained on, by all processes.
        seconds: how long it took.
        shape: the model's; None gives no share of the peak.
        peak: that of one processor.
    """
    n_tokens = sum(sample.n_tokens for sample in samples)
    if shape is None:
        return Speed(tokens_per_second=n_tokens / seconds, peak=None, peak_share=None)
    lengths = [sequence.n_tokens for sample in samples for sequence in sample.sequences]
    flops = n_tokens * flops_per_token(
        recipe,
        shape,
        # Attention grows with a sequence's length, so long ones count more than their number.
        sum(length**2 for length in lengths) / n_tokens,
        projected=sum(map(n_asked, samples)) / n_tokens,
        recomputed=False,
    )
    all_flops = peak.flops_per_second * this_launch().n_processes
    return Speed(
        tokens_per_second=n_tokens / seconds, peak=peak, peak_share=flops / seconds / all_flops
    )
