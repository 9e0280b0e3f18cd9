"""Tests that what a step frees goes back to the system."""

import platform

import psutil
import pytest

from autoj.training.judge.heap import trim_heap

pytestmark = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc keeps freed memory and can be told not to"
)
_MB = 1 << 20


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
