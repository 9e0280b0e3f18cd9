"""An adapter is merged into the embedded model once, exactly, and never into another one."""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autoj.backends._adapters import Adapter, read_adapter
from autoj.backends._choices import build_trie
from autoj.backends.embedded import load, model
from autoj.backends.embedded.dense import write_dense
from autoj.backends.embedded.model import ChoiceModel, convert
from autoj.errors import BackendError, ConfigError, StorageFull
from autoj.records import JudgeCard
from tests.backends.toy_llama import (
    FORWARD,
    HEADS,
    HIDDEN,
    KV_HEADS,
    MODULES,
    N_LAYERS,
    VOCABULARY,
    file_order,
    random_factors,
    random_weights,
    tensor_name,
    write_adapter,
    write_llama,
)

gguf = pytest.importorskip("gguf")
pytest.importorskip("safetensors")


@pytest.fixture
def base(tmp_path: Path) -> tuple[Path, str]:
    """A quantised file of our own and its digest."""
    path = tmp_path / "base" / "model.gguf"
    path.parent.mkdir()
    return path, write_llama(path, random_weights())


def adapter_for(base: tuple[Path, str], name: str = "adapter", **settings: Any) -> Adapter:
    factors = settings.pop("factors", None)
    folder = write_adapter(base[0].parent.parent / name, base[1], factors, **settings)
    return read_adapter(folder, revision=None, base_sha256=base[1], judge="ours")


def tensors(path: Path) -> dict[str, Any]:
    return {tensor.name: np.array(tensor.data) for tensor in gguf.GGUFReader(path).tensors}


def test_every_matrix_gets_its_own_and_all_else_stays(base, tmp_path):
    adapter = adapter_for(base)
    write_dense(base[0], tmp_path / "plain.gguf")
    write_dense(base[0], tmp_path / "merged.gguf", adapter)
    plain, merged = tensors(tmp_path / "plain.gguf"), tensors(tmp_path / "merged.gguf")
    exact = {
        tensor.name: gguf.dequantize(tensor.data, tensor.tensor_type)
        for tensor in gguf.GGUFReader(base[0]).tensors
    }
    for module in MODULES:
        name = tensor_name(module)
        added = adapter.modules[module].delta()[file_order(module)]
        assert np.array_equal(merged[name], (exact[name] + added).astype(np.float16))
        assert not np.array_equal(merged[name], plain[name])
    others = plain.keys() - {tensor_name(module) for module in MODULES}
    assert len(others) == 2 * N_LAYERS + 2
    assert all(np.array_equal(merged[name], plain[name]) for name in others)


def test_only_the_layers_that_were_trained_change(base, tmp_path):
    upper = {name: rows for name, rows in random_factors().items() if "layers.1" in name}
    adapter = adapter_for(base, factors=upper, layers_to_transform=[1])
    write_dense(base[0], tmp_path / "plain.gguf")
    write_dense(base[0], tmp_path / "merged.gguf", adapter)
    plain, merged = tensors(tmp_path / "plain.gguf"), tensors(tmp_path / "merged.gguf")
    changed = {name for name in plain if not np.array_equal(plain[name], merged[name])}
    assert changed == {tensor_name(module) for module in MODULES if "layers.1" in module}


def named(old: str, new: str) -> dict[str, Any]:
    return {name.replace(old, new): rows for name, rows in random_factors().items()}


def reshaped(module: str, n_in: int) -> dict[str, Any]:
    name = f"base_model.model.{module}.lora_A.weight"
    return random_factors() | {name: np.ones((2, n_in), np.float32)}


def without_layer(layer: int) -> dict[str, Any]:
    return {name: rows for name, rows in random_factors().items() if f".{layer}." not in name}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"factors": named("layers.1.", "layers.7.")}, "tensors are missing for 'model.layers.1"),
        (
            {"factors": without_layer(0)},
            "tensors are missing for 'model.layers.0.self_attn.q_proj'",
        ),
        (
            {"factors": random_factors() | named("layers.1.", "layers.7.")},
            "no matrix for 'model.layers.7.mlp.down_proj'",
        ),
        (
            {"factors": random_factors() | named("layers.1.", "layers.01.")},
            "no matrix for 'model.layers.01.mlp.down_proj'",
        ),
        (
            {
                "factors": random_factors() | named("q_proj", "qkv_proj"),
                "target_modules": ".*_proj",
            },
            "no matrix for 'model.layers.0.self_attn.qkv_proj'",
        ),
        (
            {"factors": reshaped("model.layers.0.mlp.down_proj", 64)},
            r"a matrix of shape \(64, 64\), the base's 'blk.0.ffn_down.weight' has \(64, 96\)",
        ),
        (
            {"factors": {n: 1e20 * rows for n, rows in random_factors().items()}},
            "too large for float16",
        ),
    ],
)
def test_an_adapter_that_does_not_fit_is_refused(base, tmp_path, settings, message):
    adapter = adapter_for(base, **settings)
    with pytest.raises(ConfigError, match=message):
        write_dense(base[0], tmp_path / "merged.gguf", adapter)
    assert not (tmp_path / "merged.gguf").exists()


