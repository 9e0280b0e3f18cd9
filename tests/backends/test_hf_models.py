"""Judges from folders, GGUF files and the hub, with adapters on them: the right files or none."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autoj.backends import load_backend
from autoj.errors import ConfigError, MissingExtra, Unavailable, install_command
from autoj.records import Completion, Decoding, JudgeCard, Message, Request
from tests.tiny_llama import SHAPE, make_adapter, make_model, make_tokenizer, save_model

torch = pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
transformers = pytest.importorskip(
    "transformers", reason="the extra `hf` is not installed: no transformers"
)

from autoj.backends.hf import load, models  # noqa: E402
from autoj.backends.hf.adapters import lay_adapter  # noqa: E402
from autoj.backends.hf.base_models import find_base  # noqa: E402
from autoj.backends.hf.models import load_model  # noqa: E402


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge's folder, with a model and an adapter for it."""
    folder = tmp_path_factory.mktemp("judge")
    save_model(folder / "model", make_tokenizer(), make_model())
    metadata = {"format": "pt", "base_sha256": digest(folder / "model" / "model.safetensors")}
    make_adapter(folder / "adapter", make_model(), metadata)
    return folder


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def card_of(folder: Path, **settings: Any) -> JudgeCard:
    return JudgeCard(
        **{
            "name": "tiny",
            "title": "Two layers of noise",
            "backend": "hf",
            "model": "./model",
            "wrapper": "chatml",
            "context_tokens": 600,
            "folder": str(folder),
            **settings,
        }
    )


def with_adapter(folder: Path, **settings: Any) -> JudgeCard:
    pinned = f"sha256:{digest(folder / 'adapter' / 'adapter_model.safetensors')}"
    return card_of(folder, **{"adapter": "./adapter", "adapter_revision": pinned, **settings})


def scores(card: JudgeCard) -> list[float]:
    request = Request(
        key="k", judge="tiny", case_id="c", protocol="p", shown=(0, 1), decoding=Decoding(),
        messages=(Message(role="user", content="Is it four?"),), prefix="It is ",
        choices=("Response 1", "Response 2", "Tie"),
    )  # fmt: skip
    (outcome,) = load(card, device="cpu").complete([request])
    assert isinstance(outcome, Completion)
    assert outcome.choice_logprobs is not None
    return list(outcome.choice_logprobs)


# --- Models ---------------------------------------------------------------------------------------


def test_a_folder_beside_the_card_is_the_model(judge: Path) -> None:
    tokenizer, model = load_model(card_of(judge), device="cpu")
    assert not model.training
    assert model.dtype == torch.float32
    torch.testing.assert_close(model.state_dict(), make_model().state_dict())
    assert tokenizer("It is")["input_ids"] == make_tokenizer()("It is")["input_ids"]


def test_the_backend_is_found_by_its_name(judge: Path) -> None:
    backend = load_backend(card_of(judge), device="cpu")
    assert backend.limits.scores_choices
    assert backend.count_tokens("It is four") == len(make_tokenizer()("It is four")["input_ids"])
    backend.close()


@pytest.mark.parametrize(
    ("given", "dtype"),
    [("float32", "float32"), ("bfloat16", "bfloat16"), ("float16", "float16"), ("auto", "float32")],
)
def test_weights_have_the_precision_that_the_card_says(judge: Path, given: str, dtype: str) -> None:
    _, model = load_model(card_of(judge, options={"precision": given}), device="cpu")
    assert model.dtype == getattr(torch, dtype)


