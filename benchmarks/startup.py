"""Time until a command answers that needs no model, and until a folder of runs is listed.

Each call is a process of its own. The processor's time is given beside the time on the clock, which
grows with whatever else the machine does; the lowest of the rounds is the least disturbed one.

    python -m benchmarks.startup
    python -m benchmarks.startup --rounds 9 --runs 500
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.harness import judge, write_cases

TARGET_VERSION_SECONDS = 0.3
_COMPLETION = {"_AUTOJ_COMPLETE": "complete_bash", "COMP_CWORD": "1"}


def timed(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Seconds on the clock and of the processor that one call takes."""
    before, started = os.times(), time.monotonic()
    code = f"import sys; sys.argv = {['autoj', *arguments]!r}; from autoj.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    seconds, after = time.monotonic() - started, os.times()
    used = after.children_user + after.children_system
    return seconds, used - before.children_user - before.children_system


def make_runs(folder: Path, n_runs: int, n_cases: int) -> None:
    """A run of a scripted judge on labelled pairs, under many names."""
    write_cases(folder / "pairs.jsonl", n_cases)
    (folder / "runs").mkdir()
    judge(folder / "pairs.jsonl", folder / "runs" / "run-0")
    for number in range(1, n_runs):
        (folder / "runs" / f"run-{number}").symlink_to(folder / "runs" / "run-0")


def main() -> None:
    """Print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--cases", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        make_runs(Path(place), options.runs, options.cases)
        calls: list[tuple[str, list[str], Mapping[str, str]]] = [
            ("autoj --version", ["--version"], {}),
            ("autoj --help", ["--help"], {}),
            ("autoj <TAB>", [], {**_COMPLETION, "COMP_WORDS": "autoj "}),
            ("autoj judges", ["judges"], {}),
            ("autoj judge --help", ["judge", "--help"], {}),
            (f"autoj runs, {options.runs:,} runs of {options.cases:,} pairs",
             ["runs", f"{place}/runs"], {}),
        ]  # fmt: skip
        print("| command | on the clock, s | of the processor, s |\n|---|---|---|")
        for name, arguments, environment in calls:
            rounds = [timed(arguments, environment) for _ in range(options.rounds)]
            cells = (
                f"{statistics.median(its):.2f} ({min(its):.2f}-{max(its):.2f})"
                for its in zip(*rounds, strict=True)
            )
            print(f"| `{name}` | {' | '.join(cells)} |")
    print(f"target: autoj --version below {TARGET_VERSION_SECONDS} s")


if __name__ == "__main__":
    main()
