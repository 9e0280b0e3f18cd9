"""TRL's trainer with the losses of our objectives.

TRL and transformers provide optimiser, schedule, accumulation, precision, checkpoints, evaluation
and early stopping. The samples and their losses are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import wraps
from types import MethodType
from typing import TYPE_CHECKING, Any, assert_never

from autoj.backends._choices import ChoiceTrie
from autoj.backends.hf.scoring import asked_positions, hidden_states, project, sum_steps
from autoj.training.judge.losses import choice_loss, comparison_loss, expected_rating, written_loss
from autoj.training.judge.recipe import Objective
from autoj.training.judge.samples import Choice, Compared, Sample, Written
from autoj.training.judge.whole import check_whole

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Learnt:
    """The loss of a model on one sample, and its correctness."""

    loss: Tensor
    """A scalar, without the objective's weight."""
    right: Tensor | None
    """A scalar: 1.0 where the model's answer is the label, or the share of comparisons where it is;
    None for text, or where every label is a tie. It stays on the device: reading it would make a
    GPU wait in every step."""


def learn(model: Any, samples: Sequence[Sample], objectives: Sequence[Objective]) -> list[Learnt]:
    """Computes the losses of samples in one forward pass.

    Args:
        model: a causal language model of transformers, or one wrapped by PEFT; with a module
            `score` where an objective is scalar.
        samples: a batch; samples of similar length need less padding.
        objectives: the recipe's.
    """
    import torch

    sequences = [sequence for sample in samples for sequence in sample.sequences]
    asked = [
        positions
        for sample in samples
        for positions in _asked(sample, scalar=objectives[sample.objective].kind == "scalar")
    ]
    states = hidden_states(model, sequences, asked)
    worded = [index for sample, index in _sequence_samples(samples)
              if objectives[sample.objective].kind != "scalar"]  # fmt: skip
    logits: dict[int, Tensor] = {}
    if worded:
        projected = project(model, torch.cat([states[index] for index in worded]))
        split = projected.split([len(states[index]) for index in worded])
        logits = dict(zip(worded, split, strict=True))
    learnt: list[Learnt] = []
    start = 0
    for sample in samples:
        indices = range(start, start + len(sample.sequences))
        start += len(sample.sequences)
        objective = objectives[sample.objective]
        if objective.kind == "scalar":
            with torch.autocast(states[0].device.type, enabled=False):
                scores = [score_head(model)(states[index].float()).squeeze() for index in indices]
            learnt.append(_compared(sample, objective, scores))
        else:
            learnt.append(_worded(sample, objective, [logits[index] for index in indices]))
    return learnt


def score_head(model: Any) -> Any:
    """Finds the score head of a model that is trained on a scalar objective."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    return base.score


def _sequence_samples(samples: Sequence[Sample]) -> list[tuple[Sample, int]]:
    of_sequences = [sample for sample in samples for _ in sample.sequences]
    return [(sample, index) for index, sample in enumerate(of_sequences)]


def _asked(sample: Sample, *, scalar: bool) -> list[Sequence[int]]:
    """The positions that a sample's loss needs, per sequence."""
    if scalar:
        return [[sequence.n_tokens - 1] for sequence in sample.sequences]
    match sample.target:
        case Written(n_prompt=n_prompt):
            # The position before each token of the target text.
            return [range(n_prompt - 1, sequence.n_tokens - 1) for sequence in sample.sequences]
        case Choice() | Compared():
            return [asked_positions(sequence) for sequence in sample.sequences]
        case _:
            assert_never(sample.target)


def _worded(sample: Sample, objective: Objective, logits: list[Tensor]) -> Learnt:
    target = sample.target
    match target:
        case Written(n_prompt=n_prompt):
            tokens = _tokens(sample.sequences[0])[n_prompt:]
            return Learnt(written_loss(logits[0], logits[0].new_tensor(tokens).long()), None)
        case Choice(weights=weights):
            logprobs = sum_steps(sample.sequences[0], logits[0])
            best = max(range(len(weights)), key=weights.__getitem__)
            return Learnt(choice_loss(logprobs, weights), (logprobs.argmax() == best).float())
        case Compared():
            ratings = [
                expected_rating(sum_steps(trie, rows))
                for trie, rows in zip(sample.sequences, logits, strict=True)
            ]
            return _compared(sample, objective, ratings)
        case _:
            assert_never(target)


def _tokens(sequence: ChoiceTrie) -> tuple[int, ...]:
    return sequence.root + sequence.tokens


def _compared(sample: Sample, objective: Objective, ratings: list[Tensor]) -> Learnt:
    import torch

    assert isinstance(sample.target, Compared)
    losses: list[Tensor] = []
    right: list[Tensor] = []
    for comparison in sample.target.comparisons:
        first, second = ratings[comparison.first], ratings[comparison.second]
        losses.append(comparison_loss(first, second, comparison.shares, objective))
        for_first, for_second, _ = comparison.shares
        if for_first != for_second:
            right.append(((first > second) == (for_first > for_second)).float())
    return Learnt(torch.stack(losses).mean(), torch.stack(right).mean() if right else None)