def test_the_kernels_that_products_keep_are_bounded(
    judge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    load_model(card_of(judge), device="cpu")
    assert int(os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"]) < 1024


def test_attention_is_what_the_card_says_and_gives_the_same(judge: Path) -> None:
    card = card_of(judge, options={"attention": "eager"})
    assert load_model(card, device="cpu")[1].config._attn_implementation == "eager"
    assert scores(card) == pytest.approx(scores(card_of(judge)), abs=1e-5)


def test_layers_are_placed_by_a_device_map(judge: Path) -> None:
    pytest.importorskip("accelerate", reason="the extra `hf` is not installed: no accelerate")
    card = card_of(judge, options={"device_map": {"": "cpu"}})
    assert scores(card) == pytest.approx(scores(card_of(judge)), abs=1e-5)


def test_the_revision_of_a_card_is_the_one_that_is_fetched(
    judge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Any, Any]] = []

    def stand_in(kind: Any) -> Callable[..., Any]:
        real = kind.from_pretrained

        def fetch(model: str, revision: Any, local_files_only: Any, **settings: Any) -> Any:
            asked.append((model, revision, local_files_only))
            return real(judge / "model", local_files_only=True, **settings)

        return fetch

    for kind in (transformers.AutoTokenizer, transformers.AutoModelForCausalLM):
        monkeypatch.setattr(kind, "from_pretrained", stand_in(kind))
    monkeypatch.setattr(models, "_quantisation", lambda card, base: None)
    load_model(card_of(judge, model="some-org/some-model", revision="0a1b2c"), device="cpu")
    assert asked == [("some-org/some-model", "0a1b2c", False)] * 2


def test_what_cannot_be_fetched_may_be_there_later(
    judge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError("We couldn't connect to the hub")

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", fail)
    with pytest.raises(Unavailable, match=r"some-org/some-model cannot be loaded: We couldn't"):
        load_model(card_of(judge, model="some-org/some-model"), device="cpu")


def test_a_name_that_the_hub_does_not_know_is_the_users_mistake(
    judge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError("mine is not a local folder and is not a valid model identifier listed on …")

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", fail)
    with pytest.raises(ConfigError, match=r"there is no model 'mine'") as told:
        load_model(card_of(judge, model="mine"), device="cpu")
    assert "./" in str(told.value.hint)


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("[enforce fail] . DefaultCPUAllocator: can't allocate memory: you tried"),
        MemoryError(),
    ],
)
def test_a_device_without_memory_is_told_with_what_to_do(
    judge: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", fail)
    with pytest.raises(ConfigError, match=r"does not fit into the memory of cpu") as told:
        load_model(card_of(judge), device="cpu")
    assert "precision bfloat16" in str(told.value.hint)


def test_an_adapter_that_memory_does_not_do_for_is_not_called_unfit(
    judge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peft = pytest.importorskip("peft", reason="the extra `hf` is not installed: no peft")

    def fail(*_: Any, **__: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(peft.PeftModel, "from_pretrained", fail)
    with pytest.raises(ConfigError, match=r"the adapter in .* does not fit into the memory of cpu"):
        load_model(with_adapter(judge), device="cpu")


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("gpu", "there is no device 'gpu'"),
        ("cuda:1", "PyTorch finds no GPU here, but the device is 'cuda:1'"),
    ],
)
def test_a_device_that_is_not_there_is_told(
    judge: Path, monkeypatch: pytest.MonkeyPatch, device: str, said: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match=said):
        load_model(card_of(judge), device=device)


WRONG_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"precison": "float32"}, "unknown option 'precison'; expected one of precision, device_map"),
    ({"precision": "float8"}, "one of auto, float32, bfloat16, float16, found 'float8'"),
    ({"device_map": 0}, "device_map must be a name or a map, found 0"),
    ({"attention": True}, "attention must be a name, such as sdpa, found True"),
    ({"load_in_4bit": "yes"}, "load_in_4bit must be true or false, found 'yes'"),
    ({"continuous": 1}, "continuous must be true or false, found 1"),
    ({"batch_tokens": 0}, "batch_tokens must be a number from 1, found 0"),
    ({"batch_tokens": True}, "found True"),
    ({"attention": "fast"}, "transformers loads"),
]


@pytest.mark.parametrize(("options", "said"), WRONG_OPTIONS)
def test_an_option_that_makes_no_sense_is_refused(
    judge: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=f"(?s){said}"):
        load_model(card_of(judge, options=options), device="cpu")


def test_weights_that_are_not_the_pinned_ones_are_refused(judge: Path) -> None:
    weights = judge / "model" / "model.safetensors"
    load_model(card_of(judge, revision=f"sha256:{digest(weights)}"), device="cpu")
    with pytest.raises(ConfigError, match=f"expected sha256 {'0' * 64}, found {digest(weights)}"):
        load_model(card_of(judge, revision=f"sha256:{'0' * 64}"), device="cpu")


