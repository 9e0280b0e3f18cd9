r"""Trains a LoRA adapter on one GPU, within a given time.

    python -m benchmarks.gpu.train recipes/embedded-0.5b.yaml samples.pkl.xz \
        --weights weights --out adapter --minutes 4

The samples are those of `benchmarks.gpu.encode`, the weights a folder of `benchmarks.gpu.unpack`.
The adapter is written in PEFT's layout, with its losses in `log.json`. A training that was
interrupted goes on from its last checkpoint, at most a minute old, when the command is given again.

Of a recipe's optimiser are read the learning rate, betas, weight decay and the maximum norm of
gradients. The rate rises for 20 steps and falls linearly to 0, by the steps done or by the time
that has passed, whichever is further: it ends at 0 on a slow GPU, too. A micro-batch is a number of
padded tokens and not of samples, so `batch_samples` is not read, and neither is `precision`.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from autoj.errors import ConfigError
from autoj.training.judge.learning import learn
from autoj.training.judge.recipe import Recipe, read_recipe
from autoj.training.judge.samples import Sample
from benchmarks.gpu.batches import Batches, make_micro_batches
from benchmarks.gpu.encode import open_pickle
from benchmarks.gpu.lora import add_lora, save_adapter
from benchmarks.gpu.scoring import merge, score_groups
from benchmarks.gpu.unpack import base_sha256

CHECKPOINT = "checkpoint.pt"
CHECKPOINT_SECONDS = 60.0
WARMUP_STEPS = 20
LOGGED_STEPS = 20
EARLY_STEPS = (1, 3, 8)
"""Steps that are logged besides: a training that diverges does so at its start."""

Say = Callable[[str], None]


def load_model(weights: Path, device: str) -> Any:
    """Loads a model in bfloat16, with the attention kernels whose gradients can be trusted."""
    import transformers

    torch.backends.cuda.matmul.allow_tf32 = True
    # Gradients were NaN from the second step on, with it and with copies between precisions by
    # `torch._foreach_copy_`. Which of the two it was is not known; neither is used.
    torch.backends.cuda.enable_cudnn_sdp(False)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        weights, dtype=torch.bfloat16, attn_implementation="sdpa"
    )
    return model.to(device)


class NanGuard:
    """Follows the norms of gradients; after two that are not finite it leaves fused attention."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._n_bad = 0

    def check(self, step: int, norm: Tensor) -> None:
        """Checks a norm in the first steps and now and then later: to read it makes a GPU wait."""
        if (step >= 12 and step % LOGGED_STEPS) or math.isfinite(float(norm)):
            return
        self._n_bad += 1
        self._say(f"step {step + 1}: the norm of the gradients is {float(norm)}")
        if self._n_bad == 2:
            self._say("attention without fused kernels from here on")
            torch.backends.cuda.enable_mem_efficient_sdp(False)
            torch.backends.cuda.enable_flash_sdp(False)


