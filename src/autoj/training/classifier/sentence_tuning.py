"""Fine-tuning of the sentence encoder on scenarios: LoRA on all its layers, and a linear head.

The LoRA updates are added to the encoder's matrices when a classifier is loaded, so reading a query
costs no more than before. transformers trains and PEFT adapts; the samples and the loss are ours.
"""

from __future__ import annotations

import importlib.util
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from autoj.errors import MissingExtra
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios.classifier.minilm import ACTIVATION, N_DIMENSIONS
from autoj.scenarios.classifier.sentences import N_ENDS, SentenceEncoder, model_folder
from autoj.training.classifier.recipe import SentenceTuning
from autoj.training.judge.folder import half_written, last_checkpoint
from autoj.training.judge.models import multiplies_bfloat16_fast
from autoj.training.judge.settings import quietly

if TYPE_CHECKING:
    from torch import Tensor

_PACKAGES = ("torch", "transformers", "peft")
_MATRICES = ("query", "key", "value", "dense")
_HEAD_SCALE = 4.0
"""A factor on the head's input, with which the head learns fast enough at the adapter's learning
rate."""
_DROPOUT = 0.2

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedSentences:
    """The result of tuning: updates of the encoder, and the head."""

    changes: Mapping[str, Array]
    """The LoRA updates of the encoder's matrices, as `SentenceEncoder` takes them."""
    head: Array
    """`[768, n_labels]`: scores are `embedded @ head + bias`."""
    bias: Array
    """`[n_labels]`."""

    def scores(self, queries: Sequence[str]) -> Array:
        """Computes the logits of queries, `[n_queries, n_labels]`."""
        found: Array = SentenceEncoder(self.changes).embed(queries) @ self.head + self.bias
        return found


def tune_sentences(
    settings: SentenceTuning,
    queries: Sequence[str],
    wanted: NDArray[np.float64],
    costs: NDArray[np.float64],
    checkpoints: Path,
    *,
    seed: int,
    watch: Watch = SILENT,
) -> TunedSentences:
    """Tunes the encoder on queries; a repeated call resumes from the last complete epoch.

    Args:
        settings: the recipe's settings of tuning.
        queries: texts of any length; their beginning and end are read, as in classification.
        wanted: target shares of each query's scenarios, `[n_queries, n_labels]`; rows sum to 1.
        costs: sample weights, `[n_queries]`.
        checkpoints: a folder for this tuning alone; the result stays in it.
        seed: the random seed.
        watch: told each stage.

    Raises:
        MissingExtra: the packages are not installed.
    """
    check_tuning_packages()
    result = checkpoints / "tuned.npz"
    if result.is_file():
        return _read(result)
    trainer = _trainer(
        _network(_adapted_encoder(settings, seed), wanted.shape[1], settings.label_smoothing),
        _samples(queries, wanted, costs),
        settings,
        checkpoints,
        seed,
        watch,
    )
    _train(trainer, checkpoints, watch)
    network = trainer.model
    learnt = TunedSentences(
        changes=_changes(network.encoder),
        head=network.head.weight.detach().float().cpu().numpy().T * np.float32(_HEAD_SCALE),
        bias=network.head.bias.detach().float().cpu().numpy(),
    )
    _write(result, learnt)
    return learnt


def check_tuning_packages() -> None:
    """Checks that the sentence encoder can be tuned here.

    Raises:
        MissingExtra: packages are not installed.
    """
    if any(importlib.util.find_spec(name) is None for name in _PACKAGES):
        raise MissingExtra("train", "tuning the sentence encoder")


def _samples(
    queries: Sequence[str], wanted: NDArray[np.float64], costs: NDArray[np.float64]
) -> list[dict[str, Any]]:
    reader = SentenceEncoder()
    samples = []
    for query, row, cost in zip(queries, wanted, costs, strict=True):
        head, *tail = reader.windows(query)
        # The trainer looks for a sample's length under this name.
        samples.append({"input_ids": head, "tail": tail, "wanted": row, "cost": cost})
    return samples


