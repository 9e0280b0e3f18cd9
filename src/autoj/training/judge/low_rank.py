"""Fully trained weights as a LoRA adapter: the nearest product of two thin matrices.

Training some layers in full learns more than an adapter of the same layers does, but a full model
is large to ship. The change of each matrix is truncated to its largest singular values, which is
the best approximation of that rank (Eckart and Young, 1936).
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autoj.errors import ConfigError


def low_rank_adapter(
    base: Any, trained: Any, rank: int, folder: Path, metadata: Mapping[str, str]
) -> float:
    """Writes the adapter that approximates trained weights best.

    Args:
        base: a causal language model before training.
        trained: the same model after training; only the matrices of its layers are approximated,
            changes of norms are lost.
        rank: the rank of the adapter.
        folder: the folder to write, in PEFT's layout.
        metadata: the metadata of the weights file: `base_sha256`, or nothing.

    Returns:
        The share of the squared change that the adapter keeps, from 0 to 1.

    Raises:
        ConfigError: the models differ in shape, or do not differ at all.
    """
    import torch
    from safetensors.torch import save_file

    before = dict(base.named_modules())
    tensors: dict[str, Any] = {}
    kept = whole = 0.0
    names: set[str] = set()
    layers: set[int] = set()
    for name, module in trained.named_modules():
        if not isinstance(module, torch.nn.Linear) or ".layers." not in name:
            continue
        if name not in before or before[name].weight.shape != module.weight.shape:
            raise ConfigError(f"the base has no matrix {name!r} of the same shape")
        difference = (module.weight - before[name].weight).detach().float()
        if not difference.any():
            continue
        a, b, share = _factors(difference, rank)
        size = float(difference.square().sum())
        kept, whole = kept + share * size, whole + size
        tensors[f"base_model.model.{name}.lora_A.weight"] = a
        tensors[f"base_model.model.{name}.lora_B.weight"] = b
        names.add(name.rpartition(".")[2])
        layers.add(int(name.partition(".layers.")[2].partition(".")[0]))
    if not tensors:
        raise ConfigError("the trained weights are equal to those of the base")
    folder.mkdir(parents=True)
    save_file(
        tensors, folder / "adapter_model.safetensors", metadata=dict(metadata) or {"format": "pt"}
    )
    (folder / "adapter_config.json").write_text(json.dumps(_config(rank, names, layers), indent=2))
    return kept / whole


def _factors(difference: Any, rank: int) -> tuple[Any, Any, float]:
    """Factors [rank, n_in] and [n_out, rank] of a matrix, and the share of the squares kept."""
    import torch

    u, s, v = torch.linalg.svd(difference, full_matrices=False)
    n_kept = min(rank, len(s))
    root = s[:n_kept].sqrt()
    # Both factors get the root of the singular values, so that neither leaves float16's range. All
    # matrices share one rank, so the factors of a matrix with fewer values are padded with zeros.
    a, b = difference.new_zeros(rank, len(v[0])), difference.new_zeros(len(u), rank)
    a[:n_kept], b[:, :n_kept] = root[:, None] * v[:n_kept], u[:, :n_kept] * root
    share = float(s[:rank].square().sum() / s.square().sum())
    return a.half().contiguous(), b.half().contiguous(), share


def _config(rank: int, names: set[str], layers: set[int]) -> dict[str, Any]:
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": rank,
        "lora_alpha": rank,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": sorted(names),
        "layers_to_transform": sorted(layers),
        "layers_pattern": "layers",
        "inference_mode": True,
    }