class Training:
    """A training, from its beginning or from a checkpoint."""

    def __init__(
        self, model: Any, recipe: Recipe, batches: Batches, seconds: float, out: Path, say: Say
    ) -> None:
        """Gives the model its adapter and prepares the optimiser.

        Args:
            model: as of `load_model`.
            recipe: objectives, rank and optimiser.
            batches: all steps.
            seconds: the time after which the learning rate is 0 and the training ends.
            out: the folder of the checkpoint.
            say: told the progress.
        """
        update, optimiser = recipe.update, recipe.optimiser
        self._model, self._recipe, self._batches = model, recipe, batches
        self._out, self._say = out, say
        self._device = str(model.device)
        self.modules = add_lora(model, update.rank, alpha_of(recipe))
        model.train()
        self._factors = [f for m in self.modules.values() for f in (m.lora_a, m.lora_b)]
        self._masters = [f for m in self.modules.values() for f in (m.master_a, m.master_b)]
        for master in self._masters:
            master.grad = torch.zeros_like(master)
        self._optimiser = torch.optim.AdamW(
            self._masters,
            lr=optimiser.learning_rate,
            betas=optimiser.betas,
            weight_decay=optimiser.weight_decay,
            fused=model.device.type == "cuda",
        )
        self._guard = NanGuard(say)
        self._weights = torch.tensor([one.weight for one in recipe.objectives], device=model.device)
        self._pending: list[tuple[Tensor, Tensor, Tensor]] = []
        self.step = self._n_tokens = self._n_samples = 0
        self._seconds = max(5.0, seconds)
        self._elapsed_before = 0.0
        self.log: list[dict[str, Any]] = []

    def run(self) -> None:
        """Trains until all steps are done or the time is over."""
        began = saved = time.monotonic()
        before = self._elapsed_before
        n_steps = self._batches.n_steps
        while self.step < n_steps:
            now = time.monotonic()
            elapsed = before + now - began
            done = max(self.step / n_steps, elapsed / self._seconds)
            if done >= 1:
                break
            if now - saved > CHECKPOINT_SECONDS:
                self.save(elapsed)
                saved = now
            rate = self._recipe.optimiser.learning_rate * (1 - done)
            rate *= min(1.0, (self.step + 1) / WARMUP_STEPS)
            self._take_step(rate)
            if self.step % LOGGED_STEPS == 0 or self.step in (*EARLY_STEPS, n_steps):
                self._note(rate, before + time.monotonic() - began)

    def _take_step(self, rate: float) -> None:
        for micro_batch in self._batches.of_step(self.step):
            losses, right = learn(self._model, micro_batch, self._recipe.objectives)
            which = torch.tensor([one.objective for one in micro_batch], device=losses.device)
            loss = (losses * self._weights[which]).sum() / self._batches.samples_per_step
            loss.backward()
            self._pending.append((which, losses.detach(), right))
            self._n_samples += len(micro_batch)
            self._n_tokens += sum(one.n_tokens for one in micro_batch)
        for factor, master in zip(self._factors, self._masters, strict=True):
            master.grad.copy_(factor.grad)
            factor.grad = None
        norm = nn.utils.clip_grad_norm_(self._masters, self._recipe.optimiser.max_grad_norm)
        self._guard.check(self.step, norm)
        for master in self._masters:  # one bad step must not end a training that nobody watches
            master.grad.nan_to_num_(0.0, 0.0, 0.0)
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        self._optimiser.step()
        self._copy_masters()
        self.step += 1

    def _copy_masters(self) -> None:
        with torch.no_grad():
            for factor, master in zip(self._factors, self._masters, strict=True):
                factor.copy_(master)

    def _note(self, rate: float, elapsed: float) -> None:
        """Logs the losses since the last entry."""
        which, losses, right = (torch.cat(part).cpu() for part in zip(*self._pending, strict=True))
        self._pending = []
        figures: dict[str, dict[str, float | None]] = {}
        for index, objective in enumerate(self._recipe.objectives):
            mine = which == index
            if not mine.any():
                continue
            known = right[mine][~right[mine].isnan()]
            figures[f"{objective.kind} {objective.protocol}"] = {
                "n": int(mine.sum()),
                "loss": float(losses[mine].mean()),
                "right": float(known.mean()) if len(known) else None,
            }
        self.log.append(
            {
                "step": self.step,
                "learning_rate": rate,
                "tokens": self._n_tokens,
                "samples": self._n_samples,
                "seconds": elapsed,
                "objectives": figures,
            }
        )
        shown = ", ".join(
            f"{name} {found['loss']:.2f}"
            + ("" if found["right"] is None else f" ({found['right']:.0%})")
            for name, found in figures.items()
        )
        self._say(
            f"step {self.step} of {self._batches.n_steps}: {self._n_tokens / elapsed:,.0f} tokens/s"
            f"{_peak(self._device)}; {shown}"
        )

    @property
    def n_weights(self) -> int:
        """The number of weights in training."""
        return sum(master.numel() for master in self._masters)

    @property
    def _pinned(self) -> dict[str, Any]:
        """The settings that a checkpoint must have been made with."""
        return {
            "recipe": self._recipe.model_dump(mode="json"),
            "n_micro_batches": len(self._batches.micro_batches),
            "micro_batches_per_step": self._batches.per_step,
        }

    def save(self, elapsed: float) -> None:
        """Writes a checkpoint; the one before it stays until it is complete."""
        self._out.mkdir(parents=True, exist_ok=True)
        draft = self._out / f".{CHECKPOINT}.draft"
        torch.save(
            {
                "pinned": self._pinned,
                "step": self.step,
                "tokens": self._n_tokens,
                "samples": self._n_samples,
                "elapsed": elapsed,
                "seconds": self._seconds,
                "log": self.log,
                "masters": self._masters,
                "optimiser": self._optimiser.state_dict(),
            },
            draft,
        )
        draft.replace(self._out / CHECKPOINT)

    def resume(self) -> None:
        """Goes on from the checkpoint, if there is one.

        Raises:
            ConfigError: it is of another training.
        """
        path = self._out / CHECKPOINT
        if not path.is_file():
            return
        found = torch.load(path, map_location=self._device, weights_only=True)
        if found["pinned"] != self._pinned:
            raise ConfigError(
                f"{path} is of a training with another recipe or other micro-batches",
                hint="Give the command as it was given, or delete the checkpoint.",
            )
        with torch.no_grad():
            for master, kept in zip(self._masters, found["masters"], strict=True):
                master.copy_(kept)
        self._copy_masters()
        self._optimiser.load_state_dict(found["optimiser"])
        self.step, self.log = found["step"], found["log"]
        self._n_tokens, self._n_samples = found["tokens"], found["samples"]
        self._elapsed_before, self._seconds = found["elapsed"], found["seconds"]
        self._say(f"resuming from step {self.step}")


