"""The micro-batch of a training that most tokens are read of: its memory is the training's peak."""

from collections.abc import Sequence
from typing import TypeVar

from autoj.training.judge.plans import Planned
from autoj.training.judge.recipe import Recipe
from autoj.training.judge.sample_files import Outline, drawn_samples, fitting
from autoj.training.judge.samples import Sample, SampleEncoder
from autoj.training.judge.schedule import in_batches, up_to_tokens

T = TypeVar("T")

BYTES_PER_TOKEN = 4
"""Of English, roughly; used where no tokenizer is at hand."""
_TEMPLATE_BYTES = 1000
# Samples that are tokenised to find the largest micro-batch: texts of like bytes differ in tokens.
_N_TOKENISED = 64


def read_tokens(lengths: Sequence[int], *, packing: bool) -> int:
    """The tokens that the model reads of a batch, padding included.

    Args:
        lengths: the tokens of each of its sequences.
        packing: whether they are read as one row without padding.

    >>> read_tokens([3, 5], packing=False), read_tokens([3, 5], packing=True)
    (10, 8)
    """
    return sum(lengths) if packing else max(lengths, default=0) * len(lengths)


def read_of(samples: Sequence[Sample], recipe: Recipe) -> int:
    """The tokens that the model reads of a batch of samples, padding included."""
    lengths = [sequence.n_tokens for sample in samples for sequence in sample.sequences]
    return read_tokens(lengths, packing=recipe.packing)


def expected_lengths(planned: Planned, recipe: Recipe) -> list[int]:
    """The tokens of each sequence of a sample, from the bytes of its texts; never over the most.

    Args:
        planned: the sample.
        recipe: states its objective, and `max_tokens`.
    """
    case, objective = planned.case, recipe.objectives[planned.objective]
    about = [case.query, case.reference or "", *(turn.content for turn in case.history)]
    shown = _TEMPLATE_BYTES + sum(map(_n_bytes, about))
    responses = [_n_bytes(response.text) for response in case.responses]
    if objective.compares_ratings:
        found = [shown + each for each in responses]
    else:
        written = planned.row.judgment if objective.kind in ("judgment", "critique") else None
        found = [shown + sum(responses) + _n_bytes(written or "")]
    return [min(recipe.max_tokens, each // BYTES_PER_TOKEN) for each in found]


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def largest_batch(samples: Sequence[Sample], recipe: Recipe) -> tuple[Sample, ...]:
    """The micro-batch that most tokens are read of.

    Args:
        samples: the samples of a training, in its order.
        recipe: its settings.
    """
    batches = _cut(samples, recipe.micro_batch_samples)
    largest = max(batches, key=lambda batch: read_of(batch, recipe))
    return tuple(largest)


def find_largest(
    planned: Sequence[Planned], recipe: Recipe, encoder: SampleEncoder
) -> tuple[Sample, ...]:
    """The largest micro-batch of samples that are not tokenised, up to a few tokens.

    Batches are made of what the bytes of the texts let expect, and the largest are tokenised. Where
    none of a batch fits, so that it will be left out, ever more are passed over at once.

    Args:
        planned: the samples of a training in the order in which they were drawn.
        recipe: its settings.
        encoder: the tokeniser of samples.

    Returns:
        Its samples; empty where none of those that were tried fits.
    """
    expected = sorted(_expected_batches(planned, recipe), key=lambda each: -each[0])
    known: dict[int, Sample | None] = {}
    tried: list[list[Sample]] = []
    at, step = 0, 1
    while at < len(expected) and len(known) < _N_TOKENISED:
        _, batch = expected[at]
        # A sample comes again in each epoch.
        known |= {id(one): fitting(encoder, one) for one in batch if id(one) not in known}
        found = [sample for one in batch if (sample := known[id(one)]) is not None]
        if found:
            # What is left out leaves its place to a sample of like length.
            n_missing = len(batch) - len(found)
            longest = max(found, key=lambda sample: sample.n_tokens)
            tried.append(found + n_missing * [longest])
        step = 1 if found else 2 * step
        at += step
    largest = max(tried, key=lambda batch: read_of(batch, recipe), default=[])
    return tuple(largest)


def expected_largest(outline: Outline, recipe: Recipe, budget_tokens: int | None = None) -> int:
    """The tokens that are read of the largest micro-batch, where no tokenizer is at hand.

    Args:
        outline: the planned samples.
        recipe: the recipe of that outline, or one with other micro-batches.
        budget_tokens: the number of tokens to train on; None takes all epochs.
    """

    def n_tokens(planned: Planned) -> int:
        return sum(expected_lengths(planned, recipe))

    drawn = up_to_tokens(drawn_samples(outline, recipe), n_tokens, budget_tokens)
    return max(read for read, _ in _expected_batches(drawn, recipe))


def _expected_batches(
    planned: Sequence[Planned], recipe: Recipe
) -> list[tuple[int, Sequence[Planned]]]:
    """The micro-batches of samples by what their bytes let expect, with the tokens read of each."""
    distinct = {id(one): one for one in planned}
    expected = {key: expected_lengths(one, recipe) for key, one in distinct.items()}
    arranged = in_batches(
        planned,
        lambda one: max(expected[id(one)]),
        batch=recipe.batch_samples,
        micro_batch=recipe.micro_batch_samples,
        seed=recipe.seed,
    )

    def read(batch: Sequence[Planned]) -> int:
        of_batch = [length for one in batch for length in expected[id(one)]]
        return read_tokens(of_batch, packing=recipe.packing)

    return [(read(batch), batch) for batch in _cut(arranged, recipe.micro_batch_samples)]


def _cut(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