def test_a_folder_that_is_not_there_or_holds_no_model_is_told(tmp_path: Path, judge: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no folder .*nowhere"):
        load_model(card_of(tmp_path, model="./nowhere"), device="cpu")
    (tmp_path / "model").mkdir()
    with pytest.raises(ConfigError, match=r"\./model (cannot be loaded|is not a language model)"):
        load_model(card_of(tmp_path), device="cpu")
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json"):
        (tmp_path / "model" / name).write_bytes((judge / "model" / name).read_bytes())
    (tmp_path / "model" / "model.safetensors").write_bytes(b"half a fi")
    with pytest.raises(ConfigError, match=r"\./model"):
        load_model(card_of(tmp_path), device="cpu")


def test_a_model_that_lacks_weights_is_refused(tmp_path: Path) -> None:
    import safetensors.torch

    folder = save_model(tmp_path / "model", make_tokenizer(), make_model())
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    del weights["lm_head.weight"]
    safetensors.torch.save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ConfigError, match=r"no weights for lm_head.weight"):
        load_model(card_of(tmp_path), device="cpu")


@pytest.mark.parametrize("missing", ["torch", "transformers", "peft"])
def test_a_missing_package_is_told_with_its_extra(
    judge: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == missing else found(name)
    )
    with pytest.raises(MissingExtra, match=re.escape(install_command("hf"))):
        load(with_adapter(judge))


def test_importing_the_backend_loads_nothing_heavy() -> None:
    heavy = {"torch", "transformers", "peft", "openvino", "openvino_genai", "gguf"}
    code = f"import sys, autoj.backends.hf; print(*(set(sys.modules) & {heavy!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_loading_prints_nothing(judge: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load(with_adapter(judge), device="cpu")
    assert capfd.readouterr() == ("", "")


# --- GGUF files -----------------------------------------------------------------------------------


def write_gguf(path: Path, model: Any, tokenizer: Any, splits: str = "gpt-2") -> None:
    """A Llama as llama.cpp keeps it, its matrices in Q8_0."""
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(path, "llama")
    config = model.config
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    inner = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    tokens = sorted(inner["vocab"], key=inner["vocab"].__getitem__)
    tokens += [f"<extra_{at}>" for at in range(config.vocab_size - len(tokens))]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(splits)
    writer.add_token_list(tokens)
    writer.add_token_types([3] * 3 + [1] * (len(tokens) - 3))
    writer.add_token_merges([" ".join(merge) for merge in inner["merges"]])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    names = {
        "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
        "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm", "model.layers.": "blk.",
    }  # fmt: skip
    for name, tensor in model.state_dict().items():
        for theirs, ours in names.items():
            name = name.replace(theirs, ours)
        values = tensor.float().numpy()
        for part, heads in (("attn_q", 4), ("attn_k", 2)):
            if part in name:  # llama.cpp turns pairs of neighbours, transformers halves
                rows, columns = values.shape
                shape = (heads, 2, rows // heads // 2, columns)
                values = values.reshape(shape).swapaxes(1, 2).reshape(rows, columns)
        if values.ndim == 1:
            writer.add_tensor(name, values)
        else:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def gguf_judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gguf")
    pytest.importorskip("accelerate", reason="the extra `hf` is not installed: no accelerate")
    folder = tmp_path_factory.mktemp("gguf")
    write_gguf(folder / "tiny.gguf", make_model(), make_tokenizer())
    metadata = {"base_sha256": digest(folder / "tiny.gguf")}
    make_adapter(folder / "adapter", make_model(), metadata)
    return folder


def test_a_gguf_file_is_unpacked_and_nothing_is_shown(
    gguf_judge: Path, judge: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pinned = f"sha256:{digest(gguf_judge / 'tiny.gguf')}"
    card = card_of(gguf_judge, model="./tiny.gguf", revision=pinned)
    tokenizer, model = load_model(card, device="cpu")
    assert capfd.readouterr() == ("", "")
    assert tokenizer("It is four")["input_ids"] == make_tokenizer()("It is four")["input_ids"]
    assert model.dtype == torch.float32
    for name, weights in make_model().state_dict().items():
        found = model.state_dict()[name]
        assert found.shape == weights.shape
        # Eight bits per weight, in blocks that share the largest.
        assert (found - weights).abs().max() <= weights.abs().max() / 127


def test_an_adapter_is_merged_into_unpacked_weights(gguf_judge: Path) -> None:
    card = with_adapter(gguf_judge, model="./tiny.gguf")
    assert scores(card) != pytest.approx(scores(replace(card, adapter=None)), abs=0.1)


def test_a_gguf_file_other_than_the_adapters_is_refused(gguf_judge: Path, tmp_path: Path) -> None:
    write_gguf(tmp_path / "tiny.gguf", make_model(seed=1), make_tokenizer())
    card = replace(
        with_adapter(gguf_judge), model=str(tmp_path / "tiny.gguf"), adapter_revision=None
    )
    with pytest.raises(ConfigError, match=r"was trained on: expected sha256") as told:
        load_model(card, device="cpu")
    assert digest(gguf_judge / "tiny.gguf") in told.value.message
    assert digest(tmp_path / "tiny.gguf") in told.value.message


def test_a_gguf_files_tokenizer_splits_texts_as_the_file_says(
    gguf_judge: Path, tmp_path: Path
) -> None:
    from tokenizers import pre_tokenizers

    expected = make_tokenizer()
    expected.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(True), expected.backend_tokenizer.pre_tokenizer]
    )
    write_gguf(tmp_path / "tiny.gguf", make_model(), make_tokenizer(), "smollm")
    tokenizer, _ = load_model(card_of(tmp_path, model="./tiny.gguf"), device="cpu")
    as_gpt2, _ = load_model(card_of(gguf_judge, model="./tiny.gguf"), device="cpu")
    for text in ("is 123 12", "a\n\n1. b", "x  2", "Tie\n\nTie", "№ Ⅳ ½ 一二 1"):
        ids = [
            known(text)["input_ids"] for known in (tokenizer, expected, as_gpt2, make_tokenizer())
        ]
        assert ids[0] == ids[1]
        assert ids[2] == ids[3]
    assert tokenizer("is 123")["input_ids"] != as_gpt2("is 123")["input_ids"]
    write_gguf(tmp_path / "tiny.gguf", make_model(), make_tokenizer(), "poro-chat")
    with pytest.raises(
        ConfigError, match=r"tiny.gguf: its tokenizer's pre-tokenization 'poro-chat'"
    ):
        load_model(card_of(tmp_path, model="./tiny.gguf"), device="cpu")