def _peak(device: str) -> str:
    if not device.startswith("cuda"):
        return ""
    return f", peak {torch.cuda.max_memory_allocated() / 2**30:.0f} GiB"


def alpha_of(recipe: Recipe) -> float:
    """The recipe's alpha, by default twice the rank."""
    return recipe.update.alpha or 2 * recipe.update.rank


def check_recipe(recipe: Recipe) -> None:
    """Checks that a recipe can be trained here.

    Raises:
        ConfigError: it trains something else than a LoRA adapter of all layers, without dropout.
    """
    update = recipe.update
    if update.method != "lora" or update.dropout or update.top_layers is not None:
        raise ConfigError(
            "only a LoRA adapter of all layers, without dropout, can be trained here",
            hint="Train it with autoj train.",
        )


def train(given: argparse.Namespace) -> None:
    """Trains, writes the adapter, and scores what is to be scored.

    Raises:
        ConfigError: the recipe cannot be trained here, there are too few samples for a step, or
            the folder has a checkpoint of another training.
    """
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - started:6.1f} s] {text}", flush=True)

    recipe = read_recipe(given.recipe)
    check_recipe(recipe)
    torch.manual_seed(recipe.seed)
    with open_pickle(given.samples, "rb") as stream:
        samples: list[Sample] = list(pickle.load(stream).samples)
    cut = make_micro_batches(samples, given.micro_tokens, recipe.seed)
    batches = Batches(micro_batches=cut, per_step=given.micros)
    if not batches.n_steps:
        raise ConfigError(
            f"{len(samples):,} samples give {len(cut)} micro-batches, fewer than a step has",
            hint="Give fewer --micros or fewer --micro-tokens.",
        )
    model = load_model(given.weights, given.device)
    seconds = 60 * given.minutes - (time.monotonic() - started)
    training = Training(model, recipe, batches, seconds, given.out, say)
    training.resume()
    say(
        f"{len(samples):,} samples in {batches.n_steps} steps of {batches.samples_per_step:.0f}; "
        f"{training.n_weights:,} weights to train"
    )
    training.run()
    update = recipe.update
    save_adapter(
        training.modules,
        given.out,
        rank=update.rank,
        alpha=alpha_of(recipe),
        base_sha256=base_sha256(given.weights),
    )
    (given.out / "log.json").write_text(json.dumps(training.log, indent=1), encoding="utf-8")
    (given.out / CHECKPOINT).unlink(missing_ok=True)
    say(f"{given.out} has the adapter after {training.step} steps")
    if given.score is None:
        return
    modules = list(training.modules.values())
    del training  # the optimiser's memory is needed for larger batches
    merge(model, modules)
    with open_pickle(given.score, "rb") as stream:
        groups = pickle.load(stream)
    until = math.inf if given.score_minutes is None else started + 60 * given.score_minutes
    score_groups(model, groups, given.scores, until=until, say=say)


def make_parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("samples", type=Path, help="a pickle of benchmarks.gpu.encode")
    parser.add_argument("--weights", type=Path, required=True, help="a folder with the base")
    parser.add_argument("--out", type=Path, required=True, help="the adapter's folder")
    parser.add_argument(
        "--minutes", type=float, required=True, help="when training ends, loading included"
    )
    parser.add_argument("--micro-tokens", type=int, default=24_000, help="padded, at once")
    parser.add_argument("--micros", type=int, default=1, help="micro-batches in a step")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda")
    parser.add_argument(
        "--score", type=Path, help="a pickle: a list of groups of (key, ChoiceTrie) to score then"
    )
    parser.add_argument("--scores", type=Path, help="a JSON file for their scores")
    parser.add_argument(
        "--score-minutes", type=float, help="when scoring ends, from the start of all"
    )
    return parser


def main() -> None:
    """Train an adapter."""
    parser = make_parser()
    given = parser.parse_args()
    if (given.score is None) != (given.scores is None):
        parser.error("--score and --scores are given together")
    train(given)


if __name__ == "__main__":
    main()