def summarise(rows: Any, objectives: Sequence[Objective]) -> dict[str, float]:
    """Computes the figures of a validation file from one row of numbers per sample.

    Args:
        rows: [n, 3] of loss, correctness (NaN where undefined), and objective.
        objectives: the recipe's.

    Returns:
        The weighted loss, and per objective its loss and the share of correct answers.
    """
    import numpy as np

    weights = np.array([objectives[int(index)].weight for index in rows[:, 2]])
    found = {"loss": float((rows[:, 0] * weights).sum() / len(rows))}
    for index, objective in enumerate(objectives):
        mine = rows[rows[:, 2] == index]
        if not len(mine):
            continue
        name = f"{objective.kind}_{objective.protocol}".replace("-", "_")
        found[f"{name}_loss"] = float(mine[:, 0].mean())
        known = mine[~np.isnan(mine[:, 1]), 1]
        if len(known):
            found[f"{name}_right"] = float(known.mean())
    return found


def build_trainer(
    *,
    model: Any,
    tokenizer: Any,
    objectives: Sequence[Objective],
    samples: Sequence[Sample],
    validation: Sequence[Sample],
    arguments: Any,
    callbacks: Sequence[Any],
) -> Any:
    """Builds TRL's trainer over our samples.

    Args:
        model: the model to train.
        tokenizer: its tokenizer, which is saved beside it.
        objectives: the recipe's.
        samples: training samples in their order.
        validation: validation samples; may be empty.
        arguments: a `trl.SFTConfig`.
        callbacks: callbacks of transformers.

    Raises:
        ConfigError: a sample's judgment is cut, or would be by `arguments.max_length`.
    """
    import torch
    from transformers import PrinterCallback
    from trl import SFTTrainer

    check_whole([*samples, *validation], arguments.max_length, tokenizer.eos_token_id)

    from datasets import Dataset

    def numbered(of: Sequence[Sample], *, validates: bool) -> Any:
        # The trainer's data set has only indices, so that samples stay objects.
        columns = {"sample": list(range(len(of))), "validates": [validates] * len(of)}
        return Dataset.from_dict(columns)

    class JudgeTrainer(SFTTrainer):  # type: ignore[misc]
        """TRL's trainer with our losses and our rows of evaluation."""

        def compute_loss(
            self,
            model: Any,
            inputs: dict[str, Any],
            return_outputs: bool = False,
            num_items_in_batch: Any = None,
        ) -> Any:
            batch = _batch(inputs, samples, validation)
            # The trainer casts inside the model's own forward pass, which is not called here.
            with self.accelerator.autocast():
                # Through the wrapper of a launch, whose hooks share gradients and weights.
                learnt = model(samples=batch)
            weights = [objectives[sample.objective].weight for sample in batch]
            # All micro-batches have the same size (except in a training of less than one batch), so
            # a mean of means is the mean of the batch.
            loss = torch.stack(
                [weight * item.loss for weight, item in zip(weights, learnt, strict=True)]
            ).mean()
            return (loss, learnt) if return_outputs else loss

        def prediction_step(
            self, model: Any, inputs: Any, prediction_loss_only: bool, ignore_keys: Any = None
        ) -> Any:
            with torch.no_grad(), self.compute_loss_context_manager():
                loss, learnt = self.compute_loss(model, inputs, return_outputs=True)
            batch = _batch(inputs, samples, validation)
            rows = torch.tensor(
                [_row(item, sample) for item, sample in zip(learnt, batch, strict=True)]
            )
            return loss.detach(), rows, rows

        def create_model_card(self, *args: Any, **kwargs: Any) -> None:
            """Writes nothing: our model card is written at the end, with figures."""

    _learns_by_call(model, objectives)
    trainer = JudgeTrainer(
        model=model,
        args=arguments,
        data_collator=_collate,
        train_dataset=numbered(samples, validates=False),
        eval_dataset=numbered(validation, validates=True) if validation else None,
        processing_class=tokenizer,
        compute_metrics=lambda found: summarise(found.predictions, objectives),
        callbacks=list(callbacks),
    )
    # It prints every log to stdout, which is for results.
    trainer.remove_callback(PrinterCallback)
    return trainer


def _learns_by_call(model: Any, objectives: Sequence[Objective]) -> None:
    """Lets `model(samples=…)` return what `learn` does; other calls are as before.

    DistributedDataParallel, FSDP and DeepSpeed act when the model itself is called: layers that are
    called past them would keep each process's gradients to itself.
    """
    plain = type(model).forward

    @wraps(plain)
    def forward(self: Any, *given: Any, samples: Any = None, **named: Any) -> Any:
        if samples is None:
            return plain(self, *given, **named)
        return learn(self, samples, objectives)

    model.forward = MethodType(forward, model)


def _collate(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"samples": [(row["sample"], row["validates"]) for row in rows]}


def _batch(
    inputs: dict[str, Any], samples: Sequence[Sample], validation: Sequence[Sample]
) -> list[Sample]:
    return [(validation if validates else samples)[at] for at, validates in inputs["samples"]]


def _row(learnt: Learnt, sample: Sample) -> tuple[float, float, float]:
    """Makes a row for `summarise`: an evaluation can collect only arrays of numbers."""
    right = float("nan") if learnt.right is None else float(learnt.right)
    return float(learnt.loss.detach()), right, float(sample.objective)
