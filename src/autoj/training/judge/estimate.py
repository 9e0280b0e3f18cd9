"""Cost estimate of a training: steps, tokens, memory, and hours on this machine."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from autoj.backends._native_memory import trim_heap
from autoj.errors import ConfigError
from autoj.training.judge.largest import read_of
from autoj.training.judge.learning import learn
from autoj.training.judge.losses import CHUNK_LOGITS
from autoj.training.judge.models import n_parameters
from autoj.training.judge.recipe import Recipe, Shape, Update
from autoj.training.judge.samples import Sample, n_asked
from autoj.training.judge.sampling import Extent
from autoj.training.judge.scale import Layout, memory_per_gpu, shape_of
from autoj.training.judge.speed import Speed, best_seconds, find_peak, speed_of, training_precision

_FLOAT_BYTES = 4
# AdamW's two moments of a weight that is trained.
_MOMENTS_BYTES = 2 * _FLOAT_BYTES
# On the CPU, what tensors of a step that were freed leave is too small for some that follow. Taken
# from trainings of 135M: 1.2 to 1.5 times of what is in use, whose tensors are of many sizes.
_HOLES = 1.2
# The cost of a forward pass as a share of a training step: a backward pass costs twice as much.
_READING_COST = 1 / 3
_GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """The estimated cost of a training."""

    n_steps: int
    extent: Extent
    """Its samples and tokens."""
    n_looked_tokens: int
    """Tokens read in all evaluations on the validation file."""
    n_weights: int
    n_trained: int
    memory_bytes: int
    """The peak: of a GPU's memory, or of this process, without the files that it has mapped."""
    available_bytes: int
    speed: Speed | None
    """Measured on one micro-batch; None where it was not measured."""

    @property
    def hours(self) -> float | None:
        """The duration at the measured throughput, evaluations included; None without one."""
        if self.speed is None:
            return None
        n_tokens = self.extent.n_tokens + _READING_COST * self.n_looked_tokens
        return n_tokens / self.speed.tokens_per_second / 3600


def estimate(
    model: Any, recipe: Recipe, extent: Extent, *, halved: bool, measure: bool
) -> Estimated:
    """Estimates the cost of a training.

    Args:
        model: the model, with its trainable weights chosen.
        recipe: the settings.
        extent: the number of its samples and tokens.
        halved: whether products are computed in bfloat16.
        measure: whether to run a micro-batch forward and backward to measure the throughput.
    """
    n_weights, n_trained = n_parameters(model)
    steps = n_steps(recipe, extent.n_samples)
    # First, as it loads what a training needs, which is then in memory.
    activations = _activation_bytes(model, recipe, extent.largest, halved=halved)
    device = model.device.type
    used = _used_bytes(model)
    saving = _saving_bytes(recipe, n_weights, device)
    holes = 1.0 if device == "cuda" else _HOLES
    beside = max(n_trained * _FLOAT_BYTES + int(holes * activations), saving)
    return Estimated(
        n_steps=steps,
        extent=extent,
        n_looked_tokens=steps // recipe.validation.every_steps * extent.n_validation_tokens,
        n_weights=n_weights,
        n_trained=n_trained,
        memory_bytes=used + n_trained * _MOMENTS_BYTES + beside,
        available_bytes=free_bytes(device) + used,
        speed=_speed(model, recipe, extent, halved=halved) if measure else None,
    )


def n_steps(recipe: Recipe, n_samples: int) -> int:
    """The number of optimiser steps."""
    return max(1, n_samples // recipe.batch_samples)


def check_memory(estimated: Estimated, recipe: Recipe) -> None:
    """Refuses a training that would run out of memory.

    Raises:
        ConfigError: the estimate exceeds the free memory; the hint names the settings to lower.
    """
    if estimated.memory_bytes > estimated.available_bytes:
        raise ConfigError(
            f"training would need about {estimated.memory_bytes / _GIB:.1f} GiB of memory, but "
            f"only {estimated.available_bytes / _GIB:.1f} GiB are free",
            hint=memory_hint(recipe),
        )


def check_gpu_memory(
    recipe: Recipe,
    shape: Shape,
    layout: Layout,
    available_bytes: int,
    largest: Callable[[Recipe], int],
) -> None:
    """Refuses a training that does not fit, before its weights are loaded.

    Args:
        recipe: the settings.
        shape: the base's dimensions.
        layout: the GPUs of this launch.
        available_bytes: the memory of one of them.
        largest: gives the tokens of the largest micro-batch of a recipe.

    Raises:
        ConfigError: it does not fit; the hint names changes that would, with their memory.
    """

    @cache
    def n_tokens(micro_batch_samples: int) -> int:
        return largest(recipe.model_copy(update={"micro_batch_samples": micro_batch_samples}))

    def memory(changed: Recipe, at: Layout) -> int:
        return memory_per_gpu(changed, shape, at, n_tokens(changed.micro_batch_samples))

    needed = memory(recipe, layout)
    if needed <= available_bytes:
        return
    fitting = [
        f"{said} ({memory(changed, at) / _GIB:.0f} GiB)"
        for said, changed, at in _changes(recipe, layout)
        if memory(changed, at) <= available_bytes
    ]
    raise ConfigError(
        f"training needs about {needed / _GIB:.0f} GiB of memory ({layout.name}), and "
        f"{available_bytes / _GIB:.0f} GiB are there; nothing was loaded",
        hint=f"It would fit with {'; or '.join(fitting) or 'a smaller base, or fewer max_tokens'}.",
    )


def _changes(recipe: Recipe, layout: Layout) -> list[tuple[str, Recipe, Layout]]:
    """Changes that save memory, each in words."""

    def changed(**fields: object) -> Recipe:
        return recipe.model_copy(update=fields)

    found: list[tuple[str, Recipe, Layout]] = []
    if not recipe.gradient_checkpointing:
        found.append(("gradient_checkpointing: true", changed(gradient_checkpointing=True), layout))
    if recipe.micro_batch_samples > 1:
        found.append(("micro_batch_samples: 1", changed(micro_batch_samples=1), layout))
    least = {"micro_batch_samples": 1, "gradient_checkpointing": True}
    for n_gpus in (8, 16):
        if n_gpus > layout.n_gpus or not layout.sharded:
            shared = Layout(n_gpus=n_gpus, sharded=True)
            found.append((f"{n_gpus} GPUs and recipes/accelerate/", changed(**least), shared))
    for frozen in ("bfloat16", "4bit"):
        settings = {"method": "lora", "rank": recipe.update.rank, "frozen": frozen}
        update = Update.model_validate(settings)
        said = f"update: {{method: lora, frozen: {frozen}}} with gradient_checkpointing"
        found.append((said, changed(update=update, **least), layout))
    return found


def memory_hint(recipe: Recipe) -> str:
    """Names the settings that save memory."""
    ways = [
        f"micro_batch_samples ({recipe.micro_batch_samples})",
        f"max_tokens ({recipe.max_tokens:,})",
    ]
    if recipe.update.method == "all":
        ways.append("or train fewer weights (update.method: layers or lora)")
    if not recipe.gradient_checkpointing:
        ways.append("or set gradient_checkpointing: true")
    return "Lower " + ", ".join(ways) + "."


def _activation_bytes(model: Any, recipe: Recipe, batch: Sequence[Sample], *, halved: bool) -> int:
    """The memory of a micro-batch: what is kept of it, and the logits or the layer at work."""
    one = max(batch, key=lambda sample: sample.n_tokens)
    kept = _kept_bytes(model, one, recipe, halved=halved)
    config = model.config.get_text_config()
    n_layers = recipe.update.top_layers or config.num_hidden_layers
    per_token = kept.of_tokens / read_of([one], recipe)
    of_layer = per_token / n_layers
    if recipe.gradient_checkpointing:
        # The inputs of all layers, and all of the one that is computed again.
        per_token = of_layer + (2 if halved else _FLOAT_BYTES) * config.hidden_size * n_layers
    # The log-probabilities of a text, their gradient and that of its logits. They are gone when the
    # layers' backward passes begin, each of which works with as much as a layer keeps.
    n_logits = min(CHUNK_LOGITS, config.vocab_size * sum(map(n_asked, batch)))
    logits = 3 * _FLOAT_BYTES * n_logits
    n_tokens = read_of(batch, recipe)
    return int(kept.of_weights + n_tokens * per_token + max(n_tokens * of_layer, logits))


def _saving_bytes(recipe: Recipe, n_weights: int, device: str) -> int:
    """The memory of writing a checkpoint, between two steps: a copy of the weights in it."""
    is_small = device == "cuda" or recipe.update.method == "lora"
    return 0 if is_small else n_weights * _FLOAT_BYTES


class _Kept(NamedTuple):
    of_tokens: int
    """Without logits, which are gone before the layers' backward passes."""
    of_weights: int
    """Copies of weights in another precision."""


def _kept_bytes(model: Any, sample: Sample, recipe: Recipe, *, halved: bool) -> _Kept:
    """Counts what one sample's forward pass keeps for its backward pass, by running it.

    No formula knows each family's layers, and each precision's copies.
    """
    import torch

    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    sizes = {weight.numel() for weight in model.parameters()}
    n_words = model.config.get_text_config().vocab_size
    found: dict[int, tuple[int, bool]] = {}

    def note(kept: Any) -> Any:
        storage = kept.untyped_storage()
        # A copy of the output head has as many columns as the logits have.
        is_logits = kept.shape[-1:] == (n_words,) and kept.numel() not in sizes
        if storage.data_ptr() not in weights and not is_logits:
            found[storage.data_ptr()] = (storage.nbytes(), kept.numel() in sizes)
        # An output that an operation keeps with its own history would keep itself, for ever.
        return kept.detach()

    device = model.device.type
    with (
        # A training that draws random numbers must not notice.
        torch.random.fork_rng(devices=[] if device == "cpu" else None),
        torch.autocast(device, dtype=torch.bfloat16, enabled=halved),
        torch.autograd.graph.saved_tensors_hooks(note, lambda kept: kept),
    ):
        # It is alive while the sizes are read: a storage that is freed may come again.
        losses = learn(model, [sample], recipe.objectives)
        counted = list(found.values())
        del losses
    return _Kept(
        sum(size for size, of_weight in counted if not of_weight),
        sum(size for size, of_weight in counted if of_weight),
    )


def _used_bytes(model: Any) -> int:
    """The memory of the model, and on the CPU of all else that this process has made.

    Pages of files that are mapped, as libraries are, count as free: the system may drop them. Those
    of weights that are trained count as used, since a step writes to them.
    """
    import psutil
    import torch

    if model.device.type == "cuda":
        return int(torch.cuda.memory_allocated())
    import trl

    # A training will have loaded it, and what it loads.
    assert trl.SFTTrainer is not None
    gc.collect()
    # What was freed would be counted here and where it is used again.
    trim_heap()
    memory = psutil.Process().memory_info()
    return int(memory.rss - getattr(memory, "shared", 0)) + _mapped_bytes(model)


def _mapped_bytes(model: Any) -> int:
    """The bytes of trained weights that lie in mapped files, where the system tells of them."""
    import psutil

    process = psutil.Process()
    if not hasattr(process, "memory_maps"):
        return 0
    files = [
        tuple(int(end, 16) for end in each.addr.split("-"))
        for each in process.memory_maps(grouped=False)
        if each.path.startswith("/")
    ]
    return sum(
        weight.nbytes
        for weight in model.parameters()
        if weight.requires_grad and any(first <= weight.data_ptr() < end for first, end in files)
    )


def best_device() -> str:
    """The device of a training: "cuda" where there is a GPU, else "cpu"."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def free_bytes(device: str) -> int:
    """The free memory of a device, "cuda" or "cpu"."""
    import psutil
    import torch

    if device == "cuda":
        return int(torch.cuda.mem_get_info()[0])
    return int(psutil.virtual_memory().available)


def _speed(model: Any, recipe: Recipe, extent: Extent, *, halved: bool) -> Speed:
    """Measures the speed on a micro-batch of median length."""
    import torch

    size = recipe.micro_batch_samples
    ordered = sorted(extent.samples, key=lambda sample: sample.n_tokens)
    middle = max(0, len(ordered) // 2 - size // 2)
    batch = ordered[middle : middle + size]
    device = model.device.type

    def step() -> None:
        with torch.autocast(device, dtype=torch.bfloat16, enabled=halved):
            learn(model, batch, recipe.objectives)[0].mean().backward()
        model.zero_grad(set_to_none=True)

    with training_precision(recipe, device):
        seconds = best_seconds(device, step, 2)  # the first pass warms up
    peak = find_peak(recipe, device, halved=halved)
    shape = shape_of(model.config.get_text_config().to_dict())
    return speed_of(recipe, batch, seconds, shape, peak)
