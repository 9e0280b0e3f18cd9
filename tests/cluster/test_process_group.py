"""A process that is killed takes what it has started with it."""

import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups")

WORKER = """
import subprocess, sys, time
from autoj.cluster.process_group import end_group_with_me

watches = end_group_with_me()
assert watches is not None and watches is end_group_with_me()
child = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
time.sleep(600)
"""


def lives(pid: int) -> bool:
    """False for a process that is gone, or that only waits to be collected."""
    seen = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return seen.stdout.strip()[:1] not in {"", "Z"}


def test_a_killed_worker_takes_its_children_with_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WORKER], stdout=subprocess.PIPE, process_group=0
    ) as worker:
        assert worker.stdout is not None
        child = int(worker.stdout.readline())
        assert lives(child)
        worker.send_signal(signal.SIGKILL)
    until = time.monotonic() + 60
    while lives(child):
        assert time.monotonic() < until, "the child lives on"
        time.sleep(0.05)


def test_a_process_in_anothers_group_ends_nobody() -> None:
    asked = "from autoj.cluster.process_group import end_group_with_me as e; print(e())"
    said = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    ).stdout
    assert said == "None\n"
