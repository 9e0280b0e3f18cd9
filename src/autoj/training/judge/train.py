"""Training from start to end: files, samples, model, trainer, and a judge's folder."""

import errno
import importlib.util
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autoj.backends.hf.memory import is_out_of_memory
from autoj.errors import BackendError, ConfigError, MissingExtra
from autoj.protocols import digest_prompts, load_protocol
from autoj.runs.watch import SILENT, Watch
from autoj.system_errors import found_no_room, storage_error
from autoj.training.judge.cards import base_revision, write_judge
from autoj.training.judge.curve import write_curve, write_picture
from autoj.training.judge.estimate import (
    Estimated,
    best_device,
    check_gpu_memory,
    check_memory,
    estimate,
    free_bytes,
    memory_hint,
)
from autoj.training.judge.folder import (
    TrainingFolder,
    describe_files,
    half_written,
    last_checkpoint,
    open_folder,
)
from autoj.training.judge.largest import expected_largest
from autoj.training.judge.launch import this_launch
from autoj.training.judge.loading import (
    Ready,
    TrainingJob,
    base_card,
    load,
    make_ready,
    read_data,
)
from autoj.training.judge.recipe import Recipe
from autoj.training.judge.sample_files import Outline
from autoj.training.judge.sampling import counted_extent, estimate_extent
from autoj.training.judge.scale import known_shape, shape_of
from autoj.training.judge.settings import (
    callbacks,
    device_type,
    is_halved,
    quietly,
    trainer_settings,
    with_precision,
)
from autoj.training.judge.speed import Speed, Stopwatch, find_peak
from autoj.training.judge.trainer import build_trainer

_PACKAGES = ("torch", "transformers", "trl", "peft", "datasets", "matplotlib", "psutil")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of a training session."""

    folder: Path
    resumed_at: int | None
    """The step that this session resumed from; None for a new training."""
    n_steps: int | None
    """Optimiser steps over all sessions; None where the training was finished before."""
    best: Mapping[str, float]
    """The validation figures at the kept step; empty without a validation file."""
    speed: Speed | None = None
    """That of this session's steps; None where it made fewer than two."""


def plan(job: TrainingJob, watch: Watch = SILENT, *, measure: bool = True) -> Estimated:
    """Estimates the cost of a training from some of its samples, without training.

    Args:
        job: the recipe with its data.
        watch: told the progress.
        measure: whether to run a micro-batch to measure the throughput.

    Raises:
        MissingExtra: the packages are not installed.
        UserError: the recipe or the data cannot be used.
    """
    _check_packages()
    outline = read_data(job)
    _check_fits(job, outline)
    made = load(job, outline)
    extent = estimate_extent(
        made.outline, job.recipe, made.encoder, budget_tokens=job.budget_tokens, watch=watch
    )
    with quietly():
        return estimate(
            made.model,
            job.recipe,
            extent,
            halved=is_halved(job.recipe, made.model),
            measure=measure,
        )


def train(job: TrainingJob, out: Path, watch: Watch = SILENT) -> Report:
    """Trains a judge, or resumes where an earlier session stopped.

    Args:
        job: the recipe with its data.
        out: the folder of settings, checkpoints, and the judge at the end.
        watch: told the progress and messages; it may cancel between two steps.

    Raises:
        MissingExtra: the packages are not installed.
        SpecMismatch: the folder has another training.
        UserError: the recipe or the data cannot be used, or memory is short.
        BackendError: training diverged.
        Cancelled: `watch` wanted it to stop; it goes on from the last checkpoint.
    """
    _check_packages()
    launch = this_launch()
    launch.accumulation(job.recipe)
    # One process reports and writes; the others compute.
    watch = watch if launch.is_first else SILENT
    files = {
        "data": describe_files(job.data),
        "validation": describe_files([job.validation] if job.validation else []),
    }
    base = base_card(job.recipe)
    # Before the folder: a training that is refused leaves none.
    outline = read_data(job)
    _check_fits(job, outline)
    pinned = {
        "model": base.model,
        "revision": base_revision(base),
        # A training resumed with other prompts would learn two different tasks.
        "prompts_sha256": digest_prompts(
            base.wrapper,
            [load_protocol(objective.protocol) for objective in job.recipe.objectives],
        ),
    }
    with (
        open_folder(
            out,
            job.recipe,
            files,
            job.budget_tokens,
            pinned,
            launch.n_processes,
            sharded=launch.sharded,
        )
        if launch.is_first
        else nullcontext(TrainingFolder(out))
    ) as folder:
        if folder.is_finished:
            watch.message(f"{out}: this training is finished; use it with --judge {out}")
            return Report(folder=out, resumed_at=None, n_steps=None, best={})
        made = make_ready(job, outline, watch)
        _describe(made, watch)
        if job.budget_tokens is not None and made.data.n_tokens < 0.9 * job.budget_tokens:
            watch.message(
                f"the recipe's epochs have fewer tokens than the budget, {job.budget_tokens:,}"
            )
        # Processes of a launch load on the CPU what they move to a GPU or share.
        if launch.n_processes == 1:
            halved = is_halved(job.recipe, made.model)
            extent = counted_extent(made.data, job.recipe)
            with quietly():
                found = estimate(made.model, job.recipe, extent, halved=halved, measure=False)
            check_memory(found, job.recipe)
        return _train(job, made, folder, watch)


def _check_packages() -> None:
    if any(importlib.util.find_spec(name) is None for name in _PACKAGES):
        raise MissingExtra("train", "training")


