"""The parts of a session on a GPU machine: tests, throughput, trainings."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from autoj.errors import Cancelled
from autoj.runs.watch import Watch
from autoj.training.judge.loading import TrainingJob
from autoj.training.judge.recipe import Recipe, read_recipe
from autoj.training.judge.train import train
from benchmarks.engine_throughput import LLAMA2_13B, TINY, Size, measure_random

ROOT = Path(__file__).parents[2]
_7B = {**LLAMA2_13B, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
       "num_attention_heads": 32, "num_key_value_heads": 32}  # fmt: skip
_1_5B = {**LLAMA2_13B, "hidden_size": 1536, "intermediate_size": 8960, "num_hidden_layers": 28,
         "num_attention_heads": 12, "num_key_value_heads": 2, "vocab_size": 151_936}  # fmt: skip
SHAPES = {"13b": LLAMA2_13B, "7b": _7B, "1.5b": _1_5B}
RECIPES = {"135m": "embedded-small.yaml", "0.5b": "embedded-0.5b.yaml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The settings of all parts."""

    results: Path
    work: Path
    weights: Mapping[str, Path]
    data: tuple[Path, ...]
    smoke: bool
    until: float
    """The end of this call, a time of `time.monotonic`."""

    @property
    def device(self) -> str:
        """The device of the measurements."""
        return "cpu" if self.smoke else "cuda"

    def file(self, part: str) -> Path:
        """The file that says that a part is done."""
        return self.results / f"{part}.json"


class _Deadline(Watch):
    """Ends a training when the time is over; it goes on from its last checkpoint."""

    def __init__(self, until: float) -> None:
        self._until = until
        self.messages: list[str] = []

    def message(self, text: str) -> None:
        self.messages.append(text)
        print(text, file=sys.stderr, flush=True)

    def cancelled(self) -> bool:
        return time.monotonic() > self._until


class NotYetError(Exception):
    """A part that goes on in the next call."""


def run_tests(session: Session) -> dict[str, Any]:
    """Runs the tests that need a GPU."""
    where = ["tests/training/judge/test_gpu.py", "--collect-only"] if session.smoke else ["tests"]
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "gpu", "-q", "-p", "no:cacheprovider", *where],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=540,
    )
    (session.results / "tests.txt").write_text(told.stdout[-200_000:], encoding="utf-8")
    lines = told.stdout.strip().splitlines()
    return {"status": told.returncode, "closing_line": lines[-1] if lines else told.stderr[-400:]}


def measure_size(session: Session, name: str, bits: int) -> dict[str, Any]:
    """Measures critiques and verdicts per minute of a random model, beside the roofline."""
    if bits == 4 and importlib.util.find_spec("bitsandbytes") is None:
        return {"left_out": "bitsandbytes is not installed"}
    if session.smoke:
        size, shape = Size(n_requests=2, prompt_tokens=60, new_tokens=3), TINY
    else:
        n_requests = 128 if (name, bits) == ("13b", 4) else 256
        size, shape = Size(n_requests=n_requests, prompt_tokens=700, new_tokens=250), SHAPES[name]
    found = measure_random(shape, size, 2, 1, session.device, bits)
    return {"size": asdict(size), **asdict(found)}


def train_judge(session: Session, name: str) -> dict[str, Any]:
    """Trains the embedded judge's recipe on all data, or goes on with it."""
    folder = session.weights.get(name)
    if folder is None:
        return {"left_out": f"no --weights {name}=PATH"}
    recipe = _recipe(session, name, folder)
    out = session.work / f"judge-{name}"
    watch = _Deadline(session.until)
    job = TrainingJob(
        recipe=recipe,
        data=session.data,
        lenient=True,
        budget_tokens=2_000 if session.smoke else None,
    )
    try:
        report = train(job, out, watch)
    except Cancelled:
        raise NotYetError from None
    for curve in out.glob("curve.*"):
        shutil.copy(curve, session.results / f"{name}-{curve.name}")
    return {
        "data": [path.name for path in session.data],
        "steps": report.n_steps,
        "speed": None if report.speed is None else asdict(report.speed),
        "peak_memory_bytes": _peak_bytes(),
        "messages": watch.messages,
    }


def _recipe(session: Session, name: str, folder: Path) -> Recipe:
    recipe = read_recipe(ROOT / "recipes" / RECIPES[name])
    if (folder / "judge.yaml").is_file():
        base: dict[str, Any] = {"judge": str(folder)}
    else:
        base = {"judge": f"hf:{folder.resolve()}", "wrapper": "chatml", "context_tokens": 2048}
    changed: dict[str, Any] = {"base": base, "packing": True}
    changed["micro_batch_samples"] = min(recipe.batch_samples, 16)
    # Half a minute of work on an H100, which the end of a call may lose.
    changed["checkpoint_steps"] = 50
    if session.smoke:
        changed |= {"max_tokens": 512, "batch_samples": 2, "micro_batch_samples": 2}
        objectives = [{"kind": "preference", "protocol": "pairwise-by-rating"}]
        changed |= {"objectives": objectives, "protocols": ["pairwise-by-rating"]}
        changed["update"] = {"method": "lora", "rank": 2}
    return Recipe.model_validate({**recipe.model_dump(exclude_unset=True), **changed})


def _peak_bytes() -> int | None:
    import torch

    return torch.cuda.max_memory_allocated() if torch.cuda.is_available() else None


PARTS: dict[str, tuple[float, Callable[[Session], dict[str, Any]]]] = {
    "tests": (2.0, run_tests),
    **{
        f"{name}-{'4bit' if bits == 4 else 'bf16'}": (
            minutes,
            partial(measure_size, name=name, bits=bits),
        )
        for name, bits, minutes in (
            ("13b", 16, 4.0), ("13b", 4, 5.0), ("7b", 16, 2.0), ("7b", 4, 4.0), ("1.5b", 16, 1.0),
            ("1.5b", 4, 2.0),
        )
    },
    "train-135m": (1.0, partial(train_judge, name="135m")),
    "train-0.5b": (1.0, partial(train_judge, name="0.5b")),
}  # fmt: skip
"""Each part with the minutes that it wants; a training takes what there is, and goes on later."""
