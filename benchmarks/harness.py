"""The harness without a model: judgments per second and peak memory of a `scripted` run.

Each round is a process of its own that opens a run on a generated file of native rows and judges it
in both orders, by the route of `autoj judge`. The clock starts before the run is opened, so reading
the rows, planning, asking, recording, resolving and writing the verdicts are all in it.

    python benchmarks/harness.py
    python benchmarks/harness.py --cases 1000000 --rounds 1
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import orjson

from autoj.backends.scripted import load
from autoj.datasets import open_cases
from autoj.jsonl import count_lines
from autoj.judges import load_card
from autoj.records import Request
from autoj.runs import judge_run, make_spec, open_run

TARGET_JUDGMENTS_PER_SECOND = 5_000
TARGET_PEAK_MB = 600

_CRITIQUE = (
    "1. The key factors to distinguish these two responses:\n\n"
    "- Depth: Response 1 gives reasons where Response 2 only makes claims.\n\n"
    "- Layout: both use short paragraphs, and Response 2 adds a list.\n\n"
    "2. The final decision:\n\nSo, the final decision is Response {}. It is the more helpful one."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One run from the start to the end."""

    n_judgments: int
    seconds: float
    peak_mb: float
    """The most memory that the process held, in 10^6 bytes."""
    idle_mb: float
    """The memory before the run was opened: the interpreter and imported modules."""

    @property
    def judgments_per_second(self) -> float:
        """Requests answered, recorded and resolved per second."""
        return self.n_judgments / self.seconds


def write_cases(path: Path, n_cases: int) -> None:
    """Writes native rows of about a kilobyte, all different."""
    first = "It depends on what you want from it, and on how much time you have for it. " * 5
    second = "There are three points to consider here; the first is the most important. " * 5
    with path.open("wb") as stream:
        for number in range(n_cases):
            row = {
                "id": f"case-{number}",
                "query": f"What should I consider before I begin with project {number}?",
                "responses": [f"{first}({number})", f"{second}({number})"],
                "label": ("a", "b", "tie")[number % 3],
            }
            stream.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


def answer(request: Request) -> str:
    """A critique whose decision follows from the request's key."""
    return _CRITIQUE.format(1 + int(request.key[0], 16) % 2)


def judge(path: Path, folder: Path) -> Round:
    """Judges a file's cases in both orders."""
    idle_mb = peak_mb()
    card = load_card("scripted:benchmark")
    spec = make_spec("judge", card, protocol="pairwise")
    started = time.perf_counter()
    with open_run(folder, spec, open_cases(path)) as run:
        counts = judge_run(run, spec, load(card, answer))
    seconds = time.perf_counter() - started
    n_lines = count_lines(folder / "ledger.jsonl")
    if counts.n_failed or not counts.n_answered == n_lines == 2 * count_lines(path):
        raise SystemExit(f"the run is incomplete: {counts}, {n_lines} lines in the ledger")
    return Round(n_judgments=n_lines, seconds=seconds, peak_mb=peak_mb(), idle_mb=idle_mb)


def peak_mb() -> float:
    """The most memory that this process held so far, in 10^6 bytes."""
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes / 1e6


def judge_apart(path: Path, folder: Path) -> Round:
    """`judge` in a process of its own, so that its memory is its own."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_send_round, args=(theirs, path, folder))
    process.start()
    theirs.close()
    try:
        found: Round = ours.recv()
    except EOFError:
        raise SystemExit("the round failed; its error is above") from None
    finally:
        process.join()
    return found


def _send_round(connection: Connection, path: Path, folder: Path) -> None:
    connection.send(judge(path, folder))
    connection.close()


def spread(values: Iterable[float]) -> str:
    """The median, with the lowest and the highest value."""
    known = sorted(values)
    return f"{statistics.median(known):,.0f} ({known[0]:,.0f}-{known[-1]:,.0f})"


def main() -> None:
    """Runs the rounds and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=20_000, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument(
        "--folder", type=Path, help="where the run may take 5 kB per case; default: a temporary one"
    )
    options = parser.parse_args()
    rounds: list[Round] = []
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="autoj-benchmark-") as scratch:
        path = Path(scratch) / "cases.jsonl"
        write_cases(path, options.cases)
        for number in range(options.rounds):
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                rounds.append(judge_apart(path, Path(folder) / "run"))
            print(f"round {number + 1}: {rounds[-1]}", file=sys.stderr)
    print(f"{options.cases:,} cases in both orders, {options.rounds} rounds: median (min-max)\n")
    print("| figure | measured | target |\n|---|---|---|")
    per_second = spread(found.judgments_per_second for found in rounds)
    print(f"| judgments/s | {per_second} | at least {TARGET_JUDGMENTS_PER_SECOND:,} |")
    print(
        f"| peak memory, MB | {spread(found.peak_mb for found in rounds)} "
        f"| below {TARGET_PEAK_MB} at 1,000,000 cases |"
    )
    print(f"| of it before the run, MB | {spread(found.idle_mb for found in rounds)} | |")
    print(f"| seconds | {spread(found.seconds for found in rounds)} | |")


if __name__ == "__main__":
    main()
