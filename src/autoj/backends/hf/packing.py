"""Sequences of a batch in one row without padding, none of which sees another.

Each sequence is a segment of the row: its positions count from 0, and attention is computed segment
by segment, so that nothing can leak and no work goes into a mask over the whole row. All else of a
model (projections, norms, the gated network) treats tokens apart and needs no padding.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autoj.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

SEGMENTED = "autoj_segmented"
"""The name of this attention in a model's configuration."""

Segments = Sequence[tuple[int, "Tensor | None"]]
"""Per sequence, its tokens and a mask [1, 1, n, n]; None where attention is causal."""


def pack_sequences(model: Any) -> None:
    """Lets a model read its batches packed from now on.

    The model keeps it: a layer that is computed again in the backward pass must see the same.

    Args:
        model: a causal language model of transformers with PyTorch's own attention.

    Raises:
        ConfigError: its attention is another, or not full attention in each layer, or its positions
            cannot be given.
    """
    from transformers import AttentionInterface

    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or ())
    if not kinds and getattr(config, "sliding_window", None) is not None:
        kinds = {"sliding_attention"}
    named, said = config._attn_implementation, None
    if not kinds <= {"full_attention"}:
        said = "layers of other attention"
    elif named not in ("sdpa", SEGMENTED):
        said = f"{named} attention"
    elif "position_ids" not in inspect.signature(model.get_decoder().forward).parameters:
        said = "positions of its own, which cannot begin anew with each sequence"
    if said is not None:
        raise ConfigError(
            f"packing needs PyTorch's attention over whole sequences, and {type(model).__name__} "
            f"has {said}",
            hint="Set attention: sdpa in the recipe, or packing: false.",
        )
    AttentionInterface.register(SEGMENTED, _attend)
    model.set_attn_implementation(SEGMENTED)


def is_packed(model: Any) -> bool:
    """True where a model reads its batches packed."""
    return bool(model.config.get_text_config()._attn_implementation == SEGMENTED)


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    segments: Segments | None = None,
    **named: Any,
) -> tuple[Tensor, None]:
    """Attention within each segment of a row: [1, heads, t, d] to [1, t, heads, d]."""
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if segments is None:
        whole: Tensor = sdpa_attention_forward(module, query, key, value, attention_mask, **named)[
            0
        ]
        return whole, None
    found: list[Tensor] = []
    start = 0
    for length, mask in segments:
        part = [of[:, :, start : start + length] for of in (query, key, value)]
        found.append(sdpa_attention_forward(module, *part, mask, **named)[0])
        start += length
    return torch.cat(found, dim=1), None
