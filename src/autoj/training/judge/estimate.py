"""Cost estimate of a training: steps, tokens, memory, and hours on this machine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autoj.errors import ConfigError
from autoj.training.judge.models import n_parameters
from autoj.training.judge.recipe import Recipe
from autoj.training.judge.samples import Sample
from autoj.training.judge.sampling import Extent
from autoj.training.judge.trainer import learn

_FLOAT_BYTES = 4
# A weight that is trained has a gradient and AdamW's two moments beside it.
_TRAINED_BYTES = 3 * _FLOAT_BYTES
# Activations kept per token and layer for the backward pass, in units of the hidden and the inner
# width: the inputs of each product and norm, and the values between them.
_KEPT_HIDDEN, _KEPT_INNER = 10, 4
# The cost of a forward pass as a share of a training step: a backward pass costs twice as much.
_READING_COST = 1 / 3
_GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """The estimated cost of a training."""

    n_steps: int
    extent: Extent
    """Its samples and tokens."""
    n_looked_tokens: int
    """Tokens read in all evaluations on the validation file."""
    n_weights: int
    n_trained: int
    memory_bytes: int
    """An upper estimate of peak memory."""
    available_bytes: int
    tokens_per_second: float | None
    """Throughput measured on one micro-batch; None where it was not measured."""

    @property
    def hours(self) -> float | None:
        """The duration at the measured throughput, evaluations included; None without one."""
        if self.tokens_per_second is None:
            return None
        n_tokens = self.extent.n_tokens + _READING_COST * self.n_looked_tokens
        return n_tokens / self.tokens_per_second / 3600


def estimate(
    model: Any, recipe: Recipe, extent: Extent, *, halved: bool, measure: bool
) -> Estimated:
    """Estimates the cost of a training.

    Args:
        model: the model, with its trainable weights chosen.
        recipe: the settings.
        extent: the number of its samples and tokens.
        halved: whether products are computed in bfloat16.
        measure: whether to run a micro-batch forward and backward to measure the throughput.
    """
    n_weights, n_trained = n_parameters(model)
    steps = n_steps(recipe, extent.n_samples)
    return Estimated(
        n_steps=steps,
        extent=extent,
        n_looked_tokens=steps // recipe.validation.every_steps * extent.n_validation_tokens,
        n_weights=n_weights,
        n_trained=n_trained,
        memory_bytes=n_weights * _FLOAT_BYTES
        + n_trained * _TRAINED_BYTES
        + _activation_bytes(model, recipe, extent),
        available_bytes=_available_bytes(model),
        tokens_per_second=_throughput(model, recipe, extent, halved=halved) if measure else None,
    )


def n_steps(recipe: Recipe, n_samples: int) -> int:
    """The number of optimiser steps."""
    return max(1, n_samples // recipe.batch_samples)


def check_memory(estimated: Estimated, recipe: Recipe) -> None:
    """Refuses a training that would run out of memory.

    Raises:
        ConfigError: the estimate exceeds the free memory; the hint names the settings to lower.
    """
    if estimated.memory_bytes > estimated.available_bytes:
        raise ConfigError(
            f"training would need about {estimated.memory_bytes / _GIB:.1f} GiB of memory, but "
            f"only {estimated.available_bytes / _GIB:.1f} GiB are free",
            hint=memory_hint(recipe),
        )


def memory_hint(recipe: Recipe) -> str:
    """Names the settings that save memory."""
    ways = [
        f"micro_batch_samples ({recipe.micro_batch_samples})",
        f"max_tokens ({recipe.max_tokens:,})",
    ]
    if recipe.update.method == "all":
        ways.append("or train fewer weights (update.method: layers or lora)")
    if not recipe.gradient_checkpointing:
        ways.append("or set gradient_checkpointing: true")
    return "Lower " + ", ".join(ways) + "."


def _activation_bytes(model: Any, recipe: Recipe, extent: Extent) -> int:
    config = model.config.get_text_config()
    batch = _largest_batch(recipe, extent.samples)
    longest = max(sequence.n_tokens for sample in batch for sequence in sample.sequences)
    n_tokens = longest * sum(len(sample.sequences) for sample in batch)
    n_layers = config.num_hidden_layers
    if recipe.update.top_layers is not None:
        n_layers = min(n_layers, recipe.update.top_layers)
    inner = getattr(config, "intermediate_size", 4 * config.hidden_size)
    per_layer = _KEPT_HIDDEN * config.hidden_size + _KEPT_INNER * inner
    if recipe.gradient_checkpointing:
        kept = n_layers * config.hidden_size + per_layer
    else:
        kept = n_layers * per_layer
    written = sum(_n_asked(sample) for sample in batch)
    # Logits, log-probabilities and their gradient.
    return int(_FLOAT_BYTES * (n_tokens * kept + 3 * written * config.vocab_size))


def _n_asked(sample: Sample) -> int:
    # Choices need the logits of a few positions; a text needs those of each of its tokens.
    n_prompt = getattr(sample.target, "n_prompt", None)
    if n_prompt is None:
        return sum(len(sequence.tokens) + 1 for sequence in sample.sequences)
    return int(sample.n_tokens - n_prompt)


def _largest_batch(recipe: Recipe, samples: Sequence[Sample]) -> list[Sample]:
    size = recipe.micro_batch_samples
    starts = range(0, len(samples), size)
    return max(
        (list(samples[start : start + size]) for start in starts),
        key=lambda batch: sum(sample.n_tokens for sample in batch),
    )


def _available_bytes(model: Any) -> int:
    # The model is in memory already, but the estimate counts it, too.
    mine = int(sum(weight.numel() * weight.element_size() for weight in model.parameters()))
    return free_bytes(model.device.type) + mine


def free_bytes(device: str | None = None) -> int:
    """The free memory of a device, "cuda" or "cpu"; None takes a GPU where there is one."""
    import psutil
    import torch

    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        return int(torch.cuda.mem_get_info()[0])
    return int(psutil.virtual_memory().available)


def _throughput(model: Any, recipe: Recipe, extent: Extent, *, halved: bool) -> float:
    """Measures the throughput, tokens per second, on a micro-batch of median length."""
    import torch

    size = recipe.micro_batch_samples
    ordered = sorted(extent.samples, key=lambda sample: sample.n_tokens)
    middle = max(0, len(ordered) // 2 - size // 2)
    batch = ordered[middle : middle + size]
    seconds = 0.0
    for _ in range(2):  # the first pass warms up
        started = time.monotonic()
        with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=halved):
            losses = [item.loss for item in learn(model, batch, recipe.objectives)]
            torch.stack(losses).mean().backward()
        seconds = time.monotonic() - started
        model.zero_grad(set_to_none=True)
    return sum(sample.n_tokens for sample in batch) / seconds
