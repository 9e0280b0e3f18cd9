"""The model in training: its trainable weights, and saving it as a judge's model."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autoj.errors import ConfigError
from autoj.training.judge.recipe import Update


def add_score_head(model: Any) -> None:
    """Adds the module `score` to a causal language model: from hidden states to one number.

    Its name and shape follow transformers' sequence classification models, the format in which it
    is saved.
    """
    import torch

    width = model.config.get_text_config().hidden_size
    head = torch.nn.Linear(width, 1, bias=False)
    # Near 0, so that no response is preferred at the start.
    torch.nn.init.normal_(head.weight, std=1 / (width + 1))
    model.add_module("score", head.to(model.device))


def multiplies_bfloat16_fast(device: str) -> bool:
    """True where a device ("cuda", "cpu") has instructions for products in bfloat16.

    Without them bfloat16 is slower than float32.
    """
    import torch

    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def choose_weights(model: Any, update: Update) -> Any:
    """Freezes all weights but those to train; returns the model, wrapped by PEFT for LoRA.

    Args:
        model: a causal language model.
        update: the recipe's choice of weights.

    Raises:
        ConfigError: the model has fewer layers than are to be trained, or no list of layers.
    """
    layers = getattr(model.get_decoder(), "layers", None)
    if layers is None:
        raise ConfigError(f"{type(model).__name__} has no list of layers, so it cannot be trained")
    n_layers = len(layers)
    n_top = update.top_layers or n_layers
    if n_top > n_layers:
        raise ConfigError(f"update.top_layers is {n_top}, but the model has {n_layers} layers")
    has_score = hasattr(model, "score")
    if update.method == "lora":
        return _with_lora(model, update, layers, n_layers - n_top, has_score=has_score)
    if update.method == "layers":
        for parameter in model.parameters():
            parameter.requires_grad = False
        trained = [*list(layers)[n_layers - n_top :], getattr(model.get_decoder(), "norm", None)]
        for module in [*trained, model.score if has_score else None]:
            for parameter in module.parameters() if module is not None else ():
                parameter.requires_grad = True
    return model


def _with_lora(model: Any, update: Update, layers: Any, first: int, *, has_score: bool) -> Any:
    import peft
    import torch

    names = {
        name.rsplit(".", 1)[-1]
        for name, module in layers.named_modules()
        if isinstance(module, torch.nn.Linear)
    }
    if not names:
        raise ConfigError(f"{type(model).__name__} has no linear layers for an adapter")
    config = peft.LoraConfig(
        task_type="CAUSAL_LM",
        r=update.rank,
        lora_alpha=update.alpha or 2 * update.rank,
        lora_dropout=update.dropout,
        target_modules=sorted(names),
        layers_to_transform=list(range(first, len(layers))),
        layers_pattern="layers",
        modules_to_save=["score"] if has_score else None,
    )
    return peft.get_peft_model(model, config)


def n_parameters(model: Any) -> tuple[int, int]:
    """Counts all weights of a model and the trainable ones."""
    sizes = [(weight.numel(), weight.requires_grad) for weight in model.parameters()]
    return sum(size for size, _ in sizes), sum(size for size, trained in sizes if trained)


def save_adapter(model: Any, folder: Path, metadata: Mapping[str, str]) -> None:
    """Writes a LoRA adapter in PEFT's layout, in float16.

    Args:
        model: the model wrapped by PEFT.
        folder: the folder to write.
        metadata: the metadata of the weights file: `base_sha256`, or nothing. One entry at
                most: safetensors writes several in any order, which would change the file's hash.
    """
    import torch
    from safetensors.torch import load_file, save_file

    model.save_pretrained(folder)
    weights = folder / "adapter_model.safetensors"
    halved = {
        name: tensor.to(torch.float16)
        for name, tensor in load_file(weights).items()
        if ".lora_" in name
    }
    save_file(halved, weights, metadata=dict(metadata) or {"format": "pt"})
    _describe_plainly(folder / "adapter_config.json")
    # PEFT's own model card is empty, and a judge's folder has one.
    (folder / "README.md").unlink(missing_ok=True)


def _describe_plainly(config: Path) -> None:
    """Removes from an adapter's configuration references to this machine and to other files.

    The base is pinned by its hash and not by its path, and a score head trained beside the adapter
    is saved as a judge of its own.
    """
    content = json.loads(config.read_text(encoding="utf-8"))
    content |= {"base_model_name_or_path": None, "modules_to_save": None}
    config.write_text(json.dumps(content, indent=2, sort_keys=True), encoding="utf-8")


def save_model(model: Any, tokenizer: Any, folder: Path, *, as_scores: bool) -> None:
    """Writes a whole model in transformers' layout, its adapter merged.

    Args:
        model: a causal language model, or one wrapped by PEFT, which is merged and cannot be used
            afterwards.
        tokenizer: its tokenizer.
        folder: the folder to write.
        as_scores: whether it is a reward model: the decoder and the module `score`.
    """
    import transformers

    merged = model.merge_and_unload() if hasattr(model, "merge_and_unload") else model
    if as_scores:
        config = transformers.AutoConfig.for_model(**merged.config.to_dict())
        config.num_labels = 1
        config.pad_token_id = tokenizer.pad_token_id
        scorer = transformers.AutoModelForSequenceClassification.from_config(config)
        weights = {
            name: tensor
            for name, tensor in merged.state_dict().items()
            if re.match(r"model\.|score\.", name)
        }
        scorer.load_state_dict(weights)
        merged = scorer
    elif hasattr(merged, "score"):
        del merged.score
    merged.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