def test_a_base_of_another_architecture_is_refused(tmp_path):
    path = tmp_path / "base" / "model.gguf"
    path.parent.mkdir()
    sha256 = write_llama(path, random_weights(), architecture="gemma")
    with pytest.raises(ConfigError, match="architectures llama and qwen2, the base's is 'gemma'"):
        write_dense(path, tmp_path / "merged.gguf", adapter_for((path, sha256)))


@pytest.mark.parametrize("packed", [False, True])
def test_qwen_keeps_the_order_of_rows(tmp_path, packed):
    path = tmp_path / "base" / "model.gguf"
    path.parent.mkdir()
    sha256 = write_llama(path, random_weights(), architecture="qwen2")
    adapter = adapter_for((path, sha256))
    write_dense(path, tmp_path / "merged.gguf", adapter, packed=packed)
    before = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    after = {tensor.name: tensor for tensor in gguf.GGUFReader(tmp_path / "merged.gguf").tensors}
    for module in MODULES:
        old, new = before[tensor_name(module)], after[tensor_name(module)]
        exact = gguf.dequantize(old.data, old.tensor_type) + adapter.modules[module].delta()
        stored = gguf.dequantize(new.data, new.tensor_type)
        assert np.abs(stored - exact).max() <= np.abs(exact).max() / 200


class Saved:
    """In OpenVINO's place: it writes a model's file that says from how many bytes it came."""

    def __init__(self) -> None:
        self.n_calls = 0

    def __call__(self, dense: Path, weights: Path) -> None:
        self.n_calls += 1
        (dense.parent / "openvino_model.xml").write_bytes(dense.read_bytes())


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> Iterator[Saved]:
    saved = Saved()
    monkeypatch.setattr(model, "_save", saved)
    return saved


def test_each_adapter_is_merged_once_into_a_folder_of_its_own(base, saved):
    first = adapter_for(base, "first")
    other = adapter_for(base, "other", factors=random_factors(2))
    stronger = adapter_for(base, "stronger", lora_alpha=6.0)
    folders = [convert(base[0], adapter) for adapter in (None, first, other, stronger)]
    assert folders[0] == base[0].with_name("model.openvino-f16")
    assert folders[1] == base[0].with_name(f"model+{first.digest[:16]}.openvino-f16")
    assert len({(folder / "openvino_model.xml").read_bytes() for folder in folders}) == 4
    assert saved.n_calls == 4
    assert [convert(base[0], adapter) for adapter in (None, first, other, stronger)] == folders
    assert saved.n_calls == 4
    left = {path.name for path in base[0].parent.iterdir() if path.suffix != ".lock"}
    assert left == {"model.gguf", *(folder.name for folder in folders)}
    assert [path.name for path in folders[1].iterdir()] == ["openvino_model.xml"]


def test_a_conversion_that_was_killed_is_begun_anew(base, saved):
    adapter = adapter_for(base)
    whole = convert(base[0], adapter)
    wanted = (whole / "openvino_model.xml").read_bytes()
    # What a process leaves that was killed before it could rename its draft.
    draft = whole.rename(whole.with_name(f"{whole.name}.draft"))
    (draft / "openvino_model.xml").write_bytes(wanted[:100])
    (draft / "model.gguf").write_bytes(wanted[:5])
    assert convert(base[0], adapter) == whole
    assert (whole / "openvino_model.xml").read_bytes() == wanted
    assert not draft.exists()


def test_a_failed_conversion_leaves_nothing_and_what_was_there(base, saved, monkeypatch):
    good = adapter_for(base, "good")
    folder = convert(base[0], good)
    before = (folder / "openvino_model.xml").read_bytes()
    monkeypatch.setattr(model, "_save", lambda dense, weights: (_ for _ in ()).throw(OSError(5)))
    with pytest.raises(OSError, match="5"):
        convert(base[0], adapter_for(base, "other", factors=random_factors(2)))
    strange = random_factors() | named("layers.1.", "layers.7.")
    with pytest.raises(ConfigError, match="no matrix"):
        convert(base[0], adapter_for(base, "strange", factors=strange))
    left = {path.name for path in base[0].parent.iterdir() if path.suffix != ".lock"}
    assert left == {"model.gguf", folder.name}
    assert (folder / "openvino_model.xml").read_bytes() == before


