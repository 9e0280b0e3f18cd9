"""GGUF files of trained judges: written from a model of transformers, and packed.

Tensors get the names of the library's own table. Llama's query and key projections have their rows
in another order in a file than in transformers; see `backends.embedded.merging`.

**Source:** the layout is that of llama.cpp's converter, which is in no package.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from autoj.backends.embedded.dense import VOCABULARY
from autoj.backends.embedded.merging import llama_rows
from autoj.errors import ConfigError

Packing: TypeAlias = Literal["Q8_0", "Q4_0"]

_ARCHITECTURES = ("llama", "qwen2", "qwen3")
_MERGED = "Export it as merged and convert the folder with llama.cpp's convert_hf_to_gguf.py."
_BLOCK_ROWS = 4096
_LETTERS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_SPLITS = {
    rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|{_LETTERS}|\p{{N}}|{_REST}": "qwen2",
    rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|{_LETTERS}|\p{{N}}{{1,3}}|{_REST}": "llama-bpe",
}
"""The name in GGUF of each expression by which a tokenizer splits texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tensor:
    """A tensor to write."""

    name: str
    shape: tuple[int, ...]
    kind: Any
    """Its type in GGUF."""
    load: Callable[[int, int], Any]
    """Gives a range of its rows in float32."""


def write_gguf(model: Any, tokenizer: Any, out: Path) -> None:
    """Writes a language model of transformers as a GGUF file with float16 matrices.

    Args:
        model: a causal language model, without an adapter.
        tokenizer: its tokenizer.
        out: the file to write.

    Raises:
        ConfigError: the architecture, its rotary embeddings or the tokenizer have no form in GGUF
            here, or a weight is too large for float16.
    """
    import gguf

    config = model.config
    _check_architecture(config)
    tensors = list(_model_tensors(model))
    with closing(gguf.GGUFWriter(out, config.model_type)) as writer:
        _add_shape(writer, config)
        _add_tokenizer(writer, tokenizer, config.vocab_size)
        writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
        _write(writer, tensors)


def pack_gguf(source: Path, out: Path, packing: Packing) -> None:
    """Copies a GGUF file with its matrices packed.

    Args:
        source: a file with float16 matrices.
        out: the file to write.
        packing: Q8_0 has 8.5 bits a weight; Q4_0 has 4.5, and 8.5 for the vocabulary. Matrices
            whose rows are no multiple of 32 stay as they are.
    """
    import gguf

    reader = gguf.GGUFReader(source)
    architecture = reader.get_field("general.architecture")
    with closing(gguf.GGUFWriter(out, architecture.contents())) as writer:
        for field in reader.fields.values():
            if field.name.startswith("GGUF.") or field.name == "general.architecture":
                continue  # the writer makes these itself
            if field.name == "general.file_type":
                writer.add_file_type(gguf.LlamaFileType[f"MOSTLY_{packing}"])
                continue
            kind = field.types[0]
            of_kind = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(field.name, field.contents(), kind, sub_type=of_kind)
        _write(writer, [_packed(tensor, packing) for tensor in reader.tensors])


def _packed(tensor: Any, packing: Packing) -> _Tensor:
    import gguf

    def load(start: int, stop: int) -> Any:
        return gguf.dequantize(tensor.data[start:stop], tensor.tensor_type)

    # A file states shapes with the columns first.
    shape = tuple(map(int, tensor.shape[::-1]))
    kinds = gguf.GGMLQuantizationType
    # Vocabularies lose most by rounding, and are what llama.cpp keeps finer, too.
    kind = kinds.Q8_0 if tensor.name in VOCABULARY else kinds[packing]
    if len(shape) < 2 or shape[-1] % gguf.GGML_QUANT_SIZES[kind][0]:
        kind = tensor.tensor_type
    return _Tensor(name=tensor.name, shape=shape, kind=kind, load=load)


def _write(writer: Any, tensors: Sequence[_Tensor]) -> None:
    """Writes all that a writer was told, and tensors, of which memory holds one at a time."""
    import gguf

    for tensor in tensors:
        group, group_bytes = gguf.GGML_QUANT_SIZES[tensor.kind]
        n_bytes = int(np.prod(tensor.shape)) // group * group_bytes
        is_small = tensor.kind == gguf.GGMLQuantizationType.F32
        kind = np.dtype(np.float32 if is_small else np.float16)
        packed = None if group == 1 else tensor.kind
        writer.add_tensor_info(tensor.name, tensor.shape, kind, n_bytes, raw_dtype=packed)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for tensor in tensors:
        blocks = [
            gguf.quantize(tensor.load(start, start + _BLOCK_ROWS), tensor.kind)
            for start in range(0, tensor.shape[0], _BLOCK_ROWS)
        ]
        writer.write_tensor_data(np.concatenate(blocks))


