"""What is said of the processor."""

from __future__ import annotations

import logging
import platform

import numpy as np
import pytest

from autoj.backends.embedded.processor import tell_if_slow


@pytest.mark.parametrize(
    ("machine", "named", "said"),
    [
        ("x86_64", {"found": ["X86_V3"]}, 1),  # NumPy 2.4 and later
        ("x86_64", {"found": ["X86_V3", "X86_V4", "AVX512_ICL"]}, 0),
        ("AMD64", {"found": ["SSE42", "AVX2", "FMA3"]}, 1),  # before; so Windows names the machine
        ("AMD64", {"found": ["AVX2", "AVX512F", "AVX512CD"]}, 0),
        ("x86_64", {"baseline": ["X86_V2"]}, 1),  # an old processor: an empty list is left out
        ("x86_64", {"baseline": ["X86_V2", "X86_V3", "X86_V4"]}, 0),
        ("x86_64", None, 0),
        ("arm64", {"found": ["NEON_FP16"]}, 0),
    ],
)
def test_a_processor_without_avx_512_is_named_once(
    machine: str,
    named: dict[str, list[str]] | None,
    said: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    shown = {} if named is None else {"SIMD Extensions": named}
    monkeypatch.setattr(np, "show_config", lambda mode: shown)
    tell_if_slow.cache_clear()
    with caplog.at_level(logging.WARNING):
        tell_if_slow()
        tell_if_slow()
    tell_if_slow.cache_clear()
    assert [record.message.count("no AVX-512") for record in caplog.records] == [1] * said


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the names are those of x86")
def test_numpy_itself_names_what_it_found() -> None:
    assert set(np.show_config(mode="dicts")["SIMD Extensions"]) & {"baseline", "found"}
