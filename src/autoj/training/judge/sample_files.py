"""Training data from files: samples in the order of training."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.errors import ConfigError, DataError
from autoj.runs.watch import Watch
from autoj.training.judge.misfits import no_row_fits
from autoj.training.judge.plans import Planned, SamplePlan, plan_samples
from autoj.training.judge.recipe import Recipe
from autoj.training.judge.rows import (
    pairs_from_ratings,
    read_query_rows,
    read_rows,
    without_scenarios,
)
from autoj.training.judge.samples import Sample, SampleEncoder
from autoj.training.judge.schedule import draw, in_batches, up_to_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The planned samples of all files, before tokenisation."""

    data: tuple[SamplePlan, ...]
    """One per data file."""
    validation: SamplePlan | None
    bad_rows: tuple[DataError, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """Training and validation samples, tokenised."""

    samples: tuple[Sample, ...]
    """In the order of training; repeated with more than one epoch."""
    validation: tuple[Sample, ...]
    n_too_long: int
    """Distinct samples left out because they are too long even with their responses cut."""

    @property
    def n_tokens(self) -> int:
        """The number of tokens of all samples."""
        return sum(sample.n_tokens for sample in self.samples)


def read_outline(
    recipe: Recipe, data: Sequence[Path], validation: Path | None, *, lenient: bool
) -> Outline:
    """Reads all files and plans their samples.

    Args:
        recipe: states the objectives.
        data: the training files.
        validation: the validation file.
        lenient: whether to leave out and count rows that cannot be read.

    Raises:
        DataError: a row cannot be read, unless `lenient`.
        ConfigError: an objective has no sample in the data.
    """
    bad_rows: list[DataError] = []
    plans = [_plan(path, recipe, bad_rows, lenient=lenient, augment=True) for path in data]
    for index, objective in enumerate(recipe.objectives):
        if not any(plan.counts()[index] for plan in plans):
            raise no_row_fits(objective, plans)
    plans = _capped(plans, recipe)
    looked_at = None
    if validation is not None:
        looked_at = _plan(validation, recipe, bad_rows, lenient=lenient, augment=False)
        if not looked_at.samples:
            raise ConfigError(f"{validation}: no row fits an objective of the recipe")
    return Outline(data=tuple(plans), validation=looked_at, bad_rows=tuple(bad_rows))


def _capped(plans: Sequence[SamplePlan], recipe: Recipe) -> list[SamplePlan]:
    """Draws samples of each objective down to the recipe's cap."""
    generator = random.Random(recipe.seed)
    for index, objective in enumerate(recipe.objectives):
        mine = [
            id(sample) for plan in plans for sample in plan.samples if sample.objective == index
        ]
        if objective.max_samples is None or len(mine) <= objective.max_samples:
            continue
        dropped = set(mine).difference(generator.sample(mine, objective.max_samples))
        plans = [
            replace(plan, samples=tuple(one for one in plan.samples if id(one) not in dropped))
            for plan in plans
        ]
    return list(plans)


def _plan(
    path: Path, recipe: Recipe, bad_rows: list[DataError], *, lenient: bool, augment: bool
) -> SamplePlan:
    if any(objective.kind == "scenario" for objective in recipe.objectives):
        rows = list(read_query_rows(path))
    else:
        rows = list(read_rows(path, bad_rows if lenient else None))
    if augment and recipe.held_out:
        rows = without_scenarios(rows, recipe.held_out)
    derived = recipe.pairs_from_ratings
    if augment and derived is not None:
        rows += pairs_from_ratings(rows, derived.gap, derived.per_query, recipe.seed)
    elif not augment and recipe.validation.max_cases is not None:
        # Files are often sorted in blocks, so the first rows would not be representative.
        n_rows = min(recipe.validation.max_cases, len(rows))
        rows = random.Random(recipe.seed).sample(rows, n_rows)
    plan = plan_samples(rows, recipe, augment=augment, lenient=lenient)
    bad_rows += plan.bad_rows
    return plan


def drawn_samples(outline: Outline, recipe: Recipe) -> list[Planned]:
    """All samples of a training in its order, repeated with more than one epoch.

    Raises:
        ConfigError: the epochs come to no sample.
    """
    groups: list[Sequence[Planned]] = [plan.samples for plan in outline.data]
    if recipe.order == "shuffled":
        groups = [[planned for group in groups for planned in group]]
    drawn = draw(groups, recipe.epochs, recipe.seed)
    if not drawn:
        n = sum(map(len, groups))
        raise ConfigError(
            f"{recipe.epochs:g} epochs of {n:,} samples come to none",
            hint="Raise epochs in the recipe, or give more data.",
        )
    return drawn


def encode_training_data(
    outline: Outline,
    recipe: Recipe,
    encoder: SampleEncoder,
    *,
    budget_tokens: int | None,
    watch: Watch,
) -> TrainingData:
    """Tokenises the samples of a training, in its order, up to a token budget.

    Args:
        outline: the planned samples (`read_outline`).
        recipe: the recipe of that outline.
        encoder: the tokeniser of samples.
        budget_tokens: the number of tokens to train on; None takes all epochs.
        watch: told the number of samples done, and of all.

    Raises:
        ConfigError: all samples, or all of an objective, are too long and cannot be cut.
    """
    drawn = drawn_samples(outline, recipe)
    known: dict[int, Sample | None] = {}

    def encoded(planned: Planned) -> Sample | None:
        if id(planned) not in known:
            known[id(planned)] = fitting(encoder, planned)
            watch.progress("tokenising", len(known), len(drawn))
        return known[id(planned)]

    def n_tokens(planned: Planned) -> int:
        sample = encoded(planned)
        return 0 if sample is None else sample.n_tokens

    taken = up_to_tokens(drawn, n_tokens, budget_tokens)
    samples = [sample for planned in taken if (sample := encoded(planned)) is not None]
    looked_at = outline.validation.samples if outline.validation is not None else ()
    validation = [fitting(encoder, planned) for planned in looked_at]
    if not samples:
        raise ConfigError(f"all samples are longer than max_tokens ({recipe.max_tokens:,})")
    for index, objective in enumerate(recipe.objectives):
        planned_for = any(planned.objective == index for planned in taken)
        if planned_for and not any(sample.objective == index for sample in samples):
            raise ConfigError(
                f"all samples of objective {objective.kind!r} ({objective.protocol}) are longer "
                f"than max_tokens ({recipe.max_tokens:,})"
            )
    return TrainingData(
        n_too_long=sum(sample is None for sample in [*known.values(), *validation]),
        samples=tuple(
            in_batches(
                samples,
                _longest,
                batch=recipe.batch_samples,
                micro_batch=recipe.micro_batch_samples,
                seed=recipe.seed,
            )
        ),
        # Sorted by length, so that an evaluation has little padding.
        validation=tuple(
            sorted((sample for sample in validation if sample is not None), key=_longest)
        ),
    )


def _longest(sample: Sample) -> int:
    return max(sequence.n_tokens for sequence in sample.sequences)


def fitting(encoder: SampleEncoder, planned: Planned) -> Sample | None:
    """A tokenised sample; None if it is too long even with its responses cut."""
    try:
        return encoder.encode(planned)
    except DataError:
        return None
