"""A graph rewritten to be held in less memory computes what it computed before."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from autoj.backends.embedded import engine, lean, model
from autoj.backends.embedded.engine import EmbeddedBackend
from autoj.backends.embedded.model import ChoiceModel, convert, loaded_bytes
from autoj.errors import BackendError
from autoj.judges import load_card
from autoj.records import Completion
from tests.backends import toy_llama
from tests.backends.test_embedded import requests, tries

openvino: Any = pytest.importorskip("openvino")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A toy in 8 bits as OpenVINO converts it, and as it is kept."""
    weights = tmp_path_factory.mktemp("toy") / "model.gguf"
    toy_llama.write_llama(weights, toy_llama.random_weights(), marks=toy_llama.CHAT_MARKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_PACKED_BYTES", 0)
        kept = convert(weights)
        kept = kept.rename(kept.with_name("kept"))
        patch.setattr(model, "rewrite", lambda _: None)
        return convert(weights), kept


def constants(folder: Path) -> list[Any]:
    graph = openvino.Core().read_model(folder / "openvino_model.xml")
    return [node.data for node in graph.get_ops() if node.get_type_name() == "Constant"]


def test_scales_are_wide_and_one_offset_stands_for_all(folders: tuple[Path, Path]) -> None:
    before, after = map(constants, folders)
    assert any(data.dtype == np.float16 for data in before)
    assert not any(data.dtype == np.float16 for data in after)
    packed = [sorted(d.size for d in of if d.dtype == np.uint8) for of in (before, after)]
    assert len(packed[0]) == len(packed[1])
    assert packed[0][0] > 1
    assert packed[1][: len(packed[1]) // 2] == [1] * (len(packed[1]) // 2)
    assert loaded_bytes(folders[1]) < loaded_bytes(folders[0])


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
