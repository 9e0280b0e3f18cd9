"""A head is put into the weights file of the adapter that it was fitted to."""

from __future__ import annotations

from pathlib import Path

from safetensors import safe_open

from autoj.backends._heads import Head
from autoj.jsonl import sha256_of


def put_head(adapter: Path, prefix: str, head: Head) -> str:
    """Puts a head into an adapter's weights file, in place of one of its kind that it has.

    Args:
        adapter: the weights file.
        prefix: what the names of its tensors begin with, one of `PREFIXES`.
        head: the head.

    Returns:
        The card's new `adapter_revision`.
    """
    from safetensors.torch import load_file, save_file
    from torch import tensor

    with safe_open(adapter, framework="pt") as opened:
        metadata: dict[str, str] = opened.metadata()
    tensors = {
        f"{prefix}weight": tensor(head.weight.tolist()),
        f"{prefix}bias": tensor([head.bias]),
        f"{prefix}sharpness": tensor([head.sharpness]),
    }
    draft = adapter.with_name(f".{adapter.name}.draft")
    save_file(load_file(adapter) | tensors, draft, metadata)
    draft.chmod(adapter.stat().st_mode)  # the library lets nobody else read it
    draft.rename(adapter)
    return f"sha256:{sha256_of(adapter)}"