def test_a_gguf_file_that_is_none_or_not_the_pinned_one_is_told(
    gguf_judge: Path, tmp_path: Path
) -> None:
    whole = (gguf_judge / "tiny.gguf").read_bytes()
    told = r"model.gguf is not a language model that transformers"
    cut = (whole[: int(share * len(whole))] for share in (1e-3, 0.01, 0.1, 0.5, 0.9))
    for content in (b"not a model" * 100, whole[:40], *cut):
        (tmp_path / "model.gguf").write_bytes(content)
        with pytest.raises(ConfigError, match=told):
            load_model(card_of(tmp_path, model="./model.gguf"), device="cpu")
    with pytest.raises(ConfigError, match=r"no weights file .*other.gguf"):
        load_model(card_of(tmp_path, model="./other.gguf"), device="cpu")
    card = card_of(gguf_judge, model="./tiny.gguf", revision=f"sha256:{'0' * 64}")
    with pytest.raises(ConfigError, match=r"is not the file that its card pins"):
        load_model(card, device="cpu")


@pytest.mark.parametrize(
    "source",
    [
        {"package": "a==1", "file": "a/b.gguf", "url": "https://x"},
        {"parts": ["a==1", "b==1"], "part_file": "{number}.bin"},
    ],
    ids=["package", "parts"],
)
def test_a_shipped_cards_weights_are_those_that_the_embedded_judge_fetches(
    gguf_judge: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    source: dict[str, object],
) -> None:
    weights = (gguf_judge / "tiny.gguf").read_bytes()
    found = digest(gguf_judge / "tiny.gguf")
    kept = tmp_path / "models" / found[:16] / "model.gguf"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(weights)
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path))
    options = {**source, "size_bytes": len(weights)}
    card = with_adapter(gguf_judge, model="SomeModel.Q8_0", revision=f"sha256:{found}")
    loaded = scores(replace(card, options=options))
    assert loaded == scores(replace(card, model="./tiny.gguf", options={}))


# --- Quantised checkpoints ------------------------------------------------------------------------


