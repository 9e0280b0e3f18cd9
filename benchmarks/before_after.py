"""Two trees of the project on the same work in turn: the harness, the embedded judge, the client.

Each round is a process of its own that imports one tree, and rounds of both trees alternate, so
that other work on the machine hits both alike. The figure is the ratio, after over before, of each
pair of rounds: of the seconds on the clock, and of the processor's seconds, on which other work
weighs less. A ratio above 1 is slower.

    git worktree add ../before COMMIT
    python -m benchmarks.before_after --before ../before
    python -m benchmarks.before_after --before ../before harness --rounds 9
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).resolve().parents[1]

_TIMED = """
import json, resource, sys, tempfile, time
from pathlib import Path

def clocks():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), used.ru_utime + used.ru_stime

def report(started):
    print(json.dumps([now - then for now, then in zip(clocks(), started)]))

folder = Path(sys.argv[1])
"""
_EMBEDDED = """
from autoj.backends.embedded import load
from autoj.datasets import open_cases
from autoj.judges import load_card
from autoj.runs import judge_run, make_spec, open_run
from benchmarks.harness import write_cases

try:
    card = load_card("embedded-small-base")
except Exception:
    card = load_card("embedded-base")  # its name in earlier trees
backend = load(card)

def run(name, n_cases, **settings):
    write_cases(folder / f"{name}.jsonl", n_cases)
    spec = make_spec("judge", card, **settings)
    with open_run(folder / name, spec, open_cases(folder / f"{name}.jsonl")) as opened:
        judge_run(opened, spec, backend)

run("warm", 1, protocol="pairwise-verdict")
started = clocks()
"""
WORK: Mapping[str, str] = {
    "harness": """
from benchmarks.harness import judge, write_cases

write_cases(folder / "cases.jsonl", 6000)
started = clocks()
judge(folder / "cases.jsonl", folder / "run")
""",
    "embedded, verdicts": f'{_EMBEDDED}\nrun("run", 8, protocol="pairwise-verdict")\n',
    "embedded, critiques": f'{_EMBEDDED}\nrun("run", 6, protocol="pairwise", max_tokens=32)\n',
    "client": """
from benchmarks.openai_engine import run_ours, serving

with serving(0.0) as url:
    run_ours(url, 64)
    started = clocks()
    run_ours(url, 2048)
""",
}
"""The work of a round: 12,000 judgments of a scripted judge, 16 verdicts and 12 critiques of 32
tokens of the 135M model, and 2,048 requests to a mock server that answers at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The time of one tree's work, after its imports and what it loads."""

    clock_s: float
    processor_s: float


def timed(tree: Path, work: str, folder: Path) -> Round:
    """Does the work in a process that imports a tree.

    Args:
        tree: the root of a checkout.
        work: a key of `WORK`.
        folder: an empty folder for its files.
    """
    done = subprocess.run(
        [sys.executable, "-c", f"{_TIMED}\n{WORK[work]}\nreport(started)", str(folder)],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    clock_s, processor_s = json.loads(done.stdout.splitlines()[-1])
    return Round(clock_s=clock_s, processor_s=processor_s)


def spread(values: Sequence[float]) -> str:
    """The median, with the lowest and the highest value."""
    return f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def main() -> None:
    """Runs the rounds and prints a row for each kind of work."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("work", nargs="*", choices=tuple(WORK), help="default: all")
    parser.add_argument("--before", type=Path, required=True, help="a checkout of the earlier tree")
    parser.add_argument("--after", type=Path, default=_HERE, help="default: this one")
    parser.add_argument("--rounds", type=int, default=5, help="of each tree; default: %(default)s")
    options = parser.parse_args()
    trees = (options.before.resolve(), options.after.resolve())
    print("| work | clock, after / before | processor, after / before | processor before, s |")
    print("|---|---|---|---|")
    for work in options.work or WORK:
        pairs: list[tuple[Round, Round]] = []
        for number in range(options.rounds + 1):
            found: dict[Path, Round] = {}
            # Whichever tree runs first finds the caches colder: they take turns.
            for tree in trees if number % 2 else reversed(trees):
                with tempfile.TemporaryDirectory(prefix="autoj-benchmark-") as folder:
                    found[tree] = timed(tree, work, Path(folder))
            # The first pair warms the disk's cache and is not counted.
            if number:
                pairs.append((found[trees[0]], found[trees[1]]))
        clock = spread([after.clock_s / before.clock_s for before, after in pairs])
        processor = spread([after.processor_s / before.processor_s for before, after in pairs])
        seconds = spread([before.processor_s for before, _ in pairs])
        print(f"| {work} | {clock} | {processor} | {seconds} |", flush=True)


if __name__ == "__main__":
    main()
