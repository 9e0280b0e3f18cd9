"""A run on a Ray cluster of this machine: as one process judges it, also when workers die."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("psutil", reason="the extra `train` is not installed")

import psutil

from autoj.cluster.dealing import deal, part_sizes
from autoj.datasets import open_cases
from autoj.jsonl import whole_lines
from autoj.judges import load_card
from autoj.runs import make_spec
from autoj.runs.shards import Dealer

from ..backends.openai_server import Answer, serving
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


def test_a_killed_worker_is_followed_by_one_that_fetches_its_shard(tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="the extra `stores` is not installed")
    counts = Counts()
    own = {**environment(tmp_path), "AUTOJ_SYNC_SECONDS": "1"}
    with serving(counts.decide, latency=0.1, keep=False) as server:
        server.on_sent = counts.sent
        write_inputs(tmp_path, server, N_CASES)
        with subprocess.Popen(
            command("--cluster", "ray", "--shards", "4", "--out", f"file://{tmp_path}/bucket/many"),
            cwd=tmp_path, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            kill_a_worker_at_work(process, counts)
            _, said = process.communicate()
        assert process.returncode == 0, said.decode()
    assert {path.name for path in (tmp_path / "bucket").iterdir()} == {"many-shards"}
    (merged,) = (path.parent for path in (tmp_path / "runs").glob("many-*/verdicts.jsonl"))
    keys = [line[8:72] for line in whole_lines(merged / "ledger.jsonl")]
    assert len(keys) == len(set(keys)) == 2 * N_CASES
    assert len(lines_of(merged / "verdicts.jsonl")) == N_CASES


DRIVER = """
import ray
from pathlib import Path
import autoj.cluster.ray as driver
from autoj.datasets import open_cases
from autoj.judges import load_card
from autoj.runs import make_spec

ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
driver._LEAST_LEFT_SECONDS, driver._STARTS_LEFT = 2.0, 0
spec = make_spec("judge", load_card("served.yaml"))
driver.judge_on_ray(open_cases(Path("pairs.jsonl")), spec, Path("many"), n_shards=2)
"""


def slow_half(folder: Path) -> set[str]:
    """The queries of one of two shards."""
    cases, spec = (
        open_cases(folder / "pairs.jsonl"),
        make_spec("judge", load_card(str(folder / "served.yaml"))),
    )
    sizes = part_sizes(cases, spec, 2)
    shard = deal(range(1, sizes.of + 1), sizes, 2)[0]
    return {case.query for case in Dealer(shard).deal(case for _, case in cases.readable())}


def test_a_straggler_gives_up_part_of_its_rest(tmp_path: Path) -> None:
    counts = Counts()
    with serving(counts.decide, keep=False) as server:
        server.on_sent = counts.sent
        write_inputs(tmp_path, server, N_CASES)
        slow = slow_half(tmp_path)

        def decide(body: dict[str, Any], n_before: int) -> Answer:
            text = body["messages"][-1]["content"]
            server.latency = 1.0 if any(f"{query}\n" in text for query in slow) else 0.0
            return counts.decide(body, n_before)

        server.decide = decide
        done = subprocess.run(
            [sys.executable, "-c", DRIVER], cwd=tmp_path, env=environment(tmp_path),
            capture_output=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
        n_asked = counts.n_asked
        subprocess.run(
            command("--out", "one"), cwd=tmp_path, env=environment(tmp_path),
            check=True, capture_output=True,
        )  # fmt: skip
    folders = {path.parent.name for path in (tmp_path / "many-shards").glob("*/run.json")}
    assert {"1-of-2", "2-of-2", "1-of-2-1", "1-of-2-2"} <= folders
    # Twice as many as are in flight at once are handed to the engine, at each split.
    n_splits = (len(folders) - 2) // 2
    assert 2 * N_CASES <= n_asked <= 2 * N_CASES + 32 * n_splits
    assert lines_of(tmp_path / "many" / "verdicts.jsonl") == lines_of(
        tmp_path / "one" / "verdicts.jsonl"
    )


PARENTS = """
import os, subprocess, sys, time
from pathlib import Path
from autoj.cluster.ray import judge_on_ray
from autoj.datasets.base import Cases, ReadRow, cases_of
from autoj.judges import load_card
from autoj.records import Case, Response
from autoj.runs import make_spec

driver = os.getpid()
responses = (Response(text="one"), Response(text="two"))
kept = tuple(Case(id=str(n), query=str(n), responses=responses, cluster="") for n in range(4))

def read():
    # A worker starts a process of its own, as engines do, and goes on for ever.
    if os.getpid() != driver:
        child = subprocess.Popen(["sleep", "600"])
        Path(f"child-{child.pid}").touch()
        time.sleep(600)
    return (ReadRow(line, case) for line, case in enumerate(kept, start=1))

cases = Cases(format="x", paths=(), read=read, name="x")
judge_on_ray(cases, make_spec("judge", load_card("scripted:x")), Path("many"), n_shards=2)
"""


def children_in(folder: Path) -> dict[int, int]:
    """The processes that workers have started and that live, each with its parent."""
    found: dict[int, int] = {}
    for path in folder.glob("child-*"):
        try:
            child = psutil.Process(int(path.name.removeprefix("child-")))
            if child.status() != psutil.STATUS_ZOMBIE:
                found[child.pid] = child.ppid()
        except psutil.NoSuchProcess:
            continue
    return found


def kill_raylet(driver: int) -> None:
    """Kills the process that starts the workers of a driver, and that ends what they leave."""
    started = psutil.Process(driver).children(recursive=True)
    (own,) = (process for process in started if name_of(process) == "raylet")
    own.kill()


def name_of(process: psutil.Process) -> str | None:
    """A process's name; None where it has ended, as a worker may that was killed just now."""
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return None


def wait_for(what: Callable[[], bool], seconds: float = 300) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


def test_what_a_worker_has_started_dies_with_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENTS], cwd=tmp_path, env=environment(tmp_path),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            wait_for(lambda: bool(children_in(tmp_path)))
            child, parent = next(iter(children_in(tmp_path).items()))
            os.kill(parent, signal.SIGKILL)
            wait_for(lambda: child not in children_in(tmp_path))
            # All at once, as where memory runs out: Ray is left no time to end anything.
            wait_for(lambda: bool(children_in(tmp_path)))
            for parent in children_in(tmp_path).values():
                os.kill(parent, signal.SIGKILL)
            kill_raylet(process.pid)
        finally:
            process.kill()
    wait_for(lambda: not children_in(tmp_path))
