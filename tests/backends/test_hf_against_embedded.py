"""The embedded judge's weights on both engines that read them here: the same probabilities.

It runs where the weights are to be had; `AUTOJ_REAL_PAIRS` judges fewer pairs than 20.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
pytest.importorskip("transformers", reason="the extra `hf` is not installed: no transformers")
pytest.importorskip("gguf", reason="the extra `hf` is not installed: no gguf")

from autoj.backends.hf import HfBackend, load

from ..embedded import N_SUMS, judged, probabilities

pytestmark = pytest.mark.slow

CLOSE = 0.05


@pytest.fixture(scope="module")
def dequantised(request: pytest.FixtureRequest) -> Iterator[HfBackend]:
    """The same file, unpacked to float32 by transformers."""
    card = request.getfixturevalue("embedded").card
    card = replace(card, backend="hf", options={**card.options, "precision": "float32"})
    backend = load(card, device="cpu")
    yield backend
    backend.close()


def test_verdicts_of_the_same_weights_have_the_same_probabilities(
    tmp_path: Path, sums_file: Path, dequantised: HfBackend, request: pytest.FixtureRequest
) -> None:
    embedded = request.getfixturevalue("embedded")
    ours = probabilities(judged(tmp_path / "embedded", sums_file, embedded))
    theirs = probabilities(judged(tmp_path / "hf", sums_file, dequantised))
    assert len(ours) == len(theirs) == N_SUMS
    for one, other in zip(ours, theirs, strict=True):
        assert one == pytest.approx(other, abs=CLOSE)
    assert len(set(ours)) == N_SUMS, "they differ by pair"
