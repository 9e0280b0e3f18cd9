"""A graph rewritten to be held in less memory computes what it computed before."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from autoj.backends.embedded import dense, engine, lean, model
from autoj.backends.embedded.engine import EmbeddedBackend
from autoj.backends.embedded.graph import split, states_a_scale
from autoj.backends.embedded.model import ChoiceModel, convert, loaded_bytes
from autoj.errors import BackendError
from autoj.judges import load_card
from autoj.records import Completion
from tests.backends import toy_llama
from tests.backends.test_embedded import requests, tries

openvino: Any = pytest.importorskip("openvino")
gguf: Any = pytest.importorskip("gguf")


@pytest.fixture(scope="module", params=["a scale a row", "groups of 32"])
def folders(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """A toy in 8 bits as OpenVINO converts it, and as it is kept."""
    weights = tmp_path_factory.mktemp("toy") / "model.gguf"
    toy_llama.write_llama(weights, toy_llama.random_weights(), marks=toy_llama.CHAT_MARKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_PACKED_BYTES", 0)
        if request.param == "groups of 32":
            patch.setattr(dense, "_with_one_scale_a_row", in_groups)
        kept = convert(weights)
        kept = kept.rename(kept.with_name("kept"))
        patch.setattr(model, "rewrite", lambda _: None)
        return convert(weights), kept


def in_groups(weights: Any) -> Any:
    return gguf.quantize(weights, gguf.GGMLQuantizationType.Q8_0)


def constants(folder: Path) -> list[Any]:
    graph = openvino.Core().read_model(folder / "openvino_model.xml")
    return [node.data for node in graph.get_ops() if node.get_type_name() == "Constant"]


N_MATRICES = len(toy_llama.MODULES)


def test_scales_are_wide_and_no_offset_is_held_twice(
    request: pytest.FixtureRequest, folders: tuple[Path, Path]
) -> None:
    before, after = map(constants, folders)
    assert any(data.dtype == np.float16 for data in before)
    assert not any(data.dtype == np.float16 for data in after)
    packed = [sorted(d.size for d in of if d.dtype == np.uint8) for of in (before, after)]
    assert len(packed[0]) == 2 * N_MATRICES
    assert packed[0][0] > 1
    signed = [data for data in after if data.dtype == np.int8]
    if "groups" in request.node.callspec.id:
        assert not signed
        assert packed[1] == [1] * N_MATRICES + packed[0][N_MATRICES:]
    else:
        assert not packed[1]
        assert sorted(data.shape for data in signed) == sorted(toy_llama.MODULES.values())
    assert loaded_bytes(folders[1]) < loaded_bytes(folders[0])


def test_states_share_a_scale_only_before_rows_that_have_one(
    request: pytest.FixtureRequest, folders: tuple[Path, Path]
) -> None:
    found = [
        states_a_scale(split(openvino.Core().read_model(folder / "openvino_model.xml"))[0])
        for folder in folders
    ]
    # 32 divides the widths of both kinds of the toy's matrices, 64 and 96; 64 does not.
    assert found == [None, None if "groups" in request.node.callspec.id else 32]


@pytest.mark.parametrize(
    ("widths", "shared"), [((1536, 8960), 256), ((896, 4864), 128), ((64, 96), 32)]
)
def test_as_many_states_share_a_scale_as_divide_each_width(
    widths: tuple[int, ...], shared: int
) -> None:
    opset = openvino.opset13
    given = [opset.parameter([-1, width], np.float32) for width in widths]
    packed = [
        opset.multiply(
            opset.convert(opset.constant(np.ones((2, width), np.int8)), np.float32),
            opset.constant(np.ones((2, 1), np.float32)),
        )
        for width in widths
    ]
    products = [
        opset.matmul(one, other, False, True) for one, other in zip(given, packed, strict=True)
    ]
    assert states_a_scale(openvino.Model(products, given)) == shared


def test_the_engine_is_told_how_many_states_share_a_scale(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "states_a_scale", lambda _: 64)  # the engine's own is another
    compiled = ChoiceModel(folders[1])._request.get_compiled_model()
    assert compiled.get_property("DYNAMIC_QUANTIZATION_GROUP_SIZE") == 64


def test_no_cache_of_keys_and_values_is_left(folders: tuple[Path, Path]) -> None:
    """A cache takes a slower kernel for attention, and would have to be emptied between batches."""
    graph = openvino.Core().read_model(folders[1] / "openvino_model.xml")
    assert graph.get_sinks()
    body, _ = split(graph)
    assert not body.get_sinks()
    assert not body.get_variables()
    assert "beam_idx" not in {name for port in body.inputs for name in port.get_names()}


def test_a_row_is_packed_with_its_largest_weight() -> None:
    generator = np.random.default_rng(0)
    weights = generator.normal(size=(5, 96)).astype(np.float32)
    weights[1] = 0
    weights[2, 40] = 30
    rows = dense._with_one_scale_a_row(weights)
    assert rows.shape == (5, 96 // 32 * 34)
    read = gguf.dequantize(rows, gguf.GGMLQuantizationType.Q8_0)
    step = np.abs(weights).max(1, keepdims=True) / 127
    # The scale itself has 16 bits.
    assert (np.abs(read - weights) <= 0.5 * step + 1e-3 * np.abs(weights)).all()
    assert (read[1] == 0).all()
    groups = rows.reshape(5, -1, 34)
    assert (groups[..., :2] == groups[:, :1, :2]).all()


@pytest.mark.parametrize("precision", [None, "f32"])
def test_no_score_changes(folders: tuple[Path, Path], precision: Literal["f32"] | None) -> None:
    backend = EmbeddedBackend(load_card("embedded-small-base"), folders[0])
    batch = tries(backend, "pairwise-verdict")
    plain, kept = (ChoiceModel(folder, precision).score(batch) for folder in folders)
    # Equal to the last bit with AVX-512; another processor may add in another order.
    for one, other in zip(plain, kept, strict=True):
        assert one == pytest.approx(other, abs=1e-3)


def test_no_text_changes(folders: tuple[Path, Path]) -> None:
    texts = []
    for folder in folders:
        backend = EmbeddedBackend(load_card("embedded-small-base"), folder)
        written = backend.complete(requests("pairwise"))
        texts.append({o.key: o.text for o in written if isinstance(o, Completion)})
    assert len(texts[0]) == len(requests("pairwise"))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("protocol", ["pairwise-verdict", "pairwise"])
def test_an_engine_gives_back_the_pages_of_its_file(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    given_back: list[Path] = []
    monkeypatch.setattr(engine, "release_pages", given_back.append)
    backend = EmbeddedBackend(load_card("embedded-small-base"), folders[1])
    assert all(isinstance(o, Completion) for o in backend.complete(requests(protocol)))
    assert set(given_back) == {folders[1] / "openvino_model.bin"}


def test_a_rewritten_graph_stays_as_it_is(folders: tuple[Path, Path], tmp_path: Path) -> None:
    again = shutil.copytree(folders[1], tmp_path / "again")
    lean.rewrite(again / "openvino_model.xml")
    for name in ("openvino_model.xml", "openvino_model.bin"):
        assert (again / name).read_bytes() == (folders[1] / name).read_bytes()
    assert sorted(path.name for path in again.iterdir()) == sorted(
        path.name for path in folders[1].iterdir()
    )


def test_a_disk_that_fills_up_leaves_no_model(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = shutil.copy(folders[0].parent / "model.gguf", tmp_path / "model.gguf")
    serialize = openvino.serialize

    def cut_short(graph: Any, path: Path) -> None:
        serialize(graph, path)
        written = path.with_suffix(".bin")
        written.write_bytes(written.read_bytes()[:-5])

    monkeypatch.setattr(openvino, "serialize", cut_short)
    monkeypatch.setattr(model, "_PACKED_BYTES", 0)
    with pytest.raises(BackendError, match="is the disk full"):
        convert(weights)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".gguf", ".lock"]


def test_offsets_that_differ_are_kept(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """As a format with offsets of its own has them."""
    graph = openvino.Core().read_model(folders[0] / "openvino_model.xml")
    product, _ = next(lean._packed(graph))
    offsets = lean._inputs(lean._inputs(product)[0])[1]
    data = offsets.input_value(0).get_node().data.copy()
    data.flat[0] += 1
    changed = openvino.opset13.constant(data)
    offsets.input(0).replace_source_output(changed.output(0))
    openvino.serialize(graph, tmp_path / "changed.xml")
    before = scores(tmp_path / "changed.xml")
    lean.rewrite(tmp_path / "changed.xml")
    kept = openvino.Core().read_model(tmp_path / "changed.xml")
    assert any(
        node.get_type_name() == "Constant" and np.array_equal(node.data, data)
        for node in kept.get_ops()
    )
    assert scores(tmp_path / "changed.xml") == pytest.approx(before, abs=1e-3)


def scores(graph: Path) -> Any:
    """The logits of five tokens."""
    request = openvino.Core().compile_model(graph, "CPU").create_infer_request()
    ids = np.arange(1, 6, dtype=np.int64)[None]
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "position_ids": ids - 1}
    return request.infer({**given, "beam_idx": np.zeros(1, np.int32)})[0].copy()
