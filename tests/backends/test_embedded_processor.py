"""What is said of the processor."""

from __future__ import annotations

import logging
import platform

import numpy as np
import pytest

from autoj.backends.embedded.processor import tell_if_slow


@pytest.mark.parametrize(
    ("machine", "found", "said"),
    [
        ("x86_64", ["X86_V3"], 1),  # NumPy 2.4 and later
        ("x86_64", ["X86_V3", "X86_V4", "AVX512_ICL"], 0),
        ("AMD64", ["SSE42", "AVX2", "FMA3"], 1),  # before; this is what Windows calls it
        ("AMD64", ["AVX2", "AVX512F", "AVX512CD"], 0),
        ("arm64", ["NEON_FP16"], 0),
    ],
)
def test_a_processor_without_avx_512_is_named_once(
    machine: str,
    found: list[str],
    said: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(np, "show_config", lambda mode: {"SIMD Extensions": {"found": found}})
    tell_if_slow.cache_clear()
    with caplog.at_level(logging.WARNING):
        tell_if_slow()
        tell_if_slow()
    tell_if_slow.cache_clear()
    assert [record.message.count("no AVX-512") for record in caplog.records] == [1] * said


def test_numpy_lists_what_it_found() -> None:
    """Nothing is replaced here: a NumPy that no longer lists it would end every judging."""
    tell_if_slow.cache_clear()
    tell_if_slow()
