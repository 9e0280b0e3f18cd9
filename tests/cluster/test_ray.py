"""A run on a Ray cluster of this machine: as one process judges it, also when workers die."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("psutil", reason="the extra `train` is not installed")

import psutil

from autoj.jsonl import whole_lines

from ..backends.openai_server import serving
from ..runs.test_kills_over_http import Counts, write_inputs

# Importing Ray would put a psutil of its own before ours.
RAY = importlib.util.find_spec("ray")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(RAY is None, reason="the extra `ray` is not installed"),
]

N_CASES = 120
WORKER = "_judge_in_worker"


def command(*more: str) -> list[str]:
    return [sys.executable, "-m", "autoj", "judge", "pairs.jsonl", "--judge", "served.yaml", *more]


def environment(folder: Path) -> dict[str, str]:
    own = {"AUTOJ_CACHE": str(folder / "cache"), "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    return {**os.environ, **own}


def is_worker(process: psutil.Process) -> bool:
    try:
        return WORKER in " ".join(process.cmdline())
    except psutil.Error:
        return False


def workers_of(driver: int) -> list[psutil.Process]:
    """The processes of Ray that judge a shard now, begun by a driver or its children."""
    return [child for child in psutil.Process(driver).children(recursive=True) if is_worker(child)]


def kill_a_worker_at_work(driver: subprocess.Popen[bytes], counts: Counts) -> None:
    n_before = counts.n_asked
    while driver.poll() is None:
        workers = workers_of(driver.pid)
        if workers and counts.n_asked > n_before + 8:
            os.kill(workers[0].pid, signal.SIGKILL)
            return
        time.sleep(0.01)
    raise AssertionError("the run ended before a worker could be killed")


def lines_of(path: Path) -> list[bytes]:
    return sorted(whole_lines(path))


def test_two_workers_are_killed_and_nothing_is_lost(tmp_path: Path) -> None:
    counts = Counts()
    with serving(counts.decide, latency=0.1, keep=False) as server:
        server.on_sent = counts.sent
        write_inputs(tmp_path, server, N_CASES)
        with subprocess.Popen(
            command("--cluster", "ray", "--shards", "4", "--out", "many"),
            cwd=tmp_path, env=environment(tmp_path),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            kill_a_worker_at_work(process, counts)
            kill_a_worker_at_work(process, counts)
            _, said = process.communicate()
        assert process.returncode == 0, said.decode()
        subprocess.run(
            command("--out", "one"), cwd=tmp_path, env=environment(tmp_path),
            check=True, capture_output=True,
        )  # fmt: skip
    keys = [line[8:72] for line in whole_lines(tmp_path / "many" / "ledger.jsonl")]
    assert len(keys) == len(set(keys)) == 2 * N_CASES
    assert lines_of(tmp_path / "many" / "verdicts.jsonl") == lines_of(
        tmp_path / "one" / "verdicts.jsonl"
    )
