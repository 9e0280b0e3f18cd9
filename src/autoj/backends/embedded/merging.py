"""Maps an adapter's modules to the matrices of a GGUF file, with the file's order of rows.

Training uses transformers' names and layout, a GGUF file its own. They differ in one thing that no
shape shows: the rows of the query and key projections. Rotary embeddings rotate pairs of a head's
dimensions; transformers pairs the first half of a head with its second, GGUF's Llama models pair
neighbours, so their rows were reordered when the file was made, and the adapter's must be, too.
Without that the merged model would still generate fluent text.

**Source:** the layout is that of llama.cpp's converter; transformers' reader reverses it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from autoj.backends._adapter_config import GET_AGAIN
from autoj.backends._adapters import Adapter, LoraModule
from autoj.errors import ConfigError

# Of the two, only Llama's files have the rows of queries and keys in another order.
_REORDERED = "llama"
_ARCHITECTURES = (_REORDERED, "qwen2")
_MODULE = re.compile(r"model\.layers\.(\d+)\.(.+)")
_PARTS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_HEADS = {
    "self_attn.q_proj": "attention.head_count",
    "self_attn.k_proj": "attention.head_count_kv",
}


def place_modules(
    adapter: Adapter, shapes: Mapping[str, tuple[int, ...]], field: Callable[[str], Any]
) -> dict[str, LoraModule]:
    """The adapter's change to each tensor of a GGUF file, in the file's order of rows.

    Args:
        adapter: the adapter.
        shapes: the file's tensors by name: (n_out, n_in) of a matrix.
        field: returns a field of the file by name.

    Raises:
        ConfigError: the file's architecture is another one, a module of the adapter has no matrix
            in the file or one of another shape, or a target of the adapter has no module.
        KeyError: the file lacks a field.
    """
    where = f"judge {adapter.judge!r}: {adapter.path}"
    if (architecture := field("general.architecture")) not in _ARCHITECTURES:
        raise ConfigError(
            f"judge {adapter.judge!r}: adapters are merged into models of the architectures "
            f"{' and '.join(_ARCHITECTURES)}, the base's is {architecture!r}",
            hint="Merge it with PEFT and name the merged model in the card.",
        )
    _check_complete(adapter, field(f"{architecture}.block_count"), shapes, where)
    placed: dict[str, LoraModule] = {}
    for name, module in adapter.modules.items():
        tensor, part = _tensor_name(name, shapes, where)
        if shapes[tensor] != module.shape:
            raise ConfigError(
                f"{where}: {name!r} is for a matrix of shape {module.shape}, "
                f"the base's {tensor!r} has {tuple(shapes[tensor])}",
                hint="It was trained on another model; name that one in the card.",
            )
        if architecture == _REORDERED and part in _HEADS:
            rows = llama_rows(module.shape[0], field(f"{architecture}.{_HEADS[part]}"))
            module = replace(module, b=module.b[rows])
        placed[tensor] = module
    return placed


def llama_rows(n_rows: int, n_heads: int) -> npt.NDArray[np.intp]:
    """The order of the rows of a query or key projection in a GGUF Llama file.

    Args:
        n_rows: rows of the projection.
        n_heads: heads of the queries or of the keys.

    Returns:
        [n_rows]: row i of the file is row `result[i]` of transformers.

    >>> llama_rows(8, 2).tolist()
    [0, 2, 1, 3, 4, 6, 5, 7]
    """
    return np.arange(n_rows).reshape(n_heads, 2, -1).swapaxes(1, 2).reshape(n_rows)


def _tensor_name(name: str, shapes: Mapping[str, Any], where: str) -> tuple[str, str]:
    found = _MODULE.fullmatch(name)
    if found is not None and found[2] in _PARTS:
        tensor = f"blk.{found[1]}.{_PARTS[found[2]]}.weight"
        if tensor in shapes:
            return tensor, found[2]
    raise ConfigError(
        f"{where}: the base has no matrix for {name!r}",
        hint=f"Adapters can be for {', '.join(_PARTS)} of the base's layers.",
    )


def _check_complete(adapter: Adapter, n_layers: int, shapes: Mapping[str, Any], where: str) -> None:
    """Checks that no targeted tensor is missing, which would otherwise go unnoticed."""
    for layer in range(n_layers):
        for part, tensor in _PARTS.items():
            name = f"model.layers.{layer}.{part}"
            expected = adapter.config.targets(name) and f"blk.{layer}.{tensor}.weight" in shapes
            if expected and name not in adapter.modules:
                raise ConfigError(
                    f"{where}: tensors are missing for {name!r}, which the adapter targets",
                    hint=GET_AGAIN,
                )
