"""A Llama of two tiny layers as a GGUF file, and adapters for it in PEFT's layout."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

CHAT_MARKS = ("<|im_start|>", "<|im_end|>")
N_LAYERS, HIDDEN, HEADS, KV_HEADS, FORWARD, VOCABULARY = 2, 64, 4, 2, 96, 256
KV = HIDDEN // HEADS * KV_HEADS
SHAPES = {
    "self_attn.q_proj": (HIDDEN, HIDDEN),
    "self_attn.k_proj": (KV, HIDDEN),
    "self_attn.v_proj": (KV, HIDDEN),
    "self_attn.o_proj": (HIDDEN, HIDDEN),
    "mlp.gate_proj": (FORWARD, HIDDEN),
    "mlp.up_proj": (FORWARD, HIDDEN),
    "mlp.down_proj": (HIDDEN, FORWARD),
}
TENSORS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
MODULES = {
    f"model.layers.{layer}.{part}": shape
    for layer in range(N_LAYERS)
    for part, shape in SHAPES.items()
}
RANK, ALPHA = 2, 5.0


def random_weights(seed: int = 0) -> dict[str, Any]:
    """A model's matrices and norms under transformers' names, small and exact in float16."""
    generator = np.random.default_rng(seed)

    def drawn(*shape: int) -> Any:
        return generator.normal(scale=0.1, size=shape).astype(np.float16).astype(np.float32)

    weights = {name: drawn(*shape) for name, shape in MODULES.items()}
    weights["model.embed_tokens"] = drawn(VOCABULARY, HIDDEN)
    for layer in range(N_LAYERS):
        weights[f"model.layers.{layer}.input_layernorm"] = 1 + drawn(HIDDEN)
        weights[f"model.layers.{layer}.post_attention_layernorm"] = 1 + drawn(HIDDEN)
    weights["model.norm"] = 1 + drawn(HIDDEN)
    return weights


def tensor_name(module: str) -> str:
    """The name in a GGUF file of what transformers calls by another."""
    outside = {"model.embed_tokens": "token_embd.weight", "model.norm": "output_norm.weight"}
    if module in outside:
        return outside[module]
    _, _, layer, part = module.split(".", 3)
    norms = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
    return f"blk.{layer}.{(TENSORS | norms)[part]}.weight"


def file_order(module: str) -> list[int]:
    """Per row of a module's matrix in a GGUF file, which row of transformers' matrix it is."""
    n_rows = MODULES[module][0]
    if not module.endswith(("q_proj", "k_proj")):
        return list(range(n_rows))
    head = HIDDEN // HEADS
    half = head // 2
    # Neighbours in the file are the first and the second half of a head in transformers.
    return [
        first + side * half + pair
        for first in range(0, n_rows, head)
        for pair in range(half)
        for side in (0, 1)
    ]


def write_llama(
    path: Path,
    weights: Mapping[str, Any],
    kind: str = "Q4_1",
    architecture: str = "llama",
    marks: tuple[str, ...] = ("<|end|>",),
    context: int = 512,
) -> str:
    """Write a model as a GGUF file and give the file's sha256 (hex).

    Args:
        path: the file.
        weights: under transformers' names (`random_weights`).
        kind: how GGUF packs the matrices.
        architecture: its name in GGUF.
        marks: the special tokens, of which the last ends a text.
        context: the tokens of the longest text.
    """
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(N_LAYERS)
    writer.add_context_length(context)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(VOCABULARY)
    writer.add_file_type(3)
    _add_tokenizer(writer, marks)
    quantised = gguf.GGMLQuantizationType[kind]
    for name, matrix in weights.items():
        # Other architectures keep transformers' order of rows.
        reordered = name in MODULES and architecture == "llama"
        rows = matrix[file_order(name)] if reordered else matrix
        if name in MODULES:
            packed = gguf.quants.quantize(np.ascontiguousarray(rows), quantised)
            writer.add_tensor(tensor_name(name), packed, raw_dtype=quantised)
        else:
            writer.add_tensor(tensor_name(name), rows.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _add_tokenizer(writer: Any, marks: tuple[str, ...]) -> None:
    """One token a byte, as GPT-2 writes bytes, one merge, and the marks.

    The marks take the place of the last bytes, which no text in UTF-8 has.
    """
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    shifted = [byte for byte in range(256) if byte not in plain]
    letters = {byte: chr(byte) for byte in plain} | {
        byte: chr(256 + place) for place, byte in enumerate(shifted)
    }
    n_bytes = VOCABULARY - 1 - len(marks)
    tokens = [*(letters[byte] for byte in range(n_bytes)), "he", *marks]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (n_bytes + 1) + [3] * len(marks))
    writer.add_token_merges(["h e"])
    writer.add_bos_token_id(255)
    writer.add_eos_token_id(255)
    writer.add_unk_token_id(255)
    writer.add_pad_token_id(255)
    writer.add_add_bos_token(False)


def random_factors(seed: int = 1, rank: int = RANK) -> dict[str, Any]:
    """The two factors of every module, under PEFT's names."""
    generator = np.random.default_rng(seed)
    factors: dict[str, Any] = {}
    for name, (n_out, n_in) in MODULES.items():
        for kind, shape in (("A", (rank, n_in)), ("B", (n_out, rank))):
            factors[f"base_model.model.{name}.lora_{kind}.weight"] = generator.normal(
                scale=0.2, size=shape
            ).astype(np.float32)
    return factors


def write_adapter(
    folder: Path,
    base_sha256: str | None,
    factors: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Path:
    """Write an adapter's folder; settings replace those of its configuration."""
    numpy_files = pytest.importorskip("safetensors.numpy")
    folder.mkdir(parents=True, exist_ok=True)
    metadata = {"format": "pt"} | ({} if base_sha256 is None else {"base_sha256": base_sha256})
    chosen = dict(random_factors() if factors is None else factors)
    (folder / "adapter_model.safetensors").write_bytes(numpy_files.save(chosen, metadata))
    config = {
        "peft_type": "LORA", "task_type": "CAUSAL_LM", "r": RANK, "lora_alpha": ALPHA,
        "target_modules": sorted({part.split(".")[1] for part in SHAPES}), "bias": "none",
        "init_lora_weights": True, "lora_dropout": 0.1, "megatron_core": "megatron.core",
        "qalora_group_size": 16, "rank_pattern": {}, "alpha_pattern": {}, "use_dora": False,
    } | settings  # fmt: skip
    (folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder
