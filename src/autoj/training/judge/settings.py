"""A recipe in terms of TRL and transformers: the trainer's settings and callbacks."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autoj.backends._loading import quiet
from autoj.backends._native_memory import trim_heap
from autoj.errors import BackendError, Cancelled
from autoj.runs.watch import Watch
from autoj.training.judge.estimate import n_steps
from autoj.training.judge.launch import this_launch
from autoj.training.judge.models import multiplies_bfloat16_fast
from autoj.training.judge.recipe import Recipe
from autoj.training.judge.sample_files import TrainingData
from autoj.training.judge.samples import Sample
from autoj.training.judge.speed import Stopwatch

# More would hide the message.
_MOST_NAMED = 8


def trainer_settings(recipe: Recipe, data: TrainingData, checkpoints: Path, model: Any) -> Any:
    """Builds the trainer's settings for a recipe: a `trl.SFTConfig`.

    Args:
        recipe: the settings of the training.
        data: the tokenised training data.
        checkpoints: the folder for checkpoints.
        model: the model to train; its device matters.
    """
    from trl import SFTConfig

    steps = n_steps(recipe, len(data.samples))
    validates = bool(data.validation)
    optimiser = recipe.optimiser
    # With a validation file, the kept step must be one that was evaluated.
    save_steps = recipe.validation.every_steps if validates else recipe.checkpoint_steps
    return SFTConfig(
        output_dir=str(checkpoints),
        max_steps=steps,
        per_device_train_batch_size=recipe.micro_batch_samples,
        per_device_eval_batch_size=recipe.micro_batch_samples,
        gradient_accumulation_steps=this_launch().accumulation(recipe),
        learning_rate=optimiser.learning_rate,
        adam_beta1=optimiser.betas[0],
        adam_beta2=optimiser.betas[1],
        weight_decay=optimiser.weight_decay,
        warmup_steps=math.ceil(optimiser.warmup * steps),
        lr_scheduler_type=optimiser.schedule,
        max_grad_norm=optimiser.max_grad_norm,
        logging_steps=1,
        logging_nan_inf_filter=False,
        eval_strategy="steps" if validates else "no",
        eval_steps=save_steps if validates else None,
        save_strategy="steps",
        save_steps=save_steps,
        save_total_limit=recipe.keep_checkpoints,
        load_best_model_at_end=validates,
        metric_for_best_model="eval_loss" if validates else None,
        greater_is_better=False if validates else None,
        seed=recipe.seed,
        data_seed=recipe.seed,
        # A score head learns from its own samples alone, and a micro-batch may have none.
        ddp_find_unused_parameters=len({each.kind == "scalar" for each in recipe.objectives}) > 1,
        use_cpu=device_type(model) == "cpu",
        bf16=is_halved(recipe, model),
        # PyTorch refuses the switch where no GPU has TF32.
        tf32=True if recipe.tf32 and device_type(model) == "cuda" else None,
        gradient_checkpointing=recipe.gradient_checkpointing,
        train_sampling_strategy="sequential",
        remove_unused_columns=False,
        dataset_kwargs={"skip_prepare_dataset": True},
        max_length=None,
        dataloader_pin_memory=False,
        report_to="none",
        disable_tqdm=True,
    )


def is_halved(recipe: Recipe, model: Any) -> bool:
    """True where products are computed in bfloat16."""
    return with_precision(recipe, device_type(model)).precision == "bfloat16"


def with_precision(recipe: Recipe, device: str) -> Recipe:
    """A recipe with the precision that `auto` comes to on a device, "cuda" or "cpu"."""
    if recipe.precision != "auto":
        return recipe
    halved = multiplies_bfloat16_fast(device)
    return recipe.model_copy(update={"precision": "bfloat16" if halved else "float32"})


def device_type(model: Any) -> str:
    """The device that a model is trained on: "cuda" or "cpu".

    A launch of several processes loads the model on the CPU, and moves or shares it afterwards.
    """
    import torch

    if this_launch().n_processes > 1 and torch.cuda.is_available():
        return "cuda"
    return str(model.device.type)


def callbacks(
    recipe: Recipe,
    watch: Watch,
    on_save: Callable[[Any], None],
    stopwatch: Stopwatch,
    *,
    samples: Sequence[Sample],
    validates: bool,
) -> list[Any]:
    """Builds the trainer's callbacks: progress, learning curve, divergence, early stopping.

    Args:
        recipe: states the patience of early stopping.
        watch: told the number of steps done, and of all; it may cancel between two.
        on_save: called with the trainer's state at each checkpoint.
        stopwatch: times each step.
        samples: the training samples in their order, to name those of a step that diverged.
        validates: whether there is a validation file.
    """
    from transformers import EarlyStoppingCallback, TrainerCallback

    class Follow(TrainerCallback):  # type: ignore[misc]
        """Updates the learning curve, reports progress, and stops a training that diverged."""

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            # It is called before a step's checkpoint is written, so the last one is a good one.
            for name in ("loss", "grad_norm"):
                value = (logs or {}).get(name)
                if value is not None and not math.isfinite(value):
                    raise diverged(recipe, state.global_step, name, float(value), samples)

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            on_save(state)

        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            stopwatch.begin()

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            stopwatch.end(state.global_step)
            trim_heap()
            watch.progress("training", state.global_step, state.max_steps)
            if watch.cancelled():
                raise Cancelled("the training was stopped; it goes on from the last checkpoint")

    stops = []
    if validates and recipe.validation.patience is not None:
        stops = [EarlyStoppingCallback(early_stopping_patience=recipe.validation.patience)]
    return [Follow(), *stops]


def diverged(
    recipe: Recipe, step: int, name: str, value: float, samples: Sequence[Sample]
) -> BackendError:
    """The error of a training whose loss or gradient is no number, with the cases of its batch.

    Args:
        recipe: states the samples of a step.
        step: the step, counted from 1.
        name: "loss" or "grad_norm".
        value: what it is.
        samples: all training samples in their order.
    """
    batch = samples[(step - 1) * recipe.batch_samples : step * recipe.batch_samples]
    named = [repr(case_id) for case_id in dict.fromkeys(sample.case_id for sample in batch)]
    listed = ", ".join(named[:_MOST_NAMED])
    more = len(named) - _MOST_NAMED
    what = "loss" if name == "loss" else "norm of the gradient"
    return BackendError(
        f"training diverged at step {step}: the {what} is {value}; the batch has the cases {listed}"
        + (f" and {more:,} more" if more > 0 else ""),
        hint="Checkpoints of earlier steps are kept. Look at these cases, or lower "
        "optimiser.learning_rate, and choose a new --out.",
    )


@contextmanager
def quietly() -> Iterator[None]:
    """Silences what transformers prints; our progress and errors report the same."""
    import transformers

    with quiet(transformers.logging, bars=False), warnings.catch_warnings():
        # These libraries warn of each other's calls.
        warnings.simplefilter("ignore", FutureWarning)
        # PEFT looks for a configuration beside the base's weights; a GGUF file has none.
        warnings.filterwarnings("ignore", "Could not find a config file", UserWarning)
        yield
