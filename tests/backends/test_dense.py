"""Quantised weights come through unpacking as the format defines them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autoj.backends.embedded.dense import _in_order, write_dense
from autoj.errors import BackendError

gguf = pytest.importorskip("gguf")


@pytest.fixture
def quantised(tmp_path: Path) -> Path:
    """A file with one Q4_1 tensor, one norm, and fields of several kinds."""
    path = tmp_path / "quantised.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_name("toy ✓")
    writer.add_token_list(["a", "b", "é"])
    writer.add_file_type(3)
    rows = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
    kind = gguf.GGMLQuantizationType.Q4_1
    writer.add_tensor("weight", gguf.quants.quantize(rows, kind), raw_dtype=kind)
    writer.add_tensor("norm", np.linspace(0, 1, 7, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_weights_and_fields_are_the_same(quantised, tmp_path):
    write_dense(quantised, tmp_path / "dense.gguf")
    before, after = gguf.GGUFReader(quantised), gguf.GGUFReader(tmp_path / "dense.gguf")
    old, new = before.tensors, after.tensors
    assert [tensor.name for tensor in new] == ["weight", "norm"]
    assert new[0].tensor_type == gguf.GGMLQuantizationType.F16
    exact = gguf.dequantize(old[0].data, old[0].tensor_type)
    assert np.array_equal(new[0].data, exact.astype(np.float16))
    assert np.array_equal(new[1].data, old[1].data)
    for name in ("general.name", "llama.block_count", "tokenizer.ggml.tokens"):
        assert after.get_field(name).contents() == before.get_field(name).contents()
    assert after.get_field("general.file_type").contents() == 1


def test_packed_weights_are_close_and_half_as_large(quantised, tmp_path):
    write_dense(quantised, tmp_path / "packed.gguf", packed=True)
    old = gguf.GGUFReader(quantised).tensors[0]
    after = gguf.GGUFReader(tmp_path / "packed.gguf")
    packed, norm = after.tensors
    assert packed.tensor_type == gguf.GGMLQuantizationType.Q8_0
    exact = gguf.dequantize(old.data, old.tensor_type)
    stored = gguf.dequantize(packed.data, packed.tensor_type)
    largest = np.abs(exact.reshape(-1, 32)).max(1, keepdims=True)
    # Half a step of 1/127, and the scale's own rounding to 16 bits.
    assert (np.abs((stored - exact).reshape(-1, 32)) <= largest * (0.5 / 127 + 1e-3)).all()
    assert np.array_equal(norm.data, np.linspace(0, 1, 7, dtype=np.float32))
    assert after.get_field("general.file_type").contents() == gguf.LlamaFileType.MOSTLY_Q8_0


def test_rows_are_converted_in_blocks_with_the_same_result(quantised, tmp_path, monkeypatch):
    write_dense(quantised, tmp_path / "whole.gguf", packed=True)
    monkeypatch.setattr("autoj.backends.embedded.dense._BLOCK_ROWS", 3)
    write_dense(quantised, tmp_path / "blocks.gguf", packed=True)
    assert (tmp_path / "whole.gguf").read_bytes() == (tmp_path / "blocks.gguf").read_bytes()


def test_a_file_of_another_kind_or_cut_short_is_refused(quantised, tmp_path):
    path = tmp_path / "other.gguf"
    whole = quantised.read_bytes()
    cut = (whole[: int(share * len(whole))] for share in np.linspace(0, 0.95, 60))
    for content in (b"not a model" * 100, *cut):
        path.write_bytes(content)
        with pytest.raises(BackendError, match="cannot be read as GGUF") as refused:
            write_dense(path, tmp_path / "dense.gguf")
        assert "cut short" in str(refused.value.hint)
        assert not (tmp_path / "dense.gguf").exists()


def test_memory_holds_one_tensor_per_thread_at_a_time(monkeypatch):
    monkeypatch.setattr("autoj.backends.embedded.dense._N_THREADS", 2)
    begun: list[int] = []

    def convert(number: int) -> int:
        begun.append(number)
        return number

    ahead = [len(begun) - written for written, _ in enumerate(_in_order(convert, range(9)))]
    assert len(begun) == 9
    assert max(ahead) <= 2


def test_tensors_stay_in_order(monkeypatch):
    monkeypatch.setattr("autoj.backends.embedded.dense._N_THREADS", 3)
    assert list(_in_order(lambda number: number * 2, range(8))) == list(range(0, 16, 2))


def test_rows_that_do_not_fill_groups_are_refused(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "odd.gguf", "llama")
    writer.add_tensor("weight", np.ones((4, 20), np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(BackendError, match="20 weights cannot be packed in groups of 32"):
        write_dense(tmp_path / "odd.gguf", tmp_path / "packed.gguf", packed=True)
