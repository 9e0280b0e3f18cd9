"""The loss of a run on a Ray cluster against one process, with the same number of requests at once.

A mock server on loopback answers after a latency. One process asks it with `--at-once` requests;
then Ray's workers share as many. The server's clock counts from the first request to the last
answer, so that starting Ray and the workers is not in it; it is given beside it.

    python -m benchmarks.cluster
    python -m benchmarks.cluster --pairs 640 --latency 0.5 --shards 8
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.backends.openai_server import Answer, MockServer, by_hash, serving

from autoj.jsonl import count_lines, whole_lines, write_records

_CARD = """
title: A judge behind a mock server
backend: openai
model: mock
wrapper: none
protocols: [baseline-pairwise]
context_tokens: 32768
options:
  base_url: {url}
  concurrency: {at_once}
"""


class _Clock:
    """The times of a server's first request and of its last answer."""

    def __init__(self) -> None:
        self.n_asked = 0
        self.first = self.last = 0.0

    def decide(self, body: dict[str, Any], n_before: int) -> Answer:
        self.first = self.first or time.monotonic()
        self.n_asked += 1
        return by_hash(body, n_before)

    def sent(self, answer: Answer) -> None:
        self.last = time.monotonic()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One run."""

    n_asked: int
    seconds: float
    """From the first request to the last answer."""
    whole_seconds: float
    """Of the command, from its start to its end."""


def judge(folder: Path, server: MockServer, out: str, at_once: int, *more: str) -> Measured:
    """Judges the pairs of a folder by one command."""
    (folder / "served.yaml").write_text(_CARD.format(url=server.base_url, at_once=at_once))
    clock = _Clock()
    server.decide, server.on_sent = clock.decide, clock.sent
    command = ["judge", "pairs.jsonl", "--judge", "served.yaml", "--out", out, *more]
    environment = {**os.environ, "AUTOJ_CACHE": str(folder / "cache")}
    started = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "autoj", *command],
        cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    whole = time.monotonic() - started
    return Measured(n_asked=clock.n_asked, seconds=clock.last - clock.first, whole_seconds=whole)


def write_pairs(folder: Path, n_pairs: int) -> None:
    """Writes pairs, of which every eighth is ten times as long."""
    rows = [
        {
            "id": f"case-{number}",
            "query": f"Question {number}?",
            "responses": [
                f"{name} answer {number}. " * (600 if number % 8 == 0 else 60)
                for name in ("First", "Second")
            ],
        }
        for number in range(n_pairs)
    ]
    write_records(folder / "pairs.jsonl", rows)


def main() -> None:
    """Measures both and prints a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=320)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds before each answer")
    parser.add_argument("--at-once", type=int, default=16, help="requests of all workers together")
    parser.add_argument("--shards", type=int, default=4)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        serving(latency=given.latency, keep=False) as server,
    ):
        folder = Path(name)
        write_pairs(folder, given.pairs)
        one = judge(folder, server, "one", given.at_once)
        # Ray judges as many shards at a time as this machine has processors.
        share = given.at_once // min(given.shards, os.cpu_count() or 1)
        ray = ("--cluster", "ray", "--shards", str(given.shards))
        many = judge(folder, server, "many", share, *ray)
        verdicts = [sorted(whole_lines(folder / out / "verdicts.jsonl")) for out in ("one", "many")]
        n_answers = count_lines(folder / "many" / "ledger.jsonl")
    print("| | asked | s, first request to last answer | s, the whole command |")
    print("|---|---|---|---|")
    for what, found in (("one process", one), (f"{given.shards} shards on Ray", many)):
        print(f"| {what} | {found.n_asked:,} | {found.seconds:.1f} | {found.whole_seconds:.1f} |")
    print(f"lost: {100 * (1 - one.seconds / many.seconds):.1f} %")
    print(f"answers {n_answers:,}; verdicts equal: {verdicts[0] == verdicts[1]}")


if __name__ == "__main__":
    main()
