"""`kill -9` of a run over HTTP: only what was in flight is asked again, counted by the server."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("aiohttp", reason="the extra `openai` is not installed")

from autoj.jsonl import whole_lines, write_records

from ..backends.openai_server import Answer, MockServer, by_hash, digest_of, serving

CARD = """
title: A judge behind a mock server
backend: openai
model: mock
wrapper: none
protocols: [baseline-pairwise]
context_tokens: 32768
options:
  base_url: {url}
  concurrency: 16
"""
LATENCY = 0.03


class Counts:
    """What a server was asked, when it answered, and how old answers were that were lost."""

    def __init__(self) -> None:
        self.n_asked = 0
        self.ages: list[float] = []
        """Of answers that were asked for again: seconds from the answer to the kill."""
        self._asked_by: dict[int, bytes] = {}
        self._sent: dict[bytes, float] = {}
        self._age_at_kill: dict[bytes, float] = {}

    def decide(self, body: dict[str, Any], n_before: int) -> Answer:
        digest, answer = digest_of(body), by_hash(body, n_before)
        self.n_asked += 1
        if (age := self._age_at_kill.pop(digest, None)) is not None:
            self.ages.append(age)
        self._asked_by[id(answer)] = digest
        return answer

    def sent(self, answer: Answer) -> None:
        self._sent[self._asked_by.pop(id(answer))] = time.monotonic()

    def forget_sent(self) -> None:
        self._sent.clear()

    def killed(self, at: float) -> None:
        """Notes the age of each answer since the last kill."""
        self._age_at_kill |= {digest: at - sent for digest, sent in self._sent.items()}
        self._sent.clear()


def write_inputs(folder: Path, server: MockServer, n_cases: int) -> None:
    (folder / "served.yaml").write_text(CARD.format(url=server.base_url))
    rows = [
        {
            "id": f"case-{number}",
            "query": f"Question {number}?",
            "responses": [f"First answer {number}. " * 60, f"Second answer {number}. " * 60],
        }
        for number in range(n_cases)
    ]
    write_records(folder / "pairs.jsonl", rows)


def start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "autoj", "judge", "pairs.jsonl", "--judge", "served.yaml"]
    environment = {**os.environ, "AUTOJ_CACHE": str(folder / "cache")}
    return subprocess.Popen(
        [*command, "--out", "run"], cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def kill_often(folder: Path, n_kills: int, n_cases: int, seed: int) -> tuple[Counts, int]:
    """Kills a run again and again, then lets it end.

    Returns:
        The server's counts, and the number of kills that hit a run at work.
    """
    draw, counts, n_hit = random.Random(seed), Counts(), 0
    with serving(counts.decide, latency=LATENCY, keep=False) as server:
        server.on_sent = counts.sent
        write_inputs(folder, server, n_cases)
        for _ in range(n_kills):
            process, n_before = start(folder), counts.n_asked
            while counts.n_asked == n_before and process.poll() is None:
                time.sleep(0.002)
            time.sleep(draw.uniform(0.0, 0.25))
            process.send_signal(signal.SIGKILL)
            counts.killed(time.monotonic())
            n_hit += process.wait() == -signal.SIGKILL
            process.stderr.close()
            # Answers to a process that is gone are no answers.
            time.sleep(3 * LATENCY)
            counts.forget_sent()
        process = start(folder)
        _, said = process.communicate()
        assert process.returncode == 0, said.decode()
    keys = [line[8:72] for line in whole_lines(folder / "run" / "ledger.jsonl")]
    assert len(keys) == len(set(keys)) == 2 * n_cases
    assert len(list(whole_lines(folder / "run" / "verdicts.jsonl"))) == n_cases
    return counts, n_hit


def test_a_killed_run_asks_again_what_was_in_flight_alone(tmp_path):
    counts, n_hit = kill_often(tmp_path, n_kills=1, n_cases=60, seed=0)
    assert n_hit == 1
    # Twice as many as are in flight at once are handed to the engine.
    assert len(counts.ages) <= 32
    assert counts.n_asked <= 2 * 60 + 32


@pytest.mark.slow
def test_twenty_kills_ask_again_what_was_in_flight_alone(tmp_path):
    counts, n_hit = kill_often(tmp_path, n_kills=20, n_cases=1500, seed=1)
    assert n_hit >= 15
    # 50 ms where the machine has nothing else to do; a test must not depend on that.
    assert [age for age in counts.ages if age > 1.0] == []
