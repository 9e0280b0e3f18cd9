"""Heads in an adapter's file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from autoj.backends._choice_heads import PREFIX, QUESTIONS
from autoj.jsonl import sha256_of
from benchmarks.choice_heads.reading import Asked, Floats


def save_head(asked: Asked, weight: Floats, bias: Floats, file: Path) -> None:
    """Writes a head to a file of its own.

    Args:
        asked: the question that it is for.
        weight: [n_moves, width]
        bias: [n_moves]
        file: the safetensors file.
    """
    assert weight.shape[0] == bias.shape[0] == len(QUESTIONS[asked].moves)
    tensors = {
        f"{PREFIX}{asked}.weight": weight.astype(np.float32),
        f"{PREFIX}{asked}.bias": bias.astype(np.float32),
    }
    save_file(tensors, file)


def add_heads(adapter: Path, heads: list[Path]) -> str:
    """Puts heads into an adapter's weights file, in place of those that it has.

    Args:
        adapter: the weights file.
        heads: the output of `save_head`.

    Returns:
        The card's new `adapter_revision`.
    """
    with safe_open(adapter, framework="pt") as opened:
        metadata: dict[str, str] = opened.metadata()
        names: list[str] = opened.keys()
        tensors = {name: opened.get_tensor(name) for name in names if not name.startswith(PREFIX)}
    for head in heads:
        with safe_open(head, framework="pt") as opened:
            names = opened.keys()
            tensors |= {name: opened.get_tensor(name) for name in names}
    from safetensors.torch import save_file as save_tensors

    draft = adapter.with_name(f".{adapter.name}.draft")
    save_tensors(tensors, draft, metadata)
    draft.chmod(adapter.stat().st_mode)  # the library lets nobody else read it
    draft.rename(adapter)
    return f"sha256:{sha256_of(adapter)}"
