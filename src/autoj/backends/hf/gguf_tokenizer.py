"""Restores the word splitting of a tokenizer that transformers read from a GGUF file.

A GGUF file names its tokenizer's pre-tokenization, which splits a text before letters are joined to
tokens (`tokenizer.ggml.pre`). transformers knows some of these names and uses GPT-2's for all
others. For SmolLM2, which splits off each digit first, it would make two tokens of the blank line
before "1." where the model was trained on one.

**Source:** llama.cpp, `llama-vocab.cpp`: the expressions of each name.
"""

import json
from pathlib import Path
from typing import Any

from autoj.errors import ConfigError

_AS_GPT2 = ("gpt-2", "mpt", "olmo", "jais", "trillion", "granite-docling")
_DIGITS_FIRST = (
    "smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b",
)  # fmt: skip


def mend_splits(tokenizer: Any, weights: Path) -> None:
    """Sets the pre-tokenization of a tokenizer that transformers read from a GGUF file.

    Args:
        tokenizer: one of transformers; it is changed.
        weights: the file.

    Raises:
        ConfigError: neither transformers nor this function knows the named pre-tokenization.
    """
    import gguf
    from tokenizers import pre_tokenizers

    inner = tokenizer.backend_tokenizer
    found = json.loads(inner.to_str())["pre_tokenizer"] or {}
    if found.get("type") != "ByteLevel" or not found.get("use_regex"):
        return  # not GPT-2's: transformers knew the name, or the tokenizer needs none
    field = gguf.GGUFReader(weights).get_field("tokenizer.ggml.pre")
    name = None if field is None else field.contents()
    if name in _DIGITS_FIRST:
        inner.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
            ]
        )
    elif name not in _AS_GPT2:
        raise ConfigError(
            f"{weights}: its tokenizer's pre-tokenization {name!r} is unknown here; the model "
            "would read other tokens than it was trained on",
            hint="Use the model's folder in transformers' layout, or its name on the hub.",
        )