def test_two_at_once_merge_once(base, saved):
    adapter = adapter_for(base)
    folders: list[Path] = []
    threads = [
        threading.Thread(target=lambda: folders.append(convert(base[0], adapter))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(folders) == 3
    assert saved.n_calls == 1


def card_for(base: tuple[Path, str], folder: Path, **fields: Any) -> JudgeCard:
    return JudgeCard(
        name="ours", title="ours", backend="embedded", model=str(base[0]), context_tokens=512,
        adapter="./adapter", folder=str(folder), **fields,
    )  # fmt: skip


def test_a_damaged_adapter_is_refused_though_it_was_merged_before(base, saved, tmp_path):
    pytest.importorskip("openvino_genai")
    adapter = adapter_for(base)
    folder = convert(base[0], adapter)
    adapter.path.write_bytes(adapter.path.read_bytes()[:-4])
    with pytest.raises(ConfigError, match="damaged"):
        load(card_for(base, tmp_path))
    with pytest.raises(ConfigError, match="not the one that the card names"):
        load(card_for(base, tmp_path, adapter_revision=f"sha256:{adapter.sha256}"))
    assert (folder / "openvino_model.xml").is_file()


def test_a_base_that_was_exchanged_is_refused(base, tmp_path):
    pytest.importorskip("openvino_genai")
    adapter_for(base)
    other = write_llama(base[0], random_weights(9))
    with pytest.raises(ConfigError, match=f"another base: expected sha256 {other}"):
        load(card_for(base, tmp_path))


def test_a_file_without_a_tokenizer_is_no_traceback(tmp_path):
    pytest.importorskip("openvino_genai")
    path = tmp_path / "bare.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tensor("norm", np.ones(8, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(BackendError, match="OpenVINO cannot read"):
        convert(path)


@pytest.fixture(scope="module")
def by_peft(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Any]:
    """A base in float16, an adapter that PEFT saved, and the model that PEFT merged from both."""
    reason = "compares with PEFT, which only training installs"
    torch = pytest.importorskip("torch", reason=reason)
    transformers = pytest.importorskip("transformers", reason=reason)
    peft = pytest.importorskip("peft", reason=reason)
    from safetensors.numpy import load_file, save_file

    folder = tmp_path_factory.mktemp("peft")
    weights = random_weights()
    base_sha256 = write_llama(folder / "model.gguf", weights, "F16")
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=HIDDEN, intermediate_size=FORWARD,
        num_hidden_layers=N_LAYERS, num_attention_heads=HEADS, num_key_value_heads=KV_HEADS,
        max_position_embeddings=512, rms_norm_eps=1e-5, tie_word_embeddings=True,
        rope_theta=10000.0,
    )  # fmt: skip
    llama = transformers.LlamaForCausalLM(config).eval()
    state = {f"{name}.weight": torch.from_numpy(rows) for name, rows in weights.items()}
    assert llama.load_state_dict(state, strict=False).missing_keys == ["lm_head.weight"]
    torch.manual_seed(3)
    settings = peft.LoraConfig(
        r=4, lora_alpha=3, init_lora_weights=False, use_rslora=True, task_type="CAUSAL_LM",
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "down_proj"],
        rank_pattern={r"0\.self_attn\.k_proj": 2}, alpha_pattern={"^model.layers.1.*q_proj": 7},
        layers_to_transform=[0, 1],
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # PEFT's use of transformers
        lora = peft.get_peft_model(llama, settings)
    lora.save_pretrained(folder / "adapter")
    path = folder / "adapter" / "adapter_model.safetensors"
    save_file(load_file(path), path, metadata={"format": "pt", "base_sha256": base_sha256})
    return folder / "model.gguf", folder / "adapter", lora.merge_and_unload()


def read_for(path: Path, folder: Path) -> Adapter:
    base_sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return read_adapter(folder, revision=None, base_sha256=base_sha256, judge="ours")


def test_transformers_reads_from_the_merged_file_what_peft_merged(by_peft, tmp_path):
    import transformers

    path, folder, merged = by_peft
    write_dense(path, tmp_path / "merged.gguf", read_for(path, folder))
    found = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path, gguf_file="merged.gguf", dtype="float32"
    )
    wanted = merged.state_dict()
    assert found.state_dict().keys() == wanted.keys()
    for name, rows in found.state_dict().items():
        assert rows.numpy() == pytest.approx(wanted[name].numpy(), rel=1e-3, abs=1e-4), name


def test_the_embedded_engine_scores_as_the_merged_model(by_peft):
    pytest.importorskip("openvino_genai")
    import torch

    path, folder, merged = by_peft
    choices = ChoiceModel(convert(path, read_for(path, folder)), "f32")
    plain = ChoiceModel(convert(path), "f32")
    prompt = [5, 99, 17, 200, 3, 42, 42, 8]
    trie = build_trie([[*prompt, 7], [*prompt, 12, 30], [*prompt, 12, 31]])
    with torch.no_grad():
        logprobs = torch.log_softmax(merged(torch.tensor([[*prompt, 12]])).logits[0], -1).numpy()
    wanted = (
        logprobs[-2, 7],
        logprobs[-2, 12] + logprobs[-1, 30],
        logprobs[-2, 12] + logprobs[-1, 31],
    )
    assert choices.score([trie])[0] == pytest.approx(wanted, abs=5e-3)
    assert plain.score([trie])[0] != pytest.approx(wanted, abs=0.05)


def test_a_disk_without_room_is_refused_before_anything_is_written(base, monkeypatch):
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr(model.shutil, "disk_usage", lambda _: usage)
    before = sorted(base[0].parent.iterdir())
    with pytest.raises(StorageFull, match="GB are free") as refused:
        convert(base[0], adapter_for(base))
    assert "--judge embedded" in str(refused.value.hint)
    left = [path for path in base[0].parent.iterdir() if path.suffix != ".lock"]
    assert sorted(left) == before
