"""The roofline: the maximum speed of a model on a machine, by its bandwidth and rate.

Both are measured on the machine, so that a figure beside the roofline tells of the engine alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autoj.training.judge.speed import best_seconds, product_flops

__all__ = ["Machine", "Shape", "measure", "read_seconds", "shape_of", "write_seconds"]

_COPIED_BYTES = 2**31
_MATRIX_SIDE = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The measured maximum performance of a device."""

    bytes_per_second: float
    """Bandwidth, read and written."""
    flops: float
    """Operations per second, of matrix products in bfloat16."""


def measure(device: str, n_bytes: int = _COPIED_BYTES, side: int = _MATRIX_SIDE) -> Machine:
    """A device's bandwidth by copying memory, and its rate by matrix products."""
    import torch

    source = torch.zeros(n_bytes, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    copying = best_seconds(device, lambda: target.copy_(source))
    flops = product_flops(device, torch.bfloat16, side)
    return Machine(bytes_per_second=2 * n_bytes / copying, flops=flops)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The memory traffic and the operations of a model."""

    n_weights: int
    """The weights that each token is multiplied by."""
    weight_bytes: int
    cache_bytes: int
    """The KV cache of one token."""
    attention_flops: int
    """Per pair of tokens."""


def shape_of(model: Any) -> Shape:
    """The shape of a causal language model of transformers."""
    config = model.config
    n_weights = sum(weights.numel() for weights in model.parameters())
    n_weights -= model.get_input_embeddings().weight.numel()  # looked up, not multiplied
    width = config.hidden_size // config.num_attention_heads
    shared = 2 * config.num_hidden_layers * config.num_key_value_heads * width
    return Shape(
        n_weights=n_weights,
        weight_bytes=n_weights * model.dtype.itemsize,
        cache_bytes=shared * model.dtype.itemsize,
        attention_flops=4 * config.num_hidden_layers * config.hidden_size,
    )


def read_seconds(shape: Shape, machine: Machine, n_tokens: int) -> float:
    """The minimum time to read a prompt, bound by computation."""
    flops = 2 * shape.n_weights * n_tokens + shape.attention_flops * n_tokens**2 / 2
    return flops / machine.flops


def write_seconds(
    shape: Shape, machine: Machine, n_rows: int, prompt_tokens: int, new_tokens: int
) -> float:
    """The minimum time to write a batch of texts, bound by bandwidth or computation."""
    kept = prompt_tokens + new_tokens / 2
    moved = (shape.weight_bytes + n_rows * kept * shape.cache_bytes) / machine.bytes_per_second
    computed = 2 * shape.n_weights * n_rows / machine.flops
    return new_tokens * max(moved, computed)
