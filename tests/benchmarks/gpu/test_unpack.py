"""A GGUF file unpacked: the same model for transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
pytest.importorskip("gguf", reason="the extra `hf` is not installed: no gguf")

import gguf
import torch
import transformers
from benchmarks.gpu.unpack import base_sha256, name_of, unpack

from autoj.errors import DataError
from autoj.jsonl import sha256_of

from ...tiny_llama import make_model

ROPE_THETA = 1e6
_PARTS = (
    "attn_q.weight", "attn_q.bias", "attn_k.weight", "attn_k.bias", "attn_v.weight", "attn_v.bias",
    "attn_output.weight", "ffn_gate.weight", "ffn_up.weight", "ffn_down.weight",
    "attn_norm.weight", "ffn_norm.weight",
)  # fmt: skip


def write_gguf(path: Path, model: Any, kind: str = "qwen2") -> Path:
    writer, config = gguf.GGUFWriter(path, kind), model.config
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(ROPE_THETA)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_eos_token_id(2)
    names = ["token_embd.weight", "output_norm.weight", "output.weight"]
    names += [f"blk.{layer}.{part}" for layer in range(2) for part in _PARTS]
    weights = model.state_dict()
    for name in names:
        array = weights[name_of(name)].float().numpy()
        writer.add_tensor(name, array if array.ndim == 1 else array.astype("float16"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_an_unpacked_model_computes_what_the_file_says(tmp_path: Path) -> None:
    model = make_model("Qwen2", rope_parameters={"rope_type": "default", "rope_theta": ROPE_THETA})
    for weights in model.parameters():  # so that they are exact in both types
        weights.data = weights.half().bfloat16().float()
    path = write_gguf(tmp_path / "model.gguf", model)
    assert unpack(path, tmp_path / "weights", n_threads=2) == 27
    assert base_sha256(tmp_path / "weights") == sha256_of(path)
    transformers.logging.disable_progress_bar()
    found = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path / "weights", dtype=torch.float32
    )
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.inference_mode():
        torch.testing.assert_close(found(ids).logits, model(ids).logits)


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "model.gguf", make_model("Qwen2"), kind="llama")
    with pytest.raises(DataError, match="'llama'"):
        unpack(path, tmp_path / "weights", n_threads=1)
