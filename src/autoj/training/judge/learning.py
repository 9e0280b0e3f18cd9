"""The losses of a recipe's objectives, for all samples of a batch at once.

Sample by sample it would be some ten small kernels and a copy to the device each, for which a GPU
waits longer than for the model. Here the numbers of all samples are gathered on the CPU and copied
together; nothing is read back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from autoj.backends._choices import ChoiceTrie
from autoj.backends.hf.scoring import asked_positions, hidden_states, project
from autoj.training.judge.losses import comparison_losses, expected_ratings, token_losses
from autoj.training.judge.recipe import Objective
from autoj.training.judge.samples import Choice, Compared, Sample, Written

if TYPE_CHECKING:
    from torch import Tensor

# Keeps the missing choices of a sample with fewer choices from being its best one.
_NO_CHOICE = -1e9


def learn(
    model: Any, samples: Sequence[Sample], objectives: Sequence[Objective]
) -> tuple[Tensor, Tensor]:
    """Computes the losses of samples in one forward pass.

    Args:
        model: a causal language model of transformers, or one wrapped by PEFT; with a module
            `score` where an objective is scalar.
        samples: a batch; samples of similar length need less padding.
        objectives: the recipe's.

    Returns:
        The losses [n_samples], without the objectives' weights, and the correctness [n_samples]: 1
        where the model's answer is the label, or the share of comparisons where it is; NaN for
        text, or where every label is a tie. Both stay on the device.
    """
    batch = _Batch(model, samples, objectives)
    losses, right = batch.written(), batch.nothing_right()
    for add in (batch.add_choices, batch.add_compared):
        losses, right = add(losses, right)
    return losses, right


def choice_scores(model: Any, tries: Sequence[ChoiceTrie]) -> Tensor:
    """Scores the choices of tries in one forward pass.

    Args:
        model: a causal language model of transformers.
        tries: a batch; all have the same number of choices.

    Returns:
        [n_tries, n_choices], float32, natural logarithms.
    """
    target = Choice(weights=())
    samples = [Sample(objective=0, case_id="", sequences=(one,), target=target) for one in tries]
    objective = Objective.model_validate({"kind": "decision", "protocol": "pairwise-verdict"})
    return _Batch(model, samples, [objective]).choices(range(len(tries)))


class _Batch:
    """The sequences of samples with their hidden states, and the logits that choices need."""

    def __init__(
        self, model: Any, samples: Sequence[Sample], objectives: Sequence[Objective]
    ) -> None:
        import torch

        self.model, self.samples, self.objectives = model, samples, objectives
        self.sequences = [sequence for sample in samples for sequence in sample.sequences]
        self.first: list[int] = []
        """Per sample, the index of its first sequence."""
        positions: list[range] = []
        for sample in samples:
            self.first.append(len(positions))
            positions += self._positions(sample)
        self.states = hidden_states(model, self.sequences, positions)
        self.device = self.states[0].device
        # A text's logits are needed for its own tokens alone, a score needs none: see `written`.
        chosen = [
            self.first[number] + at
            for number, sample in enumerate(samples)
            if not isinstance(sample.target, Written) and self._kind(sample) != "scalar"
            for at in range(len(sample.sequences))
        ]
        self.start: dict[int, int] = {}
        """Per sequence with choices, the row of its first position."""
        n_rows = 0
        for index in chosen:
            self.start[index] = n_rows
            n_rows += len(positions[index])
        if chosen:
            self.logits = project(model, torch.cat([self.states[index] for index in chosen]))
            self.normaliser = torch.logsumexp(self.logits, dim=-1)

    def _kind(self, sample: Sample) -> str:
        return self.objectives[sample.objective].kind

    def _positions(self, sample: Sample) -> list[range]:
        """The positions that a sample's loss needs, per sequence."""
        if self._kind(sample) == "scalar":
            return [range(one.n_tokens - 1, one.n_tokens) for one in sample.sequences]
        if isinstance(sample.target, Written):
            # The position before each token of the target text.
            first = sample.target.n_prompt - 1
            return [range(first, one.n_tokens - 1) for one in sample.sequences]
        return [asked_positions(one) for one in sample.sequences]

    def _of(self, kind: type[Choice] | type[Compared] | type[Written]) -> Iterator[tuple[int, Any]]:
        """The samples with a kind of target: their number, and that target."""
        for number, sample in enumerate(self.samples):
            if isinstance(sample.target, kind):
                yield number, sample.target

    def written(self) -> Tensor:
        """The mean negative log-likelihood of each text, its end token included; 0 elsewhere."""
        import torch

        owners: list[int] = []
        tokens: list[int] = []
        shares: list[float] = []
        states: list[Tensor] = []
        for number, target in self._of(Written):
            sequence = self.sequences[self.first[number]]
            text = (sequence.root + sequence.tokens)[target.n_prompt :]
            owners += [number] * len(text)
            tokens += text
            shares += [1 / len(text)] * len(text)
            states.append(self.states[self.first[number]])
        losses = torch.zeros(len(self.samples), device=self.device)
        if not states:
            return losses
        numbers = torch.tensor([owners, tokens], device=self.device)
        nll = token_losses(self.model, torch.cat(states), numbers[1])
        weighted = nll * torch.tensor(shares, device=self.device)
        return losses.index_add(0, numbers[0], weighted)

    def nothing_right(self) -> Tensor:
        """NaN for each sample, whose correctness is not known yet."""
        import torch

        return torch.full((len(self.samples),), float("nan"), device=self.device)

    def choices(self, indices: Sequence[int]) -> Tensor:
        """The log-probabilities of the choices of some sequences.

        They are of the strings themselves and not normalised over the choices, so probability given
        to any other string adds to the loss.

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
        rows, tokens, places = torch.tensor(taken, device=self.device).unbind(1)
        logprobs = self.logits[rows, tokens] - self.normaliser[rows]
        totals = torch.zeros(len(indices) * most, device=self.device)
        return totals.index_add(0, places, logprobs).view(len(indices), most)

    def add_choices(self, losses: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        """Adds the cross entropy of whole choices against their target probabilities."""
        import torch

        targets = {number: target.weights for number, target in self._of(Choice)}
        if not targets:
            return losses, right
        logprobs = self.choices([self.first[number] for number in targets])
        most = logprobs.shape[1]

        def filled(rows: Sequence[Sequence[float]], rest: float) -> Tensor:
            return torch.tensor(
                [[*row, *[rest] * (most - len(row))] for row in rows], device=self.device
            )

        weights = filled(list(targets.values()), 0.0)
        missing = filled([[0.0] * len(row) for row in targets.values()], _NO_CHOICE)
        best = [max(range(len(row)), key=row.__getitem__) for row in targets.values()]
        owners, wanted = torch.tensor([list(targets), best], device=self.device)
        is_right = ((logprobs + missing).argmax(dim=-1) == wanted).float()
        return (
            losses.index_add(0, owners, -(logprobs * weights).sum(dim=-1)),
            right.index_copy(0, owners, is_right),
        )

    def add_compared(self, losses: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        """Adds the mean loss of each sample's comparisons; see `comparison_losses`."""
        import torch

        rated: list[int] = []
        scored: list[int] = []
        taken: list[tuple[int, int, int]] = []
        numbers: list[tuple[float, ...]] = []
        for number, target in self._of(Compared):
            sample = self.samples[number]
            objective, comparisons = self.objectives[sample.objective], target.comparisons
            n_decided = sum(one.shares[0] != one.shares[1] for one in comparisons)
            first = self.first[number]
            for one in comparisons:
                taken.append((first + one.first, first + one.second, number))
                share = 1 / n_decided if one.shares[0] != one.shares[1] else 0.0
                numbers.append((*one.shares, 1 / len(comparisons), share, *_settings(objective)))
            of_kind = scored if objective.kind == "scalar" else rated
            of_kind += range(first, first + len(sample.sequences))
        if not taken:
            return losses, right
        ratings = torch.zeros(len(self.sequences), device=self.device)
        if rated:
            at = torch.tensor(rated, device=self.device)
            ratings = ratings.index_add(0, at, expected_ratings(self.choices(rated)))
        if scored:
            at = torch.tensor(scored, device=self.device)
            ratings = ratings.index_add(0, at, self._scores(scored))
        firsts, seconds, owners = torch.tensor(taken, device=self.device).unbind(1)
        of = torch.tensor(numbers, device=self.device)
        difference = ratings[firsts] - ratings[seconds]
        loss = comparison_losses(difference, of[:, :3], of[:, 5:])
        agrees = ((difference > 0) == (of[:, 0] > of[:, 1])).float()
        share_right = torch.zeros_like(losses).index_add(0, owners, agrees * of[:, 4])
        decided = torch.zeros_like(losses).index_add(0, owners, of[:, 4])
        return (
            losses.index_add(0, owners, loss * of[:, 3]),
            torch.where(decided > 0, share_right, right),
        )

    def _scores(self, indices: Sequence[int]) -> Tensor:
        import torch

        model = self.model
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        states = torch.cat([self.states[index] for index in indices])
        with torch.autocast(self.device.type, enabled=False):
            found: Tensor = base.score(states.float()).squeeze(-1)
        return found


def _settings(objective: Objective) -> tuple[float, float, float, float]:
    """An objective's settings in the order of `comparison_losses`."""
    return (
        objective.temperature, objective.tie, objective.tie_weight, objective.label_smoothing,
    )  # fmt: skip
