"""LoRA on frozen weights in bfloat16, with master copies of the factors in float32.

PEFT keeps the factors in float32 and casts around each product; here all products of a layer are in
bfloat16, and the optimiser changes the master copies, whose small steps bfloat16 would round away.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from autoj.backends._adapter_config import CONFIG_FILE
from autoj.backends._adapters import BASE_FIELD, WEIGHTS_FILE

_PARTS = ("self_attn", "mlp")


class LoraLinear(nn.Module):  # type: ignore[misc]
    """A frozen matrix with two trained factors beside it."""

    def __init__(self, base: nn.Linear, rank: int, alpha: float) -> None:
        """Takes the weights of a matrix over.

        Args:
            base: the matrix.
            rank: the rank of the factors.
            alpha: their product is multiplied by `alpha / rank`.
        """
        super().__init__()
        self.weight = nn.Parameter(base.weight.data, requires_grad=False)
        bias = None if base.bias is None else nn.Parameter(base.bias.data, requires_grad=False)
        self.bias = bias
        n_out, n_in = base.weight.shape
        device, dtype = base.weight.device, base.weight.dtype
        self.master_a = torch.empty(rank, n_in, device=device, dtype=torch.float32)
        nn.init.kaiming_uniform_(self.master_a, a=math.sqrt(5))
        self.master_b = torch.zeros(n_out, rank, device=device, dtype=torch.float32)
        self.lora_a = nn.Parameter(self.master_a.to(dtype))
        self.lora_b = nn.Parameter(self.master_b.to(dtype))
        self.scale = alpha / rank
        self.is_merged = False

    def forward(self, x: Tensor) -> Tensor:
        """Multiplies [..., n_in] to [..., n_out]."""
        flat = x.reshape(-1, x.shape[-1])
        y = functional.linear(flat, self.weight, self.bias)
        if not self.is_merged:
            y = torch.addmm(y, flat @ self.lora_a.t(), self.lora_b.t(), alpha=self.scale)
        return y.view(*x.shape[:-1], -1)

    def merge(self) -> None:
        """Adds the factors to the matrix: one product instead of three, for scoring."""
        change = self.scale * (self.master_b @ self.master_a)
        self.weight.data = (self.weight.float() + change).to(self.weight.dtype)
        self.is_merged = True


def add_lora(model: Any, rank: int, alpha: float) -> dict[str, LoraLinear]:
    """Freezes a model and gives each matrix of its layers an adapter.

    Returns:
        The matrices by their path in the model, such as `model.layers.0.mlp.up_proj`.
    """
    for parameter in model.parameters():
        parameter.requires_grad = False
    modules: dict[str, LoraLinear] = {}
    for number, layer in enumerate(model.get_decoder().layers):
        for part in _PARTS:
            owner = getattr(layer, part)
            for name, child in list(owner.named_children()):
                if isinstance(child, nn.Linear):
                    module = LoraLinear(child, rank, alpha)
                    setattr(owner, name, module)
                    modules[f"model.layers.{number}.{part}.{name}"] = module
    return modules


def save_adapter(
    modules: Mapping[str, LoraLinear], folder: Path, *, rank: int, alpha: float, base_sha256: str
) -> None:
    """Writes the factors in PEFT's layout, in float16.

    Args:
        modules: the trained matrices by their path.
        folder: the folder to write.
        rank: the rank of the factors.
        alpha: as in `LoraLinear`.
        base_sha256: hex digest of the file of the base's weights.
    """
    from safetensors.torch import save_file

    tensors: dict[str, Tensor] = {}
    for name, module in modules.items():
        for factor, master in (("A", module.master_a), ("B", module.master_b)):
            key = f"base_model.model.{name}.lora_{factor}.weight"
            tensors[key] = master.to(torch.float16).cpu().contiguous()
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / WEIGHTS_FILE, metadata={BASE_FIELD: base_sha256})
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": rank,
        "lora_alpha": alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": sorted({name.rpartition(".")[2] for name in modules}),
        "inference_mode": True,
    }
    text = json.dumps(config, indent=2, sort_keys=True)
    (folder / CONFIG_FILE).write_text(text, encoding="utf-8")