def _adapted_encoder(settings: SentenceTuning, seed: int) -> Any:
    """Loads the encoder and puts a LoRA on all its matrices."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import BertModel

    torch.manual_seed(seed)
    adapter = LoraConfig(
        r=settings.rank, lora_alpha=2 * settings.rank, target_modules=list(_MATRICES)
    )
    with quietly():
        bert = BertModel.from_pretrained(
            str(model_folder()),
            add_pooling_layer=False,
            hidden_act=ACTIVATION,
            # Without it attention is computed in one piece; on a CPU a third of the time is saved.
            attention_probs_dropout_prob=0.0,
        )
        return get_peft_model(bert, adapter)


def _trainer(
    network: Any,
    samples: Sequence[Mapping[str, Any]],
    settings: SentenceTuning,
    checkpoints: Path,
    seed: int,
    watch: Watch,
) -> Any:
    import torch
    from transformers import PrinterCallback, Trainer, TrainingArguments

    device = "cuda" if torch.cuda.is_available() else "cpu"
    n_updates = settings.epochs * math.ceil(len(samples) / settings.batch_queries)
    arguments = TrainingArguments(
        output_dir=str(checkpoints),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_queries,
        learning_rate=settings.learning_rate,
        weight_decay=0.01,
        warmup_steps=math.ceil(0.06 * n_updates),
        lr_scheduler_type="linear",
        max_grad_norm=1.0,
        # Windows of similar length share a batch: padding costs time.
        train_sampling_strategy="group_by_length",
        save_strategy="epoch",
        save_total_limit=1,
        seed=seed,
        data_seed=seed,
        use_cpu=device == "cpu",
        bf16=multiplies_bfloat16_fast(device),
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    # Several GPUs would split a batch's windows without regard to the queries they belong to.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    trainer = Trainer(
        model=network,
        args=arguments,
        train_dataset=samples,
        data_collator=_collate,
        callbacks=[_follow(watch)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _train(trainer: Any, checkpoints: Path, watch: Watch) -> None:
    """Trains, from the last complete checkpoint if there is one."""
    last = last_checkpoint(checkpoints)
    for broken in half_written(checkpoints):
        shutil.rmtree(broken)
    if last is not None:
        watch.message("tuning the sentence encoder: resuming from a checkpoint")
    with quietly():
        trainer.train(resume_from_checkpoint=None if last is None else str(last))


def _write(path: Path, learnt: TunedSentences) -> None:
    draft = path.with_suffix(".draft.npz")
    arrays: dict[str, Any] = {"head": learnt.head, "bias": learnt.bias, **learnt.changes}
    np.savez(draft, **arrays)
    draft.replace(path)


def _read(path: Path) -> TunedSentences:
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    head, bias = arrays.pop("head"), arrays.pop("bias")
    return TunedSentences(changes=arrays, head=head, bias=bias)


def _network(encoder: Any, n_labels: int, smoothing: float) -> Any:
    """Builds a module of the encoder, a head over the means of its last layer, and the loss."""
    import torch

    class Network(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder
            self.dropout = torch.nn.Dropout(_DROPOUT)
            self.head = torch.nn.Linear(N_ENDS * N_DIMENSIONS, n_labels)
            torch.nn.init.normal_(self.head.weight, std=0.02)
            torch.nn.init.zeros_(self.head.bias)

        def forward(
            self, input_ids: Tensor, attention_mask: Tensor, ends: Tensor, wanted: Tensor,
            costs: Tensor,
        ) -> dict[str, Tensor]:  # fmt: skip
            states = self.encoder(input_ids=input_ids, attention_mask=attention_mask)
            hidden = states.last_hidden_state.float() * attention_mask[..., None]
            means = hidden.sum(dim=1) / attention_mask.sum(dim=1, keepdim=True)
            logits = self.head(self.dropout(means[ends].flatten(1)) * _HEAD_SCALE).float()
            smooth = (1 - smoothing) * wanted + smoothing / n_labels
            losses = -(smooth * logits.log_softmax(dim=1)).sum(dim=1)
            return {"loss": (losses * costs).mean()}

    return Network()


def _collate(samples: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
    """Pads windows to one batch; `ends` has the indices of each query's first and last window."""
    import torch

    windows: list[list[int]] = []
    ends: list[tuple[int, int]] = []
    for sample in samples:
        first = len(windows)
        windows += [sample["input_ids"], *sample["tail"]]
        ends.append((first, len(windows) - 1))
    longest = max(map(len, windows))
    ids = torch.zeros(len(windows), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, seen, window in zip(ids, mask, windows, strict=True):
        row[: len(window)] = torch.tensor(window)
        seen[: len(window)] = 1
    return {
        "input_ids": ids,
        "attention_mask": mask,
        "ends": torch.tensor(ends),
        "wanted": torch.tensor(np.array([s["wanted"] for s in samples]), dtype=torch.float32),
        "costs": torch.tensor([float(s["cost"]) for s in samples]),
    }


def _changes(encoder: Any) -> dict[str, Array]:
    """The LoRA factors by the matrix they update: `NAME.a` [rank, in], `NAME.b` [out, rank].

    The update is `b @ a`; the LoRA scaling is included in `b`.
    """
    changes: dict[str, Array] = {}
    for name, module in encoder.named_modules():
        if not hasattr(module, "lora_A") or "default" not in module.lora_A:
            continue
        matrix = name.partition("base_model.model.")[2]
        a = module.lora_A["default"].weight.detach().float().cpu().numpy()
        b = module.lora_B["default"].weight.detach().float().cpu().numpy()
        changes[f"{matrix}.a"] = a
        changes[f"{matrix}.b"] = b * np.float32(module.scaling["default"])
    return changes


def _follow(watch: Watch) -> Any:
    from transformers import TrainerCallback

    class Follow(TrainerCallback):  # type: ignore[misc]
        """Reports progress at every tenth of the steps."""

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            tenths = [
                10 * step // state.max_steps for step in (state.global_step - 1, state.global_step)
            ]
            if tenths[0] != tenths[1]:
                watch.message(f"tuning the sentence encoder: {10 * tenths[1]} %")

    return Follow()
