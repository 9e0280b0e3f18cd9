"""The start of a training: a recipe with its data, the base's weights, and samples."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autoj.backends.hf.encoding import Encoder
from autoj.backends.hf.models import load_model
from autoj.backends.hf.packing import pack_sequences
from autoj.backends.scalar.inputs import Inputs
from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.records import JudgeCard
from autoj.runs.watch import Watch
from autoj.training.judge.cards import SCALAR_OPTIONS
from autoj.training.judge.launch import this_launch
from autoj.training.judge.models import add_score_head, choose_weights
from autoj.training.judge.recipe import Recipe
from autoj.training.judge.sample_files import (
    Outline,
    TrainingData,
    encode_training_data,
    read_outline,
)
from autoj.training.judge.samples import SampleEncoder
from autoj.training.judge.settings import quietly


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """A recipe with its data."""

    recipe: Recipe
    data: tuple[Path, ...]
    validation: Path | None = None
    budget_tokens: int | None = None
    """The number of tokens to train on; None takes all epochs of the recipe."""
    lenient: bool = False
    """True leaves out rows that cannot be read, and counts them."""


@dataclass(slots=True, kw_only=True)
class Loaded:
    """A training's model and card, with the samples it is to learn from."""

    card: JudgeCard
    tokenizer: Any
    model: Any
    outline: Outline
    encoder: SampleEncoder


@dataclass(slots=True, kw_only=True)
class Ready(Loaded):
    """The same with all samples tokenised."""

    data: TrainingData


def read_data(job: TrainingJob) -> Outline:
    """Reads the data of a training, before anything heavy is loaded."""
    return read_outline(job.recipe, job.data, job.validation, lenient=job.lenient)


def load(job: TrainingJob, outline: Outline) -> Loaded:
    """Loads the base of a training, with the weights to train chosen.

    Args:
        job: the recipe with its data.
        outline: the data as `read_data` reads them.
    """
    recipe = job.recipe
    card = base_card(recipe)
    _set_seed(recipe.seed)
    # On a GPU a judge is loaded in bfloat16; training starts from the weights as stored.
    # On a GPU all processes of a launch would load their copies on the first one.
    device = "cpu" if this_launch().n_processes > 1 else None
    tokenizer, model = load_model(replace(card, options=_weight_options(recipe, card)), device)
    scalar = any(objective.kind == "scalar" for objective in recipe.objectives)
    encoder = SampleEncoder(
        recipe,
        card,
        Encoder(tokenizer, card.wrapper),
        Inputs(replace(card, options=SCALAR_OPTIONS), tokenizer) if scalar else None,
    )
    if recipe.packing:
        pack_sequences(model)
    if scalar:
        add_score_head(model)
    with quietly():
        if recipe.update.frozen == "float32":
            model = model.float()
        chosen = choose_weights(model, recipe.update)
    return Loaded(card=card, tokenizer=tokenizer, model=chosen, outline=outline, encoder=encoder)


def _check_vocabulary(recipe: Recipe, model: Any, data: TrainingData) -> None:
    """Checks that each token of the samples has a row in the embedding.

    Raises:
        ConfigError: the tokenizer is another model's, or got tokens later.
    """
    n_rows = model.get_input_embeddings().num_embeddings
    for sample in (*data.samples, *data.validation):
        largest = max(max(one.root + one.tokens) for one in sample.sequences)
        if largest >= n_rows:
            raise ConfigError(
                f"the tokenizer of {recipe.base.judge!r} gives case {sample.case_id!r} the token "
                f"{largest:,}, and the model's embedding has {n_rows:,} rows",
                hint="Take the tokenizer that the weights were released with, or resize the "
                "embedding and save the model anew.",
            )


def _weight_options(recipe: Recipe, card: JudgeCard) -> dict[str, Any]:
    """The options of a card that load its weights as a recipe trains on them."""
    options = {**card.options, "precision": recipe.update.frozen}
    if recipe.update.frozen == "4bit":
        options |= {"precision": "bfloat16", "load_in_4bit": True}
    if recipe.attention is not None:
        options["attention"] = recipe.attention
    return options


def make_ready(job: TrainingJob, outline: Outline, watch: Watch) -> Ready:
    """The same, with all samples tokenised."""
    made = load(job, outline)
    data = encode_training_data(
        made.outline, job.recipe, made.encoder, budget_tokens=job.budget_tokens, watch=watch
    )
    _check_vocabulary(job.recipe, made.model, data)
    return Ready(
        card=made.card,
        tokenizer=made.tokenizer,
        model=made.model,
        outline=made.outline,
        encoder=made.encoder,
        data=data,
    )


def base_card(recipe: Recipe) -> JudgeCard:
    """The card that a recipe starts from, with its wrapper.

    Raises:
        ConfigError: the judge cannot be trained, or not by this recipe.
    """
    card = load_card(recipe.base.judge)
    if recipe.base.context_tokens is not None:
        card = replace(card, context_tokens=recipe.base.context_tokens)
    if card.backend not in ("hf", "embedded"):
        raise ConfigError(
            f"base.judge {recipe.base.judge!r} runs on {card.backend!r}, but training needs "
            "weights that transformers reads: the card of an hf or the embedded judge, or hf:model"
        )
    if card.adapter is not None and recipe.update.method == "lora":
        # The new card would name the bare model with the new adapter, and the base's would be lost.
        raise ConfigError(
            f"base.judge {recipe.base.judge!r} has an adapter already, and a judge has only one",
            hint="Train layers or all weights (update.method), or start from a judge without an "
            "adapter, such as `embedded-small-base` for `embedded-small`.",
        )
    if recipe.max_tokens > card.context_tokens:
        raise ConfigError(
            f"max_tokens is {recipe.max_tokens:,}, but the context of {card.name!r} is "
            f"{card.context_tokens:,}"
        )
    return replace(card, wrapper=recipe.base.wrapper or card.wrapper)


def _set_seed(seed: int) -> None:
    import transformers

    transformers.set_seed(seed)
