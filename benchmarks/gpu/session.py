r"""All that a GPU is needed for, as one command: tests, throughput, and trainings, in parts.

    python -m benchmarks.gpu.session results --weights 135m=PATH --weights 0.5b=PATH [--data FILE …]

It needs a CUDA machine with torch, transformers, this repository and no network. Weights are
folders of transformers; the models whose throughput is measured have random ones. Without `--data`
the trainings take `data/own` of the repository.

A call does as many parts as fit `--minutes` (all together take less than 25 on an H100), and the
same command goes on: what is done is not done again, and a training goes on from its checkpoint.
Exit status 3 says that parts are left; `--all` goes on until none is. `results/` then holds
`report.md`, a JSON file per part and the learning curves, less than 16 MB; what is large lies in
`--work`. A part that cannot run (no bitsandbytes, too little memory) says why; the others go on.

`--smoke` runs all of it in a minute on the CPU, with tiny models: its figures mean nothing.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from autoj.errors import AutojError, Cancelled
from autoj.runs.watch import Watch
from autoj.training.judge.loading import TrainingJob
from autoj.training.judge.recipe import Recipe, read_recipe
from autoj.training.judge.train import train
from benchmarks.engine_throughput import LLAMA2_13B, TINY, Size, measure_random
from benchmarks.gpu.session_report import check_size, machine, render

ROOT = Path(__file__).parents[2]
MORE_LEFT = 3
_7B = {**LLAMA2_13B, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
       "num_attention_heads": 32, "num_key_value_heads": 32}  # fmt: skip
_1_5B = {**LLAMA2_13B, "hidden_size": 1536, "intermediate_size": 8960, "num_hidden_layers": 28,
         "num_attention_heads": 12, "num_key_value_heads": 2, "vocab_size": 151_936}  # fmt: skip
SHAPES = {"13b": LLAMA2_13B, "7b": _7B, "1.5b": _1_5B}
RECIPES = {"135m": "embedded.yaml", "0.5b": "embedded-0.5b.yaml"}
_OWN = ("pairs.jsonl", "singles.jsonl")


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
    """Ends a training at a checkpoint's distance before the time is over."""

    def __init__(self, until: float) -> None:
        self._until = until
        self.messages: list[str] = []

    def message(self, text: str) -> None:
        self.messages.append(text)
        print(text, file=sys.stderr, flush=True)

    def cancelled(self) -> bool:
        return time.monotonic() > self._until


class _NotYetError(Exception):
    """A part that goes on in the next call."""


# The parts.


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
        raise _NotYetError from None
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
        base = {"judge": str(folder)}
    else:
        base = {"judge": f"hf:{folder.resolve()}", "wrapper": "chatml", "context_tokens": 2048}
    changed: dict[str, Any] = {"base": base, "packing": True}
    changed["micro_batch_samples"] = min(recipe.batch_samples, 16)
    if session.smoke:
        changed |= {"max_tokens": 512, "batch_samples": 2, "micro_batch_samples": 2}
        objectives = [{"kind": "preference", "protocol": "pairwise-by-rating"}]
        changed |= {"objectives": objectives, "protocols": ["pairwise-by-rating"]}
    return Recipe.model_validate({**recipe.model_dump(exclude_unset=True), **changed})


def _peak_bytes() -> int | None:
    import torch

    return torch.cuda.max_memory_allocated() if torch.cuda.is_available() else None


PARTS: dict[str, tuple[float, Callable[[Session], dict[str, Any]]]] = {
    "tests": (2.0, run_tests),
    **{
        f"{name}-{'4bit' if bits == 4 else 'bf16'}": (
            minutes,
            lambda session, name=name, bits=bits: measure_size(session, name, bits),
        )
        for name, bits, minutes in (
            ("13b", 16, 4.0), ("13b", 4, 5.0), ("7b", 16, 2.0), ("7b", 4, 4.0), ("1.5b", 16, 1.0),
            ("1.5b", 4, 2.0),
        )
    },
    "train-135m": (1.0, lambda session: train_judge(session, "135m")),
    "train-0.5b": (1.0, lambda session: train_judge(session, "0.5b")),
}  # fmt: skip
"""Each part with the minutes that it wants; a training takes what there is, and goes on later."""


# The session.


