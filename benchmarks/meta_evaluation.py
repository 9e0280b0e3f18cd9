"""Time of the tables: Eval-P's with 1,000 bootstrap draws, and a million verdicts from disk.

Run: python benchmarks/meta_evaluation.py [--verdicts 1000000]
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from autoj.bench.eval_p.evaluate import baseline_results, evaluate
from autoj.jsonl import write_records
from autoj.judges import load_card
from autoj.metrics import cluster_weights
from autoj.records import WINNERS, Case, Response, Verdict, normalise_query
from autoj.reports.summary import summarise
from autoj.runs import RunFolder, make_spec
from autoj.scenarios import scenario_names
from autoj.verdicts.resolve import settle


def case(number: int) -> Case:
    """A pair; every fourth query is asked twice."""
    query = f"Question {number - (number % 4 == 3)}, about subject {number % 977}?"
    return Case(
        id=f"case-{number}",
        query=query,
        responses=tuple(Response(text=f"Answer {n} to {number}. " * 8) for n in (1, 2)),
        cluster=normalise_query(query),
        label=WINNERS[number % 3],
        scenario=scenario_names()[number % 58],
    )


def verdict(number: int, draw: random.Random) -> Verdict:
    """A verdict of both orders, with probabilities."""
    share = draw.random()
    return settle(
        Verdict(
            case_id=f"case-{number}",
            judge="simulated",
            winners=(draw.choice(WINNERS), draw.choice(WINNERS)),
            probabilities=(share, 1 - share, 0.0),
        )
    )


def verdicts(n: int) -> Iterator[Verdict]:
    """Yields `n` verdicts, the same each time."""
    draw = random.Random(0)
    return (verdict(number, draw) for number in range(n))


def time_tables() -> None:
    """Times Eval-P's tables: all figures by group and scenario, and the baselines."""
    cases = [case(number) for number in range(1392)]
    judged = list(verdicts(1392))
    seconds = []
    for _ in range(3):
        cluster_weights.cache_clear()
        started = time.perf_counter()
        evaluate(cases, judged, judge="simulated", source="-")
        baseline_results(cases)
        seconds.append(time.perf_counter() - started)
    print(f"Eval-P's tables, 1,392 pairs: {sorted(seconds)[1]:.2f} s (median of 3)", flush=True)


def aggregate(folder: Path) -> None:
    """Reads a run's cases and verdicts and computes its figures, by group too."""
    started = time.perf_counter()
    run = RunFolder(folder)
    spec = make_spec("judge", load_card("embedded-small-base"))
    summary = summarise(run.outlined(), spec, run.n_cases(), "group")
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{summary.n_judged:,} verdicts aggregated: {seconds:.1f} s, peak {peak:,.0f} MB")


def main() -> None:
    """Prints both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verdicts", type=int, default=1_000_000)
    parser.add_argument("--aggregate", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.aggregate is not None:
        aggregate(arguments.aggregate)
        return
    time_tables()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_records(folder / "cases.jsonl", map(case, range(arguments.verdicts)))
        write_records(folder / "verdicts.jsonl", verdicts(arguments.verdicts))
        # In a process of its own, so that making the files is not part of its memory.
        subprocess.run([sys.executable, __file__, "--aggregate", name], check=True)


if __name__ == "__main__":
    main()