def _check_architecture(config: Any) -> None:
    if config.model_type not in _ARCHITECTURES:
        raise ConfigError(
            f"models of the architecture {config.model_type!r} cannot be written as GGUF here, "
            f"only {', '.join(_ARCHITECTURES)}",
            hint=_MERGED,
        )
    rope = (getattr(config, "rope_parameters", None) or {}).get("rope_type", "default")
    wrong = None
    if rope != "default":
        wrong = f"its rotary embeddings are scaled ({rope})"
    elif config.hidden_act != "silu":
        wrong = f"its activation is {config.hidden_act!r}"
    elif getattr(config, "use_sliding_window", False):
        wrong = "its attention has a sliding window"
    if wrong is not None:
        raise ConfigError(f"this model cannot be written as GGUF here: {wrong}", hint=_MERGED)


def _add_shape(writer: Any, config: Any) -> None:
    n_heads = config.num_attention_heads
    head = getattr(config, "head_dim", None) or config.hidden_size // n_heads
    rope = getattr(config, "rope_parameters", None) or {}
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(n_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(float(rope.get("rope_theta", 10000.0)))
    writer.add_rope_dimension_count(head)
    writer.add_vocab_size(config.vocab_size)
    if head * n_heads != config.hidden_size:
        writer.add_key_length(head)
        writer.add_value_length(head)


def _model_tensors(model: Any) -> Iterator[_Tensor]:
    import gguf

    config = model.config
    architecture = gguf.MODEL_ARCH[config.model_type.upper()]
    names = gguf.get_tensor_name_map(architecture, config.num_hidden_layers)
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    seen: set[int] = set()
    for key, weight in model.state_dict().items():
        if weight.data_ptr() in seen:
            continue  # the projection to the vocabulary is the embedding itself
        seen.add(weight.data_ptr())
        name = names.get_name(key, try_suffixes=(".weight", ".bias"))
        if name is None:
            raise ConfigError(
                f"the tensor {key!r} has no place in a GGUF file of {config.model_type!r}",
                hint=_MERGED,
            )
        part = key.split(".")[-2]
        rows = None
        if config.model_type == "llama" and part in heads:
            rows = llama_rows(weight.shape[0], heads[part])
        kinds = gguf.GGMLQuantizationType
        yield _Tensor(
            name=name,
            shape=tuple(weight.shape),
            kind=kinds.F32 if weight.ndim == 1 else kinds.F16,
            load=_loader(weight, rows, key),
        )


def _loader(weight: Any, rows: Any, key: str) -> Callable[[int, int], Any]:
    def load(start: int, stop: int) -> Any:
        part = weight[start:stop] if rows is None else weight[rows[start:stop]]
        values = part.detach().float().cpu().numpy()
        if weight.ndim > 1 and not np.abs(values).max() <= np.finfo(np.float16).max:
            raise ConfigError(f"weights of {key!r} are not finite, or too large for float16")
        return values

    return load


def _add_tokenizer(writer: Any, tokenizer: Any, n_rows: int) -> None:
    """Adds the vocabulary, the merges and the special tokens of a byte-level tokenizer.

    Args:
        writer: of the file.
        tokenizer: one of transformers.
        n_rows: the rows of the embedding, which may be more than the tokens.
    """
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    model = content["model"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(_split_name(content))
    tokens = [f"[PAD{number}]" for number in range(n_rows)]
    types = [5] * n_rows  # unused
    for text, number in model["vocab"].items():
        tokens[number], types[number] = text, 1
    for added in content["added_tokens"]:
        # Control tokens, and those that a user's text may hold.
        tokens[added["id"]], types[added["id"]] = added["content"], 3 if added["special"] else 4
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    # Older files write a merge as one string, newer ones as two.
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    writer.add_token_merges(merges)
    end = tokenizer.eos_token_id
    writer.add_eos_token_id(end)
    writer.add_bos_token_id(end if tokenizer.bos_token_id is None else tokenizer.bos_token_id)
    writer.add_pad_token_id(end if tokenizer.pad_token_id is None else tokenizer.pad_token_id)
    if tokenizer.unk_token_id is not None:
        writer.add_unk_token_id(tokenizer.unk_token_id)
    begins = tokenizer("a").input_ids[:1] == [tokenizer.bos_token_id]
    writer.add_add_bos_token(begins)
    if tokenizer.chat_template:
        writer.add_chat_template(tokenizer.chat_template)


def _split_name(content: dict[str, Any]) -> str:
    """The name in GGUF of the way in which a tokenizer splits texts.

    Raises:
        ConfigError: the tokenizer is no byte-level BPE, or splits in a way without a name here.
    """
    splitter = content["pre_tokenizer"] or {}
    steps = splitter.get("pretokenizers", [splitter])
    if content["model"]["type"] == "BPE" and steps[-1].get("type") == "ByteLevel":
        before, splits_itself = steps[:-1], steps[-1].get("use_regex", True)
        kinds = [step["type"] for step in before]
        if splits_itself and not before:
            return "gpt-2"
        if splits_itself and kinds == ["Digits"] and before[0]["individual_digits"]:
            return "smollm"
        if not splits_itself and kinds == ["Split"]:
            name = _SPLITS.get(before[0]["pattern"].get("Regex"))
            if name is not None:
                return name
    raise ConfigError(
        f"the judge's tokenizer ({content['model']['type']}) splits texts in a way that GGUF has "
        "no name for here; the model would read other tokens than it was trained on",
        hint=_MERGED,
    )