def run_session(session: Session, run: Callable[[Session, str], bool]) -> bool:
    """Runs the parts that are left, until the time is over.

    Args:
        session: the settings.
        run: runs one part; False where it goes on in the next call.

    Returns:
        True where all are done.
    """
    session.results.mkdir(parents=True, exist_ok=True)
    session.work.mkdir(parents=True, exist_ok=True)
    n_done = 0
    for part, (minutes, _) in PARTS.items():
        if session.file(part).is_file():
            continue
        # The first part of a call is begun however short the call is.
        if n_done and time.monotonic() + 60 * minutes > session.until:
            return False
        print(f"{part} …", file=sys.stderr, flush=True)
        if not run(session, part):
            return False
        n_done += 1
    return True


def run_part(session: Session, part: str) -> bool:
    """Runs a part in this process, and writes its file; False where it goes on later."""
    started = time.monotonic()
    try:
        found = PARTS[part][1](session)
    except _NotYetError:
        return False
    except (AutojError, RuntimeError, MemoryError, SystemExit) as error:
        # What one part lacks must not keep the others from running.
        found = {"failed": f"{type(error).__name__}: {error}"}
    found |= {"seconds": round(time.monotonic() - started, 1)}
    write_json(session.file(part), found)
    return True


def run_child(session: Session, part: str) -> bool:
    """The same in a process of its own: its memory is free afterwards, and its crash is its own."""
    seconds = max(60.0, session.until - time.monotonic())
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu.session", *_arguments(session, seconds), part],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stderr=subprocess.PIPE,
        text=True,
    )
    if told.returncode not in (0, MORE_LEFT):
        write_json(session.file(part), {"failed": told.stderr[-2000:]})
    return told.returncode != MORE_LEFT


def _arguments(session: Session, seconds: float) -> list[str]:
    given = [str(session.results.resolve()), "--work", str(session.work.resolve())]
    given += ["--minutes", f"{seconds / 60}"]
    for name, folder in session.weights.items():
        given += ["--weights", f"{name}={folder.resolve()}"]
    given += ["--data", *(str(path.resolve()) for path in session.data)]
    return [*given, *(["--smoke"] if session.smoke else []), "--only"]


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Writes a file whole or not at all."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(content, indent=1), encoding="utf-8")
    draft.replace(path)


# The command.


def _weights(given: str) -> tuple[str, Path]:
    name, _, path = given.partition("=")
    if name not in RECIPES or not Path(path).is_dir():
        names = " or ".join(RECIPES)
        raise argparse.ArgumentTypeError(f"expected {names}, = and a folder, found {given!r}")
    return name, Path(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a session; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("results", type=Path)
    parser.add_argument("--weights", type=_weights, action="append", default=[])
    parser.add_argument("--data", type=Path, nargs="+", default=[], help="what is trained on")
    parser.add_argument("--work", type=Path, help="for what is large; default: RESULTS-work")
    parser.add_argument("--minutes", type=float, default=9.5, help="of a call (%(default)s)")
    parser.add_argument("--all", action="store_true", help="go on until all parts are done")
    parser.add_argument("--smoke", action="store_true", help="on the CPU, with tiny models")
    parser.add_argument("--only", choices=PARTS, help="this part alone, in this process")
    given = parser.parse_args(arguments)
    own = ROOT / "data" / "own"
    session = Session(
        results=given.results,
        work=given.work or given.results.with_name(f"{given.results.name}-work"),
        weights=dict(given.weights),
        data=tuple(given.data or (own / name for name in _OWN)),
        smoke=given.smoke,
        until=time.monotonic() + 60 * given.minutes,
    )
    if not session.smoke:
        import torch

        if not torch.cuda.is_available():
            parser.error("PyTorch finds no GPU here; --smoke tries the script on the CPU")
    if given.only is not None:
        return 0 if run_part(session, given.only) else MORE_LEFT
    run = run_part if session.smoke else run_child
    while not run_session(session, run):
        if not given.all:
            print("parts are left: give the same command again", file=sys.stderr)
            return MORE_LEFT
        session = replace(session, until=time.monotonic() + 60 * given.minutes)
    where = machine()
    write_json(session.results / "machine.json", where)
    read = {part: json.loads(session.file(part).read_text(encoding="utf-8")) for part in PARTS}
    report = render(read, where, smoke=session.smoke)
    (session.results / "report.md").write_text(report, encoding="utf-8")
    check_size(session.results)
    print(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
