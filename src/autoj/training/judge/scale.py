"""The cost of a recipe on many GPUs, from its base's dimensions alone: no weights are loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path

import orjson
from pydantic import ValidationError

from autoj.errors import ConfigError
from autoj.records import JudgeCard
from autoj.training.judge.largest import BYTES_PER_TOKEN, expected_largest, expected_lengths
from autoj.training.judge.losses import CHUNK_LOGITS
from autoj.training.judge.recipe import Recipe, Shape
from autoj.training.judge.sample_files import Outline, read_outline

MODEL_FLOPS_SHARE = 0.4
"""The share of a GPU's peak that a training reaches (MFU); 0.35 to 0.5 is usual at this size."""
# Bytes of a trained weight in float32 with its gradient and AdamW's two moments.
_TRAINED_BYTES = 16
_FROZEN_BYTES = {"float32": 4.0, "bfloat16": 2.0, "4bit": 0.56}
# Kept per token and layer for the backward pass, in units of the hidden and of the inner width.
_KEPT_HIDDEN, _KEPT_INNER = 10, 4
# The share of a sample that is written; where nothing is, a few positions alone are projected.
_WRITTEN_SHARE = 0.25
_WRITTEN_KINDS = {"judgment", "critique", "scenario"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A kind of GPU by its data sheet."""

    name: str
    memory_bytes: int
    flops_per_second: float
    """Dense products in bfloat16."""


GPUS = (
    Gpu(name="A100 80 GB", memory_bytes=80 * 10**9, flops_per_second=312e12),
    Gpu(name="H100 80 GB", memory_bytes=80 * 10**9, flops_per_second=989e12),
    Gpu(name="H200 141 GB", memory_bytes=141 * 10**9, flops_per_second=989e12),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A way to lay a training on GPUs."""

    n_gpus: int
    sharded: bool
    """True where weights, gradients and moments are shared (ZeRO-3, FSDP2); else each GPU has
    all."""

    @property
    def name(self) -> str:
        """Its name in tables."""
        if self.n_gpus == 1:
            return "1 GPU"
        return f"{self.n_gpus} GPUs, " + ("FSDP2 or ZeRO-3" if self.sharded else "each a copy")


LAYOUTS = (
    Layout(n_gpus=1, sharded=False),
    Layout(n_gpus=8, sharded=False),
    Layout(n_gpus=4, sharded=True),
    Layout(n_gpus=8, sharded=True),
    Layout(n_gpus=16, sharded=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalePlan:
    """The cost of a recipe on GPUs."""

    n_samples: int
    """Samples of one epoch, with both orders of a pair."""
    n_steps: int
    steps_range: tuple[int, int]
    """With the last batch of each epoch left out, and with it filled up."""
    published_steps: int | None
    n_tokens: int
    """Of all epochs."""
    source: str
    """The origin of the counts, in words."""
    n_weights: int
    n_trained: int
    memory_bytes: dict[Layout, int]
    """The peak per GPU."""
    gpu_hours: dict[Gpu, float]
    """Of one GPU; n GPUs take an n-th of it."""


def plan_scale(recipe: Recipe, data: Sequence[Path], *, lenient: bool = False) -> ScalePlan:
    """Estimates the cost of a recipe whose base states its shape.

    Args:
        recipe: the settings.
        data: the training files; without one, the counts are those that the recipe cites.
        lenient: whether to leave out rows that cannot be read.

    Raises:
        ConfigError: there are neither data nor published counts, or no shape.
        DataError: a file cannot be read.
    """
    shape = recipe.base.shape
    if shape is None:
        raise ConfigError("the recipe states no base.shape to plan from")
    outline = read_outline(recipe, data, None, lenient=lenient) if data else None
    n_samples, epoch_tokens, source = _counts(recipe, outline)
    largest = None if outline is None else expected_largest(outline, recipe)
    per_epoch = n_samples / recipe.batch_samples
    n_tokens = round(epoch_tokens * recipe.epochs)
    cited = recipe.published
    flops = flops_per_token(recipe, shape, epoch_tokens / n_samples) * n_tokens
    return ScalePlan(
        n_samples=n_samples,
        n_steps=max(1, floor(per_epoch * recipe.epochs)),
        steps_range=(
            floor(floor(per_epoch) * recipe.epochs),
            ceil(ceil(per_epoch) * recipe.epochs),
        ),
        published_steps=None if cited is None or data else cited.steps,
        n_tokens=n_tokens,
        source=source,
        n_weights=shape.n_weights,
        n_trained=_n_trained(recipe, shape),
        memory_bytes={layout: memory_per_gpu(recipe, shape, layout, largest) for layout in LAYOUTS},
        gpu_hours={gpu: flops / (gpu.flops_per_second * MODEL_FLOPS_SHARE) / 3600 for gpu in GPUS},
    )


def _counts(recipe: Recipe, outline: Outline | None) -> tuple[int, int, str]:
    """The samples and the tokens of an epoch, and where these counts come from."""
    if outline is not None:
        planned = [each for plan in outline.data for each in plan.samples]
        n_tokens = sum(sum(expected_lengths(each, recipe)) for each in planned)
        return len(planned), n_tokens, f"counted in the data, at {BYTES_PER_TOKEN} bytes a token"
    cited = recipe.published
    if cited is None:
        raise ConfigError("give --data: the recipe cites no counts of published data")
    times = 2 if recipe.swap_pairs else 1
    copies = times if recipe.balance and cited.pairs else 1
    n_samples = times * cited.pairs + copies * cited.singles + cited.queries
    said = f"{cited.source}; {cited.tokens_per_sample:,} tokens a sample are assumed"
    return n_samples, n_samples * cited.tokens_per_sample, said


def _written_share(recipe: Recipe) -> float:
    written = [objective.kind in _WRITTEN_KINDS for objective in recipe.objectives]
    return _WRITTEN_SHARE if any(written) else 0.0


def flops_per_token(
    recipe: Recipe,
    shape: Shape,
    n_context: float,
    *,
    projected: float | None = None,
    recomputed: bool = True,
) -> float:
    """Floating point operations of training on one token.

    Args:
        recipe: states the weights to train, and whether activations are computed again.
        shape: the model's.
        n_context: the length of a sequence, as its mean over tokens.
        projected: the share of tokens that are projected to the vocabulary; None takes what is
            usual for the recipe's objectives.
        recomputed: whether to count what gradient checkpointing computes again.

    **Source:** Kaplan et al. 2020 (arXiv 2001.08361), section 2.1: two operations a weight and
    token forward, twice as many backward. Weights that are frozen need no gradient of their own,
    and layers below the lowest one that is trained need no backward pass at all.
    """
    layer = 2 * shape.layer_weights + 2 * shape.hidden_size * n_context
    n_trained = recipe.update.top_layers or shape.num_hidden_layers
    backward = 1 if recipe.update.method == "lora" else 2
    again = recomputed and recipe.gradient_checkpointing
    layers = layer * (shape.num_hidden_layers + n_trained * (backward + again))
    share = _written_share(recipe) if projected is None else projected
    head = 2 * shape.vocab_size * shape.hidden_size * share
    return layers + head * (3 if recipe.update.method == "all" else 2)


def _n_trained(recipe: Recipe, shape: Shape) -> int:
    update = recipe.update
    layers = update.top_layers or shape.num_hidden_layers
    if update.method == "lora":
        return shape.adapter_weights(update.rank) * layers // shape.num_hidden_layers
    if update.method == "layers":
        return layers * shape.layer_weights + shape.hidden_size
    return shape.n_weights


def memory_per_gpu(recipe: Recipe, shape: Shape, layout: Layout, largest: int | None = None) -> int:
    """Estimates the peak memory of one GPU, in bytes.

    Args:
        recipe: the settings.
        shape: the model's dimensions.
        layout: the GPUs, and what they share.
        largest: the tokens of the largest micro-batch; None takes sequences of `max_tokens`.

    **Source:** Rajbhandari et al. 2020 (arXiv 1910.02054), section 3, for weights, gradients and
    moments; activations as in `estimate`.
    """
    n_trained = _n_trained(recipe, shape)
    frozen = (shape.n_weights - n_trained) if recipe.update.method != "lora" else shape.n_weights
    state = frozen * _FROZEN_BYTES[recipe.update.frozen] + n_trained * _TRAINED_BYTES
    width = 4 if recipe.precision == "float32" else 2
    in_float32 = recipe.update.method != "lora" or recipe.update.frozen == "float32"
    if width == 2 and in_float32 and not layout.sharded:
        # Autocast keeps a copy of each matrix that the backward pass needs again.
        n_layers = recipe.update.top_layers or shape.num_hidden_layers
        state += width * n_layers * shape.layer_weights
    if layout.sharded:
        # Two layers at once, as the next is fetched ahead, and the embedding with the projection.
        gathered = (2 * shape.layer_weights + shape.embedding_weights) * width
        state = state / layout.n_gpus + gathered
    n_tokens = _most_tokens(recipe) if largest is None else largest
    return int(state + _activation_bytes(recipe, shape, width, n_tokens))


def _most_tokens(recipe: Recipe) -> int:
    """The most tokens of a micro-batch of any data."""
    compares = any(objective.compares_ratings for objective in recipe.objectives)
    n_sequences = recipe.compare_together if compares else 1
    return recipe.micro_batch_samples * n_sequences * recipe.max_tokens


def _activation_bytes(recipe: Recipe, shape: Shape, width: int, n_tokens: int) -> float:
    layer = _KEPT_HIDDEN * shape.hidden_size + _KEPT_INNER * shape.intermediate_size
    n_layers = recipe.update.top_layers or shape.num_hidden_layers
    kept = (
        n_layers * shape.hidden_size + layer if recipe.gradient_checkpointing else n_layers * layer
    )
    logits = 3 * 4 * min(CHUNK_LOGITS, _written_share(recipe) * n_tokens * shape.vocab_size)
    return n_tokens * kept * width + max(n_tokens * layer * width, logits)


def known_shape(recipe: Recipe, card: JudgeCard) -> Shape | None:
    """The dimensions of a recipe's base: as stated, else of its folder; None where neither is."""
    if recipe.base.shape is not None:
        return recipe.base.shape
    config = card.locate(card.model) / "config.json"
    try:
        return shape_of(orjson.loads(config.read_bytes())) if config.is_file() else None
    except ValueError:
        return None


def shape_of(config: object) -> Shape | None:
    """The dimensions that a model's configuration states; None where it is of another family."""
    if not isinstance(config, Mapping):
        return None
    try:
        return Shape(**{name: config[name] for name in Shape.model_fields if name in config})
    except (TypeError, ValidationError):
        return None
