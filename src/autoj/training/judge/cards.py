"""The output of a training as a judge: weights, card, model card."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from autoj.backends._adapters import BASE_FIELD, WEIGHTS_FILE
from autoj.backends.hf.templates import PIN as TEMPLATE_PIN
from autoj.backends.hf.templates import read_template
from autoj.chat import TEMPLATE
from autoj.jsonl import sha256_of
from autoj.protocols import digest_prompts, load_protocol
from autoj.records import Decoding, JudgeCard
from autoj.training.judge.folder import TrainingFolder
from autoj.training.judge.model_card import render_model_card
from autoj.training.judge.models import save_adapter, save_model
from autoj.training.judge.recipe import Recipe

SCALAR_OPTIONS: dict[str, Any] = {
    "input": "text",
    "template": "[Query]: {query}\n***\n[Response]: {response}",
}
"""The options of the reward models that we train: the template of a query with its response."""

ADAPTER = "adapter"
"""The name of an adapter's folder, beside the card."""

_REWARD = "reward"

_JUDGMENT_TOKENS = 1024
"""The tokens that a critique with its verdict may take, as in the release's own cards."""


def write_judge(
    folder: TrainingFolder,
    recipe: Recipe,
    base: JudgeCard,
    model: Any,
    tokenizer: Any,
    *,
    figures: Mapping[str, float],
) -> None:
    """Writes the weights, then the model card, then the judge's card.

    Args:
        folder: the training's folder.
        recipe: the settings of the training.
        base: the card of the model that it started from.
        model: the trained model.
        tokenizer: its tokenizer.
        figures: results on the validation file at the kept step.
    """
    kinds = {objective.kind for objective in recipe.objectives}
    if kinds == {"scalar"}:
        save_model(model, tokenizer, folder.path / "model", as_scores=True)
        card = _scalar_card(recipe, base, folder.path / "model")
    else:
        if "scalar" in kinds:
            _write_reward_judge(folder, recipe, base, model, tokenizer)
        card = _worded_card(folder, recipe, base, model, tokenizer)
    card["training_data"] = _data_names(folder, base)
    folder.write_figures(figures)
    library = "peft" if "adapter" in card else "transformers"
    text = render_model_card(card, folder.settings(), figures, library=library)
    (folder.path / "README.md").write_text(text, encoding="utf-8")
    folder.write_card(card)


def _data_names(folder: TrainingFolder, base: JudgeCard) -> list[str]:
    """The training files with their hashes, those of the base first."""
    files = folder.settings()["files"]["data"]
    own = [f"{entry['name']} sha256:{entry['sha256']}" for entry in files]
    return list(dict.fromkeys([*base.training_data, *own]))


def _worded_card(
    folder: TrainingFolder, recipe: Recipe, base: JudgeCard, model: Any, tokenizer: Any
) -> dict[str, Any]:
    named = [load_protocol(name).name for name in recipe.protocols]
    protocols = named or _learnt_protocols(recipe)
    card: dict[str, Any] = {"title": recipe.title}
    if recipe.update.method == "lora":
        save_adapter(model, folder.path / ADAPTER, base_metadata(base))
        card |= adapter_fields(base, folder.path)
    else:
        save_model(model, tokenizer, folder.path / "model", as_scores=False)
        card |= {"backend": "hf", "model": "./model", "revision": pin(folder.path / "model")}
    critique = recipe.critique
    if critique is None:
        critique = any(objective.kind == "critique" for objective in recipe.objectives)
    if base.wrapper == TEMPLATE:
        # The template that it was trained on is pinned, as its prompts are.
        pinned = {TEMPLATE_PIN: read_template(tokenizer).sha256}
        card["options"] = {**card.get("options", {}), **pinned}
    return {
        **card,
        "wrapper": base.wrapper,
        "protocols": protocols,
        "prompts_sha256": digest_prompts(base.wrapper, map(load_protocol, protocols)),
        "critique": critique,
        "context_tokens": base.context_tokens,
        "languages": list(base.languages),
        "decoding": asdict(_decoding(recipe, base)),
        "licence": recipe.licence or base.licence,
    }


def _decoding(recipe: Recipe, base: JudgeCard) -> Decoding:
    """The base's decoding, with room for whole judgments where the judge has learnt to write them.

    A verdict stands at the end of its judgment, and a base's own limit may cut it off. At most half
    of the context is kept for it.
    """
    if all(objective.kind != "judgment" for objective in recipe.objectives):
        return base.decoding
    room = min(_JUDGMENT_TOKENS, base.context_tokens // 2)
    return replace(base.decoding, max_tokens=max(base.decoding.max_tokens, room))


def base_revision(base: JudgeCard) -> str | None:
    """The revision of a base by its card, else the hash of its weights if they are local."""
    return base.revision or pin(base.locate(base.model))


def base_metadata(base: JudgeCard) -> dict[str, str]:
    """The metadata of an adapter's weights file: the hash of the base it was trained on."""
    kind, _, digest = (base_revision(base) or "").partition(":")
    return {BASE_FIELD: digest} if kind == "sha256" else {}


def adapter_fields(base: JudgeCard, folder: Path) -> dict[str, Any]:
    """The fields of a card that name a base and the adapter in a folder beside the card."""
    # A path that does not depend on the place of the base's card.
    inside = base.model.startswith("./")
    return {
        "backend": base.backend,
        "model": str(base.locate(base.model).resolve()) if inside else base.model,
        "revision": base_revision(base),
        "adapter": f"./{ADAPTER}",
        "adapter_revision": f"sha256:{sha256_of(folder / ADAPTER / WEIGHTS_FILE)}",
        # Thresholds that were fitted to the base's own answers are none of the adapter's.
        "options": {name: value for name, value in base.options.items() if name != "proofread"},
    }


def _learnt_protocols(recipe: Recipe) -> list[str]:
    names: list[str] = []
    for objective in recipe.objectives:
        if objective.kind == "scalar":
            continue
        # A judge that compares by ratings can also rate a single response.
        alone = ["single-verdict"] if objective.kind == "preference" else []
        own = load_protocol(objective.protocol).name
        names += [name for name in (own, *alone) if name not in names]
    return names


def pin(model: Path) -> str | None:
    """The hash of a model's weights if they are one file; else None.

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
    """Writes the score head of a mixture as a judge of its own, in a folder inside."""
    import copy

    inner = TrainingFolder(folder.path / _REWARD)
    # Merging destroys the adapter, which has yet to be saved.
    save_model(copy.deepcopy(model), tokenizer, inner.path / "model", as_scores=True)
    card = _scalar_card(recipe, base, inner.path / "model")
    card["training_data"] = _data_names(folder, base)
    inner.write_card(card)
