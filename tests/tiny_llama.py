"""Causal language models of two layers with random weights, made in milliseconds.

Their texts are noise, but the same noise each time, and what is computed with them must be right to
the last digit.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
transformers = pytest.importorskip(
    "transformers", reason="the extra `hf` is not installed: no transformers"
)
# Threads that wait for each other cost more than such models take.
torch.set_num_threads(1)

CHATML = ["<unk>", "<|im_start|>", "<|im_end|>"]
LLAMA2 = ["<unk>", "<s>", "</s>"]
_TEXT = """You are assessing two submitted responses on a given user's query. Which one is better?
[Response 1]: rivers flow to the seas. [Response 2]: it is four. A tie; rating: [[5]] says nothing.
Is is is 1 12 123 10 Response Tie better decision final 说:不。 Émile — yes
"""
SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 700,
}


def make_tokenizer(special: Sequence[str] = CHATML, *, begins: bool = False) -> Any:
    """A byte-level tokenizer of about 330 tokens.

    Args:
        special: the unknown token, the first token and the end token.
        begins: whether it puts the first token in front of a text by itself.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator([_TEXT] * 3, trainer)
    if begins:
        inner.post_processor = processors.TemplateProcessing(
            single=f"{special[1]} $A", special_tokens=[(special[1], 1)]
        )
    unknown, first, end = special
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, unk_token=unknown, bos_token=first, eos_token=end
    )


def make_model(kind: str = "Llama", seed: int = 0, **settings: Any) -> Any:
    """A causal language model with random weights, large enough that texts differ."""
    torch.manual_seed(seed)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=340, bos_token_id=1, eos_token_id=2, pad_token_id=None, **{**SHAPE, **settings}
    )
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            parameter.data.mul_(8)
    return model


def save_model(folder: Path, tokenizer: Any, model: Any) -> Path:
    """A folder in transformers' layout."""
    shown = transformers.logging.is_progress_bar_enabled()
    transformers.logging.disable_progress_bar()
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    if shown:
        transformers.logging.enable_progress_bar()
    return folder


def make_adapter(folder: Path, model: Any, metadata: dict[str, str] | None = None) -> Path:
    """A LoRA adapter with random weights for a model, in PEFT's layout."""
    peft = pytest.importorskip("peft", reason="the extra `hf` is not installed: no peft")
    import safetensors.torch

    torch.manual_seed(5)
    config = peft.LoraConfig(
        task_type="CAUSAL_LM", r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # PEFT uses a name that is going
        laid = peft.get_peft_model(model, config)
    for name, parameter in laid.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(parameter, std=0.2)
    laid.save_pretrained(folder)
    laid.unload()
    weights = folder / "adapter_model.safetensors"
    safetensors.torch.save_file(safetensors.torch.load_file(weights), weights, metadata=metadata)
    return folder