@pytest.fixture
def quantised(judge: Path, tmp_path: Path) -> Path:
    """A judge's folder whose model says that its weights are packed."""
    import shutil

    shutil.copytree(judge / "model", tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["quantization_config"] = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    path.write_text(json.dumps(config), encoding="utf-8")
    return tmp_path


def test_a_checkpoint_whose_package_is_missing_is_told_with_what_to_install(
    quantised: Path,
) -> None:
    if importlib.util.find_spec("optimum") is not None:
        pytest.skip("the package is installed")
    with pytest.raises(
        ConfigError, match=r"needs a package .* \(its weights are in gptq's"
    ) as told:
        load_model(card_of(quantised), device="cpu")
    assert told.value.hint == "pip install gptqmodel optimum"


def test_weights_are_not_quantised_without_the_package_that_does_it(judge: Path) -> None:
    if importlib.util.find_spec("bitsandbytes") is not None:
        pytest.skip("the package is installed")
    with pytest.raises(ConfigError, match="needs a package that is not installed") as told:
        load_model(card_of(judge, options={"load_in_4bit": True}), device="cpu")
    assert told.value.hint == "pip install bitsandbytes"


def test_nothing_is_cast_that_lies_beside_packed_weights(quantised: Path, judge: Path) -> None:
    def settings(folder: Path, device: str, **options: Any) -> dict[str, Any]:
        card = card_of(folder, options=options)
        base = find_base(card)
        return models._settings(card, base, device, models._quantisation(card, base))

    assert settings(judge, "cuda")["dtype"] == torch.bfloat16
    assert settings(judge, "cpu")["dtype"] == torch.float32
    assert settings(quantised, "cuda")["dtype"] == "auto"
    assert settings(quantised, "cuda", precision="float16")["dtype"] == torch.float16
    assert "quantization_config" not in settings(quantised, "cuda")
    with pytest.raises(ConfigError, match="is quantised already, by gptq"):
        settings(quantised, "cuda", load_in_4bit=True)


# --- Adapters -------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning")  # PEFT's
def test_a_merged_adapter_gives_what_one_beside_the_weights_gives(judge: Path) -> None:
    import peft

    card = with_adapter(judge)
    tokenizer, merged = load_model(card, device="cpu")
    assert type(merged).__name__ == "LlamaForCausalLM"
    base = make_model()
    ids = torch.tensor([tokenizer("It is four?")["input_ids"]])
    with torch.inference_mode():
        plain = base(input_ids=ids).logits
        laid = peft.PeftModel.from_pretrained(base, str(judge / "adapter")).eval()
        beside = laid(input_ids=ids).logits
        torch.testing.assert_close(merged(input_ids=ids).logits, beside, atol=1e-4, rtol=0)
    assert (plain - beside).abs().max() > 1


def test_an_adapter_stays_beside_quantised_weights(judge: Path) -> None:
    from autoj.backends.hf.adapters import lay_adapter

    merged = scores(with_adapter(judge))
    _, model = load_model(card_of(judge), device="cpu")
    model.is_quantized = True
    laid = lay_adapter(model, judge / "adapter")
    assert type(laid).__name__ == "PeftModelForCausalLM"
    from autoj.backends.hf.engine import HfBackend

    backend = HfBackend(card_of(judge), make_tokenizer(), laid)
    request = Request(
        key="k", judge="tiny", case_id="c", protocol="p", shown=(0, 1),
        decoding=Decoding(max_tokens=5), messages=(Message(role="user", content="Is it four?"),),
        prefix="It is ", choices=("Response 1", "Response 2", "Tie"),
    )  # fmt: skip
    scored, written = backend.complete([request, replace(request, key="l", choices=None)])
    assert isinstance(scored, Completion)
    assert scored.choice_logprobs == pytest.approx(merged, abs=1e-4)
    assert isinstance(written, Completion)
    (own,) = load(with_adapter(judge), device="cpu").complete([replace(request, choices=None)])
    assert isinstance(own, Completion)
    assert written.text == own.text


@pytest.fixture
def copied(judge: Path, tmp_path: Path) -> Path:
    """A judge's folder whose files may be spoilt."""
    import shutil

    shutil.copytree(judge, tmp_path / "judge")
    return tmp_path / "judge"


def test_an_adapter_other_than_the_cards_is_refused(judge: Path) -> None:
    with pytest.raises(ConfigError, match=r"the card of judge 'tiny' pins: expected sha256 00"):
        load_model(with_adapter(judge, adapter_revision=f"sha256:{'0' * 64}"), device="cpu")


def test_an_adapter_for_other_weights_is_refused(copied: Path) -> None:
    save_model(copied / "model", make_tokenizer(), make_model(seed=8))
    with pytest.raises(ConfigError, match=r"model.safetensors is not the file that .* trained on"):
        load_model(with_adapter(copied), device="cpu")


def test_an_adapter_for_another_shape_is_refused(copied: Path) -> None:
    other = make_model(hidden_size=64)
    assert SHAPE["hidden_size"] == 32
    make_adapter(copied / "adapter", other)
    with pytest.raises(ConfigError, match=r"does not fit LlamaForCausalLM: .*size mismatch"):
        load_model(with_adapter(copied), device="cpu")


def test_an_adapter_that_would_be_applied_in_part_is_refused(copied: Path) -> None:
    import safetensors.torch

    path = copied / "adapter" / "adapter_model.safetensors"
    weights = safetensors.torch.load_file(path)
    # Of an embedding for another vocabulary, which the configuration does not name.
    name = "base_model.model.model.embed_tokens.lora_embedding_A"
    safetensors.torch.save_file({**weights, name: torch.zeros(4, 1200)}, path)
    with pytest.raises(ConfigError, match=r"has 1 factors .*does not name, such as .*embedding_A"):
        load_model(with_adapter(copied), device="cpu")


def test_an_adapter_on_experts_one_by_one_is_applied_to_those_put_together(tmp_path: Path) -> None:
    import peft
    import safetensors.torch
    import transformers

    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "vocab_size": 50}
    model = transformers.MixtralForCausalLM(
        transformers.MixtralConfig(
            **sizes, num_attention_heads=2, num_key_value_heads=1, num_local_experts=2
        )
    )
    peft.LoraConfig(r=2, target_modules=["w1", "w2", "w3"], task_type="CAUSAL_LM").save_pretrained(
        tmp_path
    )
    layer = "base_model.model.model.layers.0.block_sparse_moe.experts"
    factors = {}
    for expert in range(2):
        for name, n_in, n_out in (("w1", 16, 32), ("w2", 32, 16), ("w3", 16, 32)):
            factors[f"{layer}.{expert}.{name}.lora_A.weight"] = torch.ones(2, n_in)
            factors[f"{layer}.{expert}.{name}.lora_B.weight"] = torch.ones(n_out, 2)
    safetensors.torch.save_file(factors, tmp_path / "adapter_model.safetensors")
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    merged = lay_adapter(model, tmp_path).state_dict()
    moved = {name for name, weight in merged.items() if not torch.equal(weight, before[name])}
    assert moved == {f"model.layers.0.mlp.experts.{its}_proj" for its in ("gate_up", "down")}


