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
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autoj.errors import AutojError
from benchmarks.gpu.session_parts import PARTS, RECIPES, ROOT, NotYetError, Session
from benchmarks.gpu.session_report import check_size, machine, render

MORE_LEFT = 3
PART_SECONDS = 600
_OWN = ("pairs.jsonl", "singles.jsonl")


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
    except NotYetError:
        return False
    except (AutojError, RuntimeError, MemoryError, SystemExit, subprocess.SubprocessError) as error:
        # What one part lacks must not keep the others from running.
        found = {"failed": f"{type(error).__name__}: {error}"}
    found |= {"seconds": round(time.monotonic() - started, 1)}
    write_json(session.file(part), found)
    return True


def run_child(session: Session, part: str) -> bool:
    """The same in a process of its own: its memory is free afterwards, and its crash is its own."""
    # A training must reach its own deadline, and write its checkpoint, before it is killed here.
    seconds = min(max(60.0, session.until - time.monotonic()), PART_SECONDS - 90)
    started = time.monotonic()
    try:
        told = subprocess.run(
            [sys.executable, "-m", "benchmarks.gpu.session", *_arguments(session, seconds), part],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stderr=subprocess.PIPE,
            text=True,
            timeout=PART_SECONDS,
        )
        status, said = told.returncode, told.stderr[-2000:]
    except subprocess.TimeoutExpired:
        status, said = 1, f"it took longer than {PART_SECONDS // 60} minutes"
    if status not in (0, MORE_LEFT):
        took = round(time.monotonic() - started, 1)
        write_json(session.file(part), {"failed": said, "seconds": took})
    return status != MORE_LEFT


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