def _check_fits(job: TrainingJob, outline: Outline) -> None:
    """Refuses a base of known dimensions that does not fit, before its weights are loaded."""
    shape = known_shape(job.recipe, base_card(job.recipe))
    if shape is None:
        return
    device = best_device()
    check_gpu_memory(
        with_precision(job.recipe, device),
        shape,
        this_launch().layout,
        free_bytes(device),
        lambda recipe: expected_largest(outline, recipe, job.budget_tokens),
    )


def _describe(made: Ready, watch: Watch) -> None:
    n_rows = sum(plan.n_rows for plan in made.outline.data)
    n_unused = sum(plan.n_unused for plan in made.outline.data)
    watch.message(
        f"{n_rows:,} rows give {sum(len(plan.samples) for plan in made.outline.data):,} samples"
        + (f"; {n_unused:,} rows fit no objective" if n_unused else "")
        + (f"; {len(made.outline.bad_rows):,} bad rows left out" if made.outline.bad_rows else "")
    )
    if made.data.n_too_long:
        watch.message(
            f"{made.data.n_too_long:,} samples are left out: they are longer than max_tokens "
            "even with their responses cut"
        )
    watch.message(
        f"training on {len(made.data.samples):,} samples, {made.data.n_tokens:,} tokens; "
        f"{len(made.data.validation):,} samples for validation"
    )


def _train(job: TrainingJob, made: Ready, folder: TrainingFolder, watch: Watch) -> Report:
    with _seam(job.recipe, folder.path):
        launch = this_launch()
        places, n_processes, sharded = folder.checkpoints, launch.n_processes, launch.sharded
        last = last_checkpoint(places, n_processes, sharded=sharded)
        broken_ones = half_written(places, n_processes, sharded=sharded)
        for broken in broken_ones if launch.is_first else ():
            watch.message(f"{broken.name} is incomplete and was deleted")
            shutil.rmtree(broken)
    device, halved = device_type(made.model), is_halved(job.recipe, made.model)
    stopwatch = Stopwatch(job.recipe, made.data.samples)
    shape = shape_of(made.model.config.get_text_config().to_dict())
    with _seam(job.recipe, folder.path), quietly():
        # Before the training, which the processor is then busy with.
        peak = find_peak(job.recipe, device, halved=halved)
        trainer = build_trainer(
            model=made.model,
            tokenizer=made.tokenizer,
            objectives=job.recipe.objectives,
            samples=made.data.samples,
            validation=made.data.validation,
            arguments=trainer_settings(job.recipe, made.data, folder.checkpoints, made.model),
            callbacks=callbacks(
                job.recipe,
                watch,
                on_save=lambda state: _draw_curve(folder, job.recipe, state),
                stopwatch=stopwatch,
                samples=made.data.samples,
                validates=bool(made.data.validation),
            ),
        )
    resumed_at = None if last is None else int(last.name.rpartition("-")[2])
    if resumed_at is not None:
        watch.message(f"resuming from step {resumed_at:,}")
    with _seam(job.recipe, folder.path), quietly():
        trainer.train(resume_from_checkpoint=None if last is None else str(last))
    best = _best(trainer.state)
    with _seam(job.recipe, folder.path), quietly():
        _draw_curve(folder, job.recipe, trainer.state)
        model = _whole_model(trainer, job, made)
        if this_launch().is_first:
            write_judge(folder, job.recipe, made.card, model, made.tokenizer, figures=best)
        trainer.accelerator.wait_for_everyone()
    if not this_launch().is_first:
        return Report(folder=folder.path, resumed_at=resumed_at, n_steps=None, best={})
    return Report(
        folder=folder.path,
        resumed_at=resumed_at,
        n_steps=trainer.state.global_step,
        best=best,
        speed=stopwatch.speed(shape, peak),
    )


def _whole_model(trainer: Any, job: TrainingJob, made: Ready) -> Any:
    """The trained model with all its weights; of a launch, only in its first process.

    The model of a launch may be wrapped, or hold a share of the weights: all processes gather
    them, and the first lays them into the base, loaded anew.
    """
    if this_launch().n_processes == 1:
        return trainer.model
    weights = trainer.accelerator.get_state_dict(trainer.model_wrapped)
    if not this_launch().is_first:
        return None
    model = load(job, made.outline).model
    model.load_state_dict(weights)
    return model


def _best(state: Any) -> dict[str, float]:
    """The validation figures at the kept step."""
    looks = {entry["step"]: entry for entry in state.log_history if "eval_loss" in entry}
    kept = looks.get(state.best_global_step)
    if kept is None:
        return {}
    return {
        name.removeprefix("eval_"): float(value)
        for name, value in kept.items()
        if name.startswith("eval_") and name.endswith(("loss", "right"))
    }


def _draw_curve(folder: TrainingFolder, recipe: Recipe, state: Any) -> None:
    if not this_launch().is_first:
        return
    write_curve(folder.curve, state.log_history)
    write_picture(folder.curve.with_suffix(".png"), state.log_history, recipe.title)


@contextmanager
def _seam(recipe: Recipe, path: Path) -> Iterator[None]:
    """Converts errors of libraries to ours."""
    from safetensors import SafetensorError

    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error
    except (MemoryError, RuntimeError, SafetensorError) as error:
        if is_out_of_memory(error):
            raise ConfigError("training ran out of memory", hint=memory_hint(recipe)) from error
        if found_no_room(error, path):
            raise storage_error(OSError(errno.ENOSPC, str(error)), path) from error
        raise BackendError(f"training failed: {error}") from error