def test_loading_on_the_processor_bounds_its_kernels(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[None] = []
    monkeypatch.setattr("autoj.backends.hf.models.bound_kernel_caches", lambda: called.append(None))
    load_model(with_adapter(copied), device="cpu")
    assert called


def test_an_adapter_that_lacks_weights_is_refused(copied: Path) -> None:
    import safetensors.torch

    path = copied / "adapter" / "adapter_model.safetensors"
    weights = safetensors.torch.load_file(path)
    weights.pop(sorted(weights)[0])
    safetensors.torch.save_file(weights, path)
    with pytest.raises(ConfigError, match=r"does not fit .*missing adapter keys"):
        load_model(with_adapter(copied), device="cpu")


@pytest.mark.parametrize("keep", [0, 5, 100, 3000])
def test_half_an_adapter_is_refused(copied: Path, keep: int) -> None:
    path = copied / "adapter" / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ConfigError, match=r"adapter_model.safetensors is damaged"):
        load_model(with_adapter(copied), device="cpu")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("{", "adapter_config.json is not a PEFT configuration"),
        ("[]", "is not a PEFT configuration"),
        ("{}", "is not a PEFT configuration"),
        ('{"peft_type": "PROMPT_TUNING"}', "must be 'LORA', found 'PROMPT_TUNING'"),
        ('{"peft_type": "LORA", "target_modules": ["query"]}', "does not fit"),
    ],
)
def test_a_configuration_of_no_use_is_refused(copied: Path, config: str, said: str) -> None:
    (copied / "adapter" / "adapter_config.json").write_text(config)
    with pytest.raises(ConfigError, match=said):
        load_model(with_adapter(copied), device="cpu")


@pytest.mark.parametrize("name", ["adapter_config.json", "adapter_model.safetensors"])
def test_a_file_that_is_missing_is_told(copied: Path, name: str) -> None:
    card = with_adapter(copied)
    (copied / "adapter" / name).unlink()
    with pytest.raises(ConfigError, match=f"there is no .*{name}"):
        load_model(card, device="cpu")
