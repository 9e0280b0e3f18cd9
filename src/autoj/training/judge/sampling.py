"""Tokens of a training estimated from some of its samples, in seconds for any amount of data."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np

from autoj.errors import ConfigError
from autoj.metrics import Floats
from autoj.metrics.base import mean_of
from autoj.runs.watch import Watch
from autoj.training.judge.largest import find_largest, largest_batch
from autoj.training.judge.plans import Planned
from autoj.training.judge.recipe import Recipe
from autoj.training.judge.sample_files import Outline, TrainingData, drawn_samples, fitting
from autoj.training.judge.samples import Sample, SampleEncoder

N_SAMPLED = 200
"""Samples that are tokenised: the mean length is then known to a few percent."""
# A budget may reach further than the mean length lets expect.
_MARGIN = 1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The number of samples and tokens of a training, counted or estimated."""

    samples: tuple[Sample, ...]
    """Tokenised samples: all of the training in its order, or those drawn, the longest first."""
    largest: tuple[Sample, ...]
    """The micro-batch that most tokens are read of: of all samples, not only of those drawn."""
    n_samples: int
    """The number of samples to train on."""
    n_tokens: int
    tokens_low: int | None = None
    tokens_high: int | None = None
    """The 95 % interval of `n_tokens`; None where it was counted, or a budget sets it."""
    n_validation_tokens: int
    """Tokens of one look at the validation file."""
    n_drawn: int | None = None
    """The number of samples that the estimate is from; None where all were tokenised."""
    n_too_long: int = 0
    """Of the tokenised ones, those that are longer than `max_tokens` with their responses cut."""


def counted_extent(data: TrainingData, recipe: Recipe) -> Extent:
    """The extent of a training whose samples are all tokenised."""
    return Extent(
        samples=data.samples,
        largest=largest_batch(data.samples, recipe),
        n_samples=len(data.samples),
        n_tokens=data.n_tokens,
        n_validation_tokens=sum(sample.n_tokens for sample in data.validation),
        n_too_long=data.n_too_long,
    )


def estimate_extent(
    outline: Outline,
    recipe: Recipe,
    encoder: SampleEncoder,
    *,
    budget_tokens: int | None,
    watch: Watch,
    n_sampled: int = N_SAMPLED,
) -> Extent:
    """Tokenises samples drawn at random, and extrapolates to all; and the longest of all.

    The mean length follows from a draw, the peak of memory does not: it is that of the largest
    micro-batch.

    Args:
        outline: the planned samples.
        recipe: the recipe of that outline.
        encoder: the tokeniser of samples.
        budget_tokens: the number of tokens to train on; None takes all epochs.
        watch: told the number of samples done, and of all.
        n_sampled: the number of samples to tokenise; all if there are no more.

    Raises:
        ConfigError: all samples that were drawn are too long.
    """
    planned = drawn_samples(outline, recipe)
    drawn = _some(planned, n_sampled, recipe.seed)
    samples: list[Sample | None] = []
    for one in drawn:
        samples.append(fitting(encoder, one))
        watch.progress("tokenising", len(samples), len(drawn))
    known = [sample for sample in samples if sample is not None]
    if not known:
        raise ConfigError(
            f"all {len(drawn):,} samples that were looked at are longer than max_tokens "
            f"({recipe.max_tokens:,})"
        )
    lengths = np.array([0 if sample is None else sample.n_tokens for sample in samples], float)
    n_samples, found = len(planned), _mean_of(lengths)
    if len(drawn) == len(planned):
        found = found.without_interval()
    if budget_tokens is not None and found.value * n_samples > budget_tokens:
        if recipe.order == "given":
            found = _mean_of(_first(lengths, budget_tokens * len(drawn) / n_samples))
        n_samples = max(1, round(budget_tokens / found.value))
        found = found.without_interval()
    n_fit = n_samples * len(known) / len(samples)
    in_order = tuple(sorted(known, key=lambda sample: -sample.n_tokens))
    return Extent(
        samples=in_order,
        largest=_largest(planned, recipe, encoder, n_samples) or largest_batch(in_order, recipe),
        n_samples=round(n_fit),
        n_tokens=round(found.value * n_samples),
        tokens_low=None if found.low is None else round(found.low * n_samples),
        tokens_high=None if found.high is None else round(found.high * n_samples),
        n_validation_tokens=_validation_tokens(outline, recipe, encoder, n_sampled),
        n_drawn=len(drawn) if len(drawn) < len(planned) else None,
        n_too_long=len(samples) - len(known),
    )


def _largest(
    planned: Sequence[Planned], recipe: Recipe, encoder: SampleEncoder, n_samples: int
) -> tuple[Sample, ...]:
    """The largest micro-batch of a training on about the first `n_samples` of those planned."""
    return find_largest(planned[: ceil(_MARGIN * n_samples)], recipe, encoder)


class _Mean(NamedTuple):
    value: float
    low: float | None
    high: float | None

    def without_interval(self) -> "_Mean":
        return self._replace(low=None, high=None)


def _mean_of(lengths: Floats) -> _Mean:
    found = mean_of("tokens", lengths, np.arange(len(lengths)), span=(0.0, np.inf))
    return _Mean(float(lengths.mean()), found.low, found.high)


def _first(lengths: Floats, n_tokens: float) -> Floats:
    """The first lengths up to a sum; at least one."""
    return lengths[: int(np.searchsorted(np.cumsum(lengths), n_tokens)) + 1]


def _some(planned: Sequence[Planned], n: int, seed: int) -> list[Planned]:
    """Samples drawn by a seed, in their order; all if there are no more."""
    places = random.Random(seed).sample(range(len(planned)), min(n, len(planned)))
    return [planned[place] for place in sorted(places)]


def _validation_tokens(
    outline: Outline, recipe: Recipe, encoder: SampleEncoder, n_sampled: int
) -> int:
    planned = () if outline.validation is None else outline.validation.samples
    if not planned:
        return 0
    drawn = _some(planned, n_sampled, recipe.seed)
    found = [fitting(encoder, one) for one in drawn]
    n_tokens = sum(sample.n_tokens for sample in found if sample is not None)
    return round(n_tokens * len(planned) / len(drawn))
