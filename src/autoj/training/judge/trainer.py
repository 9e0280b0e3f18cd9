"""TRL's trainer with the losses of our objectives.

TRL and transformers provide optimiser, schedule, accumulation, precision, checkpoints, evaluation
and early stopping. The samples and their losses are ours.
"""

from collections.abc import Sequence
from functools import wraps
from types import MethodType
from typing import Any

from autoj.training.judge.learning import learn
from autoj.training.judge.recipe import Objective
from autoj.training.judge.samples import Sample
from autoj.training.judge.whole import check_whole


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
            loss = (learnt[0] * learnt[0].new_tensor(weights)).mean()
            return (loss, learnt) if return_outputs else loss

        def prediction_step(
            self, model: Any, inputs: Any, prediction_loss_only: bool, ignore_keys: Any = None
        ) -> Any:
            with torch.no_grad(), self.compute_loss_context_manager():
                loss, learnt = self.compute_loss(model, inputs, return_outputs=True)
            of = [sample.objective for sample in _batch(inputs, samples, validation)]
            losses, right = learnt
            # An evaluation collects arrays of numbers alone: a row for `summarise`.
            rows = torch.stack([losses.detach(), right, losses.new_tensor(of)], dim=1)
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
