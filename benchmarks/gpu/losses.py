"""The losses of a recipe's objectives for a whole batch at once, and the scores of choices.

`autoj.training.judge.trainer.learn` computes the same, sample by sample: some ten small kernels and
a copy to the device each, for which a GPU waits longer than for the model. Here the numbers of all
samples are gathered on the CPU and copied together. A test holds both equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autoj.backends._choices import ChoiceTrie
from autoj.backends.hf.scoring import asked_positions, hidden_states, project
from autoj.errors import ConfigError
from autoj.protocols.single import RATINGS
from autoj.training.judge.recipe import Objective
from autoj.training.judge.samples import Choice, Compared, Sample, Written

if TYPE_CHECKING:
    from torch import Tensor

# Keeps the missing choices of a sample with fewer choices from being its best one.
_NO_CHOICE = -1e9


class _Batch:
    """The sequences of samples, with the logits at all positions that the losses need."""

    def __init__(self, model: Any, samples: Sequence[Sample]) -> None:
        import torch

        self.samples = samples
        self.sequences: list[ChoiceTrie] = []
        self.first: list[int] = []
        """Per sample, the index of its first sequence."""
        positions: list[range] = []
        for sample in samples:
            self.first.append(len(self.sequences))
            self.sequences += sample.sequences
            positions += [_positions(sample, sequence) for sequence in sample.sequences]
        self.start = _starts(positions)
        """Per sequence, the row of its first position."""
        states = hidden_states(model, self.sequences, positions)
        self.logits: Tensor = project(model, torch.cat(states))  # [n_positions, n_vocabulary]
        self.normaliser: Tensor = torch.logsumexp(self.logits, dim=-1)

    def logprobs(self, rows: Tensor, tokens: Tensor) -> Tensor:
        """The log-probability of a token at each of some rows: [n_rows]."""
        return self.logits[rows, tokens] - self.normaliser[rows]

    def choices(self, indices: Sequence[int]) -> Tensor:
        """The log-probabilities of the choices of some sequences.

        Returns:
            [n_indices, most choices]; 0 where a sequence has fewer choices.
        """
        import torch

        most = max(len(self.sequences[index].steps) for index in indices)
        taken = [
            (self.start[index] + node + 1, token, number * most + choice)
            for number, index in enumerate(indices)
            for choice, steps in enumerate(self.sequences[index].steps)
            for node, token in steps
        ]
        rows, tokens, places = torch.tensor(taken, device=self.logits.device).unbind(1)
        totals = torch.zeros(len(indices) * most, device=self.logits.device)
        return totals.index_add(0, places, self.logprobs(rows, tokens)).view(len(indices), most)


def _positions(sample: Sample, sequence: ChoiceTrie) -> range:
    if isinstance(sample.target, Written):
        # The position before each token of the target text.
        return range(sample.target.n_prompt - 1, sequence.n_tokens - 1)
    return asked_positions(sequence)


def _starts(positions: Sequence[range]) -> list[int]:
    starts = [0]
    for asked in positions:
        starts.append(starts[-1] + len(asked))
    return starts[:-1]


def learn(
    model: Any, samples: Sequence[Sample], objectives: Sequence[Objective]
) -> tuple[Tensor, Tensor]:
    """Computes the losses of samples in one forward pass.

    Args:
        model: a causal language model of transformers.
        samples: a batch; samples of similar length need less padding.
        objectives: the recipe's; none of them scalar.

    Returns:
        The losses [n_samples], without the objectives' weights, and the correctness [n_samples]: 1
        where the model's answer is the label, or the share of comparisons where it is; NaN for
        text, or where every label is a tie. Both stay on the device.

    Raises:
        ConfigError: an objective is scalar.
    """
    import torch

    if any(objectives[sample.objective].kind == "scalar" for sample in samples):
        raise ConfigError("scalar objectives are trained by autoj train alone")
    batch = _Batch(model, samples)
    losses = torch.zeros(len(samples), device=batch.logits.device)
    right = torch.full_like(losses, float("nan"))
    for add in (_add_written, _add_choices, _add_compared):
        losses, right = add(batch, objectives, losses, right)
    return losses, right


def _add_written(
    batch: _Batch, objectives: Sequence[Objective], losses: Tensor, right: Tensor
) -> tuple[Tensor, Tensor]:
    import torch

    taken: list[tuple[int, int, int]] = []
    shares: list[float] = []
    for number, sample in enumerate(batch.samples):
        if isinstance(sample.target, Written):
            index = batch.first[number]
            sequence = batch.sequences[index]
            tokens = (sequence.root + sequence.tokens)[sample.target.n_prompt :]
            taken += [(batch.start[index] + at, token, number) for at, token in enumerate(tokens)]
            shares += [1 / len(tokens)] * len(tokens)
    if not taken:
        return losses, right
    rows, tokens_of, owners = torch.tensor(taken, device=losses.device).unbind(1)
    weights = torch.tensor(shares, device=losses.device)
    return losses.index_add(0, owners, -batch.logprobs(rows, tokens_of) * weights), right


def _add_choices(
    batch: _Batch, objectives: Sequence[Objective], losses: Tensor, right: Tensor
) -> tuple[Tensor, Tensor]:
    import torch

    targets = {
        number: sample.target.weights
        for number, sample in enumerate(batch.samples)
        if isinstance(sample.target, Choice)
    }
    if not targets:
        return losses, right
    device = losses.device
    logprobs = batch.choices([batch.first[number] for number in targets])
    most = logprobs.shape[1]
    weights = torch.tensor(
        [[*row, *[0.0] * (most - len(row))] for row in targets.values()], device=device
    )
    missing = torch.tensor(
        [[0.0] * len(row) + [_NO_CHOICE] * (most - len(row)) for row in targets.values()],
        device=device,
    )
    best = torch.tensor(
        [max(range(len(row)), key=row.__getitem__) for row in targets.values()], device=device
    )
    owners = torch.tensor(list(targets), device=device)
    is_right = ((logprobs + missing).argmax(dim=-1) == best).float()
    return (
        losses.index_add(0, owners, -(logprobs * weights).sum(dim=-1)),
        right.index_copy(0, owners, is_right),
    )


def _add_compared(
    batch: _Batch, objectives: Sequence[Objective], losses: Tensor, right: Tensor
) -> tuple[Tensor, Tensor]:
    """Adds the losses of comparisons, as `losses.comparison_loss` of `autoj` has them."""
    import torch

    device = losses.device
    indices: list[int] = []
    taken: list[tuple[int, int, int]] = []
    numbers: list[tuple[float, ...]] = []
    for number, sample in enumerate(batch.samples):
        if not isinstance(sample.target, Compared):
            continue
        objective, comparisons = objectives[sample.objective], sample.target.comparisons
        n_decided = sum(one.shares[0] != one.shares[1] for one in comparisons)
        for one in comparisons:
            taken.append((len(indices) + one.first, len(indices) + one.second, number))
            decided = one.shares[0] != one.shares[1]
            numbers.append(
                (
                    *one.shares,
                    1 / len(comparisons),
                    1 / n_decided if decided else 0.0,
                    objective.temperature,
                    objective.tie,
                    objective.tie_weight,
                    objective.label_smoothing,
                )
            )
        first = batch.first[number]
        indices += range(first, first + len(sample.sequences))
    if not taken:
        return losses, right
    ratings = _expected_ratings(batch.choices(indices))
    firsts, seconds, owners = torch.tensor(taken, device=device).unbind(1)
    for_first, for_second, for_tie, mean, decided_mean, temperature, tie, tie_weight, smoothing = (
        torch.tensor(numbers, device=device).unbind(1)
    )
    difference = (ratings[firsts] - ratings[seconds]) / temperature
    log_a = torch.nn.functional.logsigmoid(difference - tie)
    log_b = torch.nn.functional.logsigmoid(-difference - tie)
    # Without a band ties have no probability, and their loss only pulls the ratings together.
    band = torch.where(tie > 0, torch.log(torch.expm1(2 * tie)), torch.zeros_like(tie))
    loss = -(
        for_first * ((1 - smoothing) * log_a + smoothing * log_b)
        + for_second * ((1 - smoothing) * log_b + smoothing * log_a)
        + for_tie * tie_weight * (log_a + log_b + band)
    )
    agrees = ((difference > 0) == (for_first > for_second)).float()
    share_right = torch.zeros_like(losses).index_add(0, owners, agrees * decided_mean)
    n_decided_of = torch.zeros_like(losses).index_add(0, owners, decided_mean)
    return (
        losses.index_add(0, owners, loss * mean),
        torch.where(n_decided_of > 0, share_right, right),
    )


def _expected_ratings(logprobs: Tensor) -> Tensor:
    """The mean of each rating distribution: [n], from [n, at least 10]."""
    import torch

    ratings = torch.tensor(RATINGS, dtype=torch.float32, device=logprobs.device)
    return (logprobs[:, : len(RATINGS)].softmax(dim=-1) * ratings).sum(dim=-1)


def score(model: Any, tries: Sequence[ChoiceTrie]) -> Tensor:
    """Scores the choices of tries in one forward pass.

    Args:
        model: a causal language model of transformers.
        tries: a batch; all have the same number of choices.

    Returns:
        [n_tries, n_choices], float32, natural logarithms.
    """
    plain = Choice(weights=())
    samples = [Sample(objective=0, case_id="", sequences=(one,), target=plain) for one in tries]
    return _Batch(model, samples).choices(range(len(tries)))
