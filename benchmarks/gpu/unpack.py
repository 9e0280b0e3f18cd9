"""A GGUF file of a Qwen2 model as a folder of transformers, its weights in bfloat16.

transformers reads GGUF files too, on one core and in float32; this takes seconds where a training
is to take minutes. The folder has no tokenizer: samples are tokenised before.

    python -m benchmarks.gpu.unpack qwen-0.5b.gguf weights
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from autoj.errors import DataError
from autoj.jsonl import sha256_of

SOURCE_FILE = "source.json"
"""The file of the folder that has the sha256 of the GGUF file."""

_NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
_WHOLE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_FIELDS = {
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "rope_theta": "rope.freq_base",
    "max_position_embeddings": "context_length",
}
# Rows of the embeddings unpacked at once: all of them in float32 would be a gigabyte.
_N_ROWS = 8192


def name_of(tensor: str) -> str:
    """Translates a tensor's name in a GGUF file to its name in transformers.

    >>> name_of("blk.3.attn_q.bias")
    'model.layers.3.self_attn.q_proj.bias'
    """
    if tensor in _WHOLE:
        return _WHOLE[tensor]
    _, layer, part, kind = tensor.split(".")
    return f"model.layers.{layer}.{_NAMES[part]}.{kind}"


def unpack(weights: Path, folder: Path, n_threads: int) -> int:
    """Writes the folder of a model.

    Args:
        weights: a GGUF file of a Qwen2 model.
        folder: the folder to write.
        n_threads: tensors unpacked at once.

    Returns:
        The number of tensors.

    Raises:
        DataError: it is not a Qwen2 model.
    """
    import gguf
    from safetensors.torch import save_file

    reader = gguf.GGUFReader(weights)
    kind = reader.get_field("general.architecture").contents()
    if kind != "qwen2":
        raise DataError(f"holds a model of {kind!r}, expected 'qwen2'", path=weights)
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(n_threads) as pool:
        names = [name_of(tensor.name) for tensor in reader.tensors]
        tensors = dict(zip(names, pool.map(_unpacked, reader.tensors), strict=True))
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "hidden_act": "silu",
        "torch_dtype": "bfloat16",
        "vocab_size": tensors["model.embed_tokens.weight"].shape[0],
        "tie_word_embeddings": "lm_head.weight" not in tensors,
        **{name: reader.get_field(f"qwen2.{key}").contents() for name, key in _FIELDS.items()},
    }
    for name in ("bos", "eos"):
        field = reader.get_field(f"tokenizer.ggml.{name}_token_id")
        if field is not None:
            config[f"{name}_token_id"] = field.contents()
    (folder / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    source = {"sha256": sha256_of(weights)}
    (folder / SOURCE_FILE).write_text(json.dumps(source), encoding="utf-8")
    return len(tensors)


def base_sha256(folder: Path) -> str:
    """The digest (hex) that adapters name their base by: of the GGUF file, else of the weights."""
    source = folder / SOURCE_FILE
    if source.is_file():
        return str(json.loads(source.read_text(encoding="utf-8"))["sha256"])
    return sha256_of(folder / "model.safetensors")


def _unpacked(tensor: Any) -> Any:
    import gguf
    import numpy as np
    import torch

    if tensor.tensor_type == gguf.GGMLQuantizationType.F32:
        return torch.from_numpy(np.array(tensor.data)).to(torch.bfloat16)
    parts = [
        torch.from_numpy(
            gguf.dequantize(tensor.data[at : at + _N_ROWS], tensor.tensor_type)
        ).to(torch.bfloat16)
        for at in range(0, len(tensor.data), _N_ROWS)
    ]  # fmt: skip
    return torch.cat(parts)


def main() -> None:
    """Unpack a file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("weights", type=Path, help="a GGUF file")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    given = parser.parse_args()
    print(f"{unpack(given.weights, given.folder, given.threads)} tensors in {given.folder}")


if __name__ == "__main__":
    main()
