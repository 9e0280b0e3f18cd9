"""A KV cache for generating a batch, which grows in place.

transformers' own cache allocates a new tensor of all keys and values for each token, which for long
batches moves more memory than the model's weights. Here space for the generated tokens is allocated
once, each token is written into it, and attention reads a view of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

from autoj.backends.hf.scoring import decoder_of

if TYPE_CHECKING:
    from torch import Tensor


def cache_argument(model: Any) -> str:
    """The name of a model's KV cache among its arguments, which transformers changed in 5.24."""
    names = signature(decoder_of(model).forward).parameters
    return "cache" if "cache" in names else "past_key_values"


def growing_cache(model: Any, room_tokens: int) -> Any:
    """A KV cache for `generate`, whose rows can be selected when some have ended.

    Args:
        model: a causal language model of transformers, or PEFT's wrapping of one.
        room_tokens: the approximate number of tokens to generate; with more it grows.

    Returns:
        None where a layer of the model does not keep the keys and values of all tokens.
    """
    from transformers.cache_utils import DynamicCache, DynamicLayer

    class GrowingLayer(DynamicLayer):  # type: ignore[misc]
        """All keys and values of a layer, [n_rows, n_heads, n_tokens, width] each."""

        _room: tuple[Tensor, Tensor] | None = None

        def lazy_initialization(self, key_states: Tensor, *_: Any) -> None:
            self.dtype, self.device = key_states.dtype, key_states.device
            self.keys = self.values = key_states[..., :0, :]
            self.is_initialized = True

        def update(
            self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any
        ) -> tuple[Tensor, Tensor]:
            if not self.is_initialized:
                self.lazy_initialization(key_states)
            start = self.keys.shape[-2]
            end = start + key_states.shape[-2]
            if self._room is None or self._room[0].shape[-2] < end:
                self._room = (
                    _with_room(self.keys, key_states, end + room_tokens),
                    _with_room(self.values, value_states, end + room_tokens),
                )
            keys, values = self._room
            keys[..., start:end, :] = key_states
            values[..., start:end, :] = value_states
            self.keys, self.values = keys[..., :end, :], values[..., :end, :]
            return self.keys, self.values

        def batch_select_indices(self, indices: Tensor) -> None:
            super().batch_select_indices(indices)
            self._room = None

        def reset(self) -> None:
            super().reset()
            self._room = None

    cache = DynamicCache(config=model.config.get_text_config())
    if not cache.layers or {type(layer) for layer in cache.layers} != {DynamicLayer}:
        return None
    cache.layers = [GrowingLayer() for _ in cache.layers]
    return cache


def read_one_by_one(model: Any, cache: Any, rows: Sequence[Sequence[int]]) -> None:
    """Prefills an empty cache with a batch row by row, all but the last token of each row.

    On the CPU a row is enough work for all cores. Alone it needs neither padding nor a mask, with
    which attention would also compute the positions that causality excludes.

    Args:
        model: as of `growing_cache`.
        cache: from `growing_cache`; afterwards padded on the left, to be continued by the last
            tokens.
        rows: tokens, at least one each.
    """
    import torch
    from transformers.cache_utils import DynamicCache

    decoder, named = decoder_of(model), cache_argument(model)
    width = max(map(len, rows)) - 1
    for at, tokens in enumerate(rows):
        n_tokens = len(tokens) - 1
        if n_tokens == 0:
            continue
        own = DynamicCache(config=model.config.get_text_config())
        ids = torch.tensor([tokens[:-1]], device=model.get_input_embeddings().weight.device)
        with torch.inference_mode():
            decoder(input_ids=ids, use_cache=True, **{named: own})
            for layer, read in zip(cache.layers, own.layers, strict=True):
                if not layer.is_initialized:
                    # Padding is masked, but must still be finite.
                    layer.update(_zeros(read.keys, len(rows), width),
                                 _zeros(read.values, len(rows), width))  # fmt: skip
                layer.keys[at, :, width - n_tokens :] = read.keys[0]
                layer.values[at, :, width - n_tokens :] = read.values[0]


def _zeros(like: Tensor, n_rows: int, n_tokens: int) -> Tensor:
    return like.new_zeros((n_rows, like.shape[1], n_tokens, like.shape[-1]))


def _with_room(kept: Tensor, new: Tensor, n_tokens: int) -> Tensor:
    """Space for `n_tokens`, in the shape of the new tokens, beginning with the kept ones."""
    room = new.new_empty((*new.shape[:-2], n_tokens, new.shape[-1]))
    if n_kept := kept.shape[-2]:
        room[..., :n_kept, :] = kept
    return room
