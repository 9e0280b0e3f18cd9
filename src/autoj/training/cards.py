"""What a training learnt, as a judge: weights, card, model card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autoj.protocols import digest_prompts, load_protocol
from autoj.records import JudgeCard
from autoj.training.folder import TrainingFolder, sha256_of
from autoj.training.model_card import render_model_card
from autoj.training.models import save_adapter, save_model
from autoj.training.recipe import Recipe

__all__ = ["SCALAR_OPTIONS", "model_from_anywhere", "pin", "write_judge"]

SCALAR_OPTIONS: dict[str, Any] = {
    "input": "text",
    "template": "[Query]: {query}\n***\n[Response]: {response}",
}
"""How a reward model that we train reads a query and a response."""

_REWARD = "reward"


def write_judge(
    folder: TrainingFolder,
    recipe: Recipe,
    base: JudgeCard,
    model: Any,
    tokenizer: Any,
    *,
    figures: Mapping[str, float],
) -> None:
    """Write weights, then the model card, then the judge's card.

    Args:
        folder: where to.
        recipe: what was trained.
        base: the card that it started from.
        model: as trained.
        tokenizer: its tokenizer.
        figures: on the validation file, of the step that was kept.
    """
    kinds = {objective.kind for objective in recipe.objectives}
    if kinds == {"scalar"}:
        save_model(model, tokenizer, folder.path / "model", as_scores=True)
        card = _scalar_card(recipe, base, folder.path / "model")
    else:
        if "scalar" in kinds:
            _write_reward_judge(folder, recipe, base, model, tokenizer)
        card = _worded_card(folder, recipe, base, model, tokenizer)
    card["training_data"] = _data_names(folder)
    folder.write_figures(figures)
    library = "peft" if "adapter" in card else "transformers"
    text = render_model_card(card, folder.settings(), figures, library=library)
    (folder.path / "README.md").write_text(text, encoding="utf-8")
    folder.write_card(card)


def _data_names(folder: TrainingFolder) -> list[str]:
    """The files that were trained on, pinned by their hashes."""
    files = folder.settings()["files"]["data"]
    return [f"{entry['name']} sha256:{entry['sha256']}" for entry in files]


def _worded_card(
    folder: TrainingFolder, recipe: Recipe, base: JudgeCard, model: Any, tokenizer: Any
) -> dict[str, Any]:
    named = [load_protocol(name).name for name in recipe.protocols]
    protocols = named or _learnt_protocols(recipe)
    card: dict[str, Any] = {"title": recipe.title}
    if recipe.update.method == "lora":
        revision = base.revision or pin(base.locate(base.model))
        metadata: dict[str, str] = {}
        if revision is not None and revision.startswith("sha256:"):
            metadata["base_sha256"] = revision.removeprefix("sha256:")
        save_adapter(model, folder.path / "adapter", metadata)
        digest = sha256_of(folder.path / "adapter" / "adapter_model.safetensors")
        card |= {
            "backend": base.backend,
            "model": model_from_anywhere(base),
            "revision": revision,
            "adapter": "./adapter",
            "adapter_revision": f"sha256:{digest}",
            "options": dict(base.options),
        }
    else:
        save_model(model, tokenizer, folder.path / "model", as_scores=False)
        card |= {"backend": "hf", "model": "./model", "revision": pin(folder.path / "model")}
    critique = recipe.critique
    if critique is None:
        critique = any(objective.kind == "critique" for objective in recipe.objectives)
    decoding = asdict(base.decoding)
    return {
        **card,
        "wrapper": base.wrapper,
        "protocols": protocols,
        "prompts_sha256": digest_prompts(base.wrapper, map(load_protocol, protocols)),
        "critique": critique,
        "context_tokens": base.context_tokens,
        "languages": list(base.languages),
        "decoding": decoding,
        "licence": recipe.licence or base.licence,
    }


def model_from_anywhere(base: JudgeCard) -> str:
    """A card's model, by a path that does not depend on where the card lies."""
    if base.model.startswith("./"):
        return str(base.locate(base.model).resolve())
    return base.model


def _learnt_protocols(recipe: Recipe) -> list[str]:
    names: list[str] = []
    for objective in recipe.objectives:
        if objective.kind == "scalar":
            continue
        # A judge that compares ratings gives ratings.
        alone = ["single-verdict"] if objective.kind == "preference" else []
        own = load_protocol(objective.protocol).name
        names += [name for name in (own, *alone) if name not in names]
    return names


def pin(model: Path) -> str | None:
    """What pins a model's weights, where they are one file: its hash.

    Args:
        model: a GGUF file, or a folder in transformers' layout.
    """
    weights = model / "model.safetensors" if model.is_dir() else model
    return f"sha256:{sha256_of(weights)}" if weights.is_file() else None


def _scalar_card(recipe: Recipe, base: JudgeCard, model: Path) -> dict[str, Any]:
    return {
        "title": recipe.title,
        "backend": "scalar",
        "model": "./model",
        "revision": pin(model),
        "wrapper": "none",
        "protocols": ["scalar"],
        "prompts_sha256": digest_prompts("none", [load_protocol("scalar")]),
        "context_tokens": recipe.max_tokens,
        "decoding": {"max_tokens": 1},
        "languages": list(base.languages),
        "licence": recipe.licence or base.licence,
        "options": dict(SCALAR_OPTIONS),
    }


def _write_reward_judge(
    folder: TrainingFolder, recipe: Recipe, base: JudgeCard, model: Any, tokenizer: Any
) -> None:
    """The score of a mixture as a judge of its own, in a folder inside."""
    import copy

    inner = TrainingFolder(folder.path / _REWARD)
    # Merging takes the adapter apart, which is still to be saved.
    save_model(copy.deepcopy(model), tokenizer, inner.path / "model", as_scores=True)
    card = _scalar_card(recipe, base, inner.path / "model")
    card["training_data"] = _data_names(folder)
    inner.write_card(card)
