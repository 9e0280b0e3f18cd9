r"""A run of a thousand million judgments, on paper: from shards that are judged and merged here.

    python -m benchmarks.scale
    python -m benchmarks.scale --cases 100000 --shards 8 --usd-per-million-tokens 0.2

Shards of made-up cases are judged by `scripted` in both orders, then merged. Bytes of each file,
time and memory per judgment are measured at two sizes; what grows with the size of a shard or of
the whole run is extrapolated in a straight line to 10^9 judgments. A judge's own time is not in it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.backends.scripted import load
from autoj.datasets import open_cases
from autoj.judges import load_card
from autoj.runs import make_spec, merge_runs
from autoj.tasks.judge import judge
from benchmarks.harness import answer, write_cases

TOTAL = 1_000_000_000
"""Judgments of the run that is planned."""

_ORDERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One size: judged in shards, and merged."""

    n_judgments: int
    judge_seconds: float
    """Of one process after the other, over all shards."""
    merge_seconds: float
    merge_mb: float
    """The most memory that the merging process held, in 10^6 bytes."""
    bytes_by_file: dict[str, int]
    """Of the merged run."""


def judge_shards(folder: Path, n_cases: int, n_shards: int) -> list[Path]:
    """Judges all shards of made-up cases in this process, one after the other."""
    data = folder / "pairs.jsonl"
    write_cases(data, n_cases)
    card = replace(load_card("scripted:benchmark"), model="benchmark")
    paths = []
    for number in range(1, n_shards + 1):
        spec = make_spec("judge", card, shard=f"{number}/{n_shards}")
        path = folder / f"{number}-of-{n_shards}"
        judge(open_cases(data), spec, path, backend=load(card, answer=answer))
        paths.append(path)
    return paths


def _merge(paths: list[Path], out: Path, sent: multiprocessing.SimpleQueue[float]) -> None:
    began = time.perf_counter()
    merge_runs(paths, out)
    sent.put(time.perf_counter() - began)
    sent.put(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6)


def measure(n_cases: int, n_shards: int) -> Measured:
    """Judges and merges one size."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        began = time.perf_counter()
        paths = judge_shards(folder, n_cases, n_shards)
        judge_seconds = time.perf_counter() - began
        out = folder / "whole"
        context = multiprocessing.get_context("spawn")
        sent = context.SimpleQueue()
        merging = context.Process(target=_merge, args=(paths, out, sent))
        merging.start()
        merging.join()
        return Measured(
            n_judgments=_ORDERS * n_cases,
            judge_seconds=judge_seconds,
            merge_seconds=sent.get(),
            merge_mb=sent.get(),
            bytes_by_file={path.name: path.stat().st_size for path in sorted(out.iterdir())},
        )


def main() -> None:
    """Measures two sizes and prints the plan."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, help="of the larger size")
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--group", type=int, default=10_000_000, help="judgments merged at once")
    parser.add_argument("--tokens", type=int, default=700, help="of a judgment, as you assume")
    parser.add_argument("--usd-per-million-tokens", type=float, default=0.2)
    asked = parser.parse_args()
    small, large = (measure(n, asked.shards) for n in (asked.cases // 4, asked.cases))
    further = large.n_judgments - small.n_judgments
    print(f"measured with {small.n_judgments:,} and {large.n_judgments:,} judgments")
    for name, size in large.bytes_by_file.items():
        each = (size - small.bytes_by_file[name]) / further
        if each > 1:
            print(
                f"  {name:16} {each:6.0f} bytes a judgment  {each * TOTAL / 1e12:6.2f} TB of 10^9"
            )
    judging = (large.judge_seconds - small.judge_seconds) / further
    merging = (large.merge_seconds - small.merge_seconds) / further
    memory = (large.merge_mb - small.merge_mb) * 1e6 / further
    hours = TOTAL / 3600
    print(f"judging  {judging * 1e6:6.0f} us a judgment: {judging * hours:.0f} CPU hours")
    print(f"merging  {merging * 1e6:6.0f} us a judgment: {merging * hours:.0f} hours all at once")
    print(f"         {memory:6.0f} bytes of memory a judgment: {memory * TOTAL / 1e9:,.0f} GB")
    minutes, most = merging * asked.group / 60, memory * asked.group / 1e6 + small.merge_mb
    print(f"in groups of {asked.group:,}: {minutes:.0f} minutes and {most:,.0f} MB each")
    tokens = TOTAL * asked.tokens
    usd = tokens / 1e6 * asked.usd_per_million_tokens
    print(f"at {asked.tokens} tokens a judgment: {tokens / 1e9:,.0f} x 10^9 tokens, ${usd:,.0f}")


if __name__ == "__main__":
    main()
