"""Tests that what a step frees goes back to the system, and that kernels do not pile up."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from autoj.backends._native_memory import bound_kernel_caches, trim_heap

glibc_alone = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc keeps freed memory and can be told not to"
)
_MB = 1 << 20


@glibc_alone
def test_freed_memory_below_what_is_still_used_goes_back() -> None:
    resident = psutil.Process().memory_info
    freed, kept = [], []
    for _ in range(1500):
        # Small enough to be cut from the heap, and not to be mapped by itself.
        freed.append(bytearray(100_000))
        kept.append(bytearray(1_000))
    before = resident().rss
    del freed
    trim_heap()
    assert before - resident().rss > 100 * _MB
    assert len(kept) == 1500


HELD = """
from pathlib import Path
import torch
from autoj.backends._native_memory import bound_kernel_caches, trim_heap

def held():
    trim_heap()
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = (line for line in lines if "RssAnon" in line)
    return int(found.split()[1]) / 1024

bound_kernel_caches()
layers = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)
before = None
for length in range(20, 420):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        layers[1](layers[0](torch.ones(length, 64, requires_grad=True))).sum().backward()
    if length == 70:
        before = held()
print(held() - before)
"""


@glibc_alone
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="only Linux tells it")
def test_kernels_for_other_lengths_take_no_more_memory() -> None:
    told = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True, check=True)
    assert float(told.stdout) < 20


def test_a_limit_that_is_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LRU_CACHE_CAPACITY", "7")
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    bound_kernel_caches()
    assert os.environ["LRU_CACHE_CAPACITY"] == "7"
    assert os.environ.pop("ONEDNN_PRIMITIVE_CACHE_CAPACITY") == "64"
