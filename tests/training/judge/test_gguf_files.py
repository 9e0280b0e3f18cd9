"""A GGUF file written from transformers' layout computes what the model did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autoj.errors import ConfigError
from autoj.training.judge.gguf_files import pack_gguf, write_gguf
from tests import tiny_llama

gguf = pytest.importorskip("gguf", reason="the extra `hf` is not installed: no gguf")
torch = pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")

TEXT = "Which one is better? It's four: 12 rivers.\n\n1. Émile — yes"
# Other sizes of a head are not read from the file by transformers.
HEAD_DIM = {"Qwen3": {"head_dim": 128}}


def written(folder: Path, kind: str, **settings: Any) -> tuple[Any, Any, Path]:
    """A model of 32 wide layers with its tokenizer, and its file."""
    tokenizer = tiny_llama.make_tokenizer()
    model = tiny_llama.make_model(kind, **HEAD_DIM.get(kind, {}), **settings)
    file = folder / "model.gguf"
    write_gguf(model, tokenizer, file)
    return tokenizer, model, file


def logits(model: Any, ids: list[int]) -> Any:
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].log_softmax(-1)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("Llama", {}),
        ("Llama", {"tie_word_embeddings": True, "attention_bias": True}),
        ("Qwen2", {}),
        ("Qwen3", {}),
    ],
)
def test_a_file_reads_the_same_tokens_and_predicts_the_same(
    tmp_path: Path, kind: str, settings: dict[str, Any]
) -> None:
    tokenizer, model, file = written(tmp_path, kind, **settings)
    read_tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path, gguf_file=file.name)
    read = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path, gguf_file=file.name, dtype="float32",
    ).eval()  # fmt: skip
    ids = tokenizer(TEXT).input_ids
    assert read_tokenizer(TEXT).input_ids == ids
    assert read_tokenizer.convert_ids_to_tokens([0, 1, 2]) == tiny_llama.CHATML
    assert read_tokenizer.eos_token_id == tokenizer.eos_token_id
    difference = (logits(model, ids) - logits(read, ids)).abs().max()
    assert difference < 0.02  # float16
    # The order of a head's rows is what no shape shows: without it the difference is whole nats.
    assert logits(model, ids).std() > 0.5


@pytest.mark.parametrize(("packing", "most"), [("Q8_0", 0.02), ("Q4_0", 0.2)])
def test_packed_weights_are_near_and_small(tmp_path: Path, packing: Any, most: float) -> None:
    _, _, file = written(tmp_path, "Llama")
    packed = tmp_path / "packed.gguf"
    pack_gguf(file, packed, packing)
    before = {tensor.name: tensor for tensor in gguf.GGUFReader(file).tensors}
    after = gguf.GGUFReader(packed)
    assert after.get_field("tokenizer.ggml.pre").contents() == "gpt-2"
    kind = gguf.LlamaFileType[f"MOSTLY_{packing}"]
    assert after.get_field("general.file_type").contents() == kind
    for tensor in after.tensors:
        one = gguf.dequantize(before[tensor.name].data, before[tensor.name].tensor_type)
        other = gguf.dequantize(tensor.data, tensor.tensor_type)
        assert abs(one - other).max() <= most * abs(one).max()
        is_vocabulary = tensor.name in ("token_embd.weight", "output.weight")
        if len(tensor.shape) == 1:
            assert tensor.tensor_type.name == "F32"
        else:
            assert tensor.tensor_type.name == ("Q8_0" if is_vocabulary else packing)
    assert packed.stat().st_size < file.stat().st_size


def test_what_a_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    tokenizer = tiny_llama.make_tokenizer()
    scaled = {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}
    for settings, said in (
        ({"kind": "Mistral"}, "architecture 'mistral'"),
        ({"rope_parameters": scaled}, r"rotary embeddings are scaled \(linear\)"),
        ({"hidden_act": "gelu"}, "activation is 'gelu'"),
    ):
        with pytest.raises(ConfigError, match=said) as told:
            write_gguf(tiny_llama.make_model(**settings), tokenizer, tmp_path / "model.gguf")
        assert "convert_hf_to_gguf.py" in str(told.value)
    model = tiny_llama.make_model()
    model.model.layers[0].mlp.up_proj.weight.data[0, 0] = 1e6
    with pytest.raises(ConfigError, match="too large for float16"):
        write_gguf(model, tokenizer, tmp_path / "model.gguf")


@pytest.mark.parametrize(
    ("splitter", "name"),
    [("digits", "smollm"), ("qwen", "qwen2"), ("llama3", "llama-bpe"), ("spaces", None)],
)
def test_a_tokenizer_that_splits_otherwise_than_gguf_can_name_is_refused(
    tmp_path: Path, splitter: str, name: str | None
) -> None:
    from tokenizers import Regex, pre_tokenizers
    from transformers.models.qwen2.tokenization_qwen2 import PRETOKENIZE_REGEX

    tokenizer = tiny_llama.make_tokenizer()
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)

    def splits(pattern: str) -> Any:
        split = pre_tokenizers.Split(Regex(pattern), "isolated")
        return pre_tokenizers.Sequence([split, plain])

    tokenizer.backend_tokenizer.pre_tokenizer = {
        "digits": pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        ),
        "qwen": splits(PRETOKENIZE_REGEX),
        "llama3": splits(PRETOKENIZE_REGEX.replace(r"\p{N}|", r"\p{N}{1,3}|")),
        "spaces": pre_tokenizers.Whitespace(),
    }[splitter]
    file = tmp_path / "model.gguf"
    if name is None:
        with pytest.raises(ConfigError, match="no name for here"):
            write_gguf(tiny_llama.make_model(), tokenizer, file)
    else:
        write_gguf(tiny_llama.make_model(), tokenizer, file)
        assert gguf.GGUFReader(file).get_field("tokenizer.ggml.pre").contents() == name
