"""The embedded judge's weights on both engines that read them here: the same probabilities.

It runs where the weights are to be had; `AUTOJ_REAL_PAIRS` judges fewer pairs than 20.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
pytest.importorskip("transformers", reason="the extra `hf` is not installed: no transformers")
pytest.importorskip("gguf", reason="the extra `hf` is not installed: no gguf")

from autoj.backends.base import Backend
from autoj.backends.hf import HfBackend, load
from autoj.datasets import open_cases
from autoj.jsonl import write_records
from autoj.records import Verdict
from autoj.runs import judge_run, make_spec, open_run

pytestmark = pytest.mark.slow

N_PAIRS = int(os.environ.get("AUTOJ_REAL_PAIRS", "20"))
CLOSE = 0.05


@pytest.fixture(scope="module")
def dequantised(request: pytest.FixtureRequest) -> Iterator[HfBackend]:
    """The same file, unpacked to float32 by transformers."""
    card = request.getfixturevalue("embedded").card
    card = replace(card, backend="hf", options={**card.options, "precision": "float32"})
    backend = load(card, device="cpu")
    yield backend
    backend.close()


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    rows = [
        {
            "id": f"sum-{number}",
            "query": f"What is {number} plus {number + 1}? Answer in one sentence.",
            "responses": [
                f"{number} plus {number + 1} is {2 * number + 1}.",
                "I would rather talk about the weather, which has been fine of late.",
            ],
        }
        for number in range(N_PAIRS)
    ]
    write_records(path, rows)
    return path


def judged(folder: Path, pairs: Path, engine: Backend) -> list[Verdict]:
    spec = make_spec(
        "judge", replace(engine.card, calibration={}), protocol="pairwise-verdict", critique=False
    )
    with open_run(folder, spec, open_cases(pairs)) as run:
        judge_run(run, spec, engine)
        return list(run.verdicts())


def test_verdicts_of_the_same_weights_have_the_same_probabilities(
    tmp_path: Path, pairs: Path, dequantised: HfBackend, request: pytest.FixtureRequest
) -> None:
    ours = judged(tmp_path / "embedded", pairs, request.getfixturevalue("embedded"))
    theirs = judged(tmp_path / "hf", pairs, dequantised)
    assert len(ours) == len(theirs) == N_PAIRS
    for one, other in zip(ours, theirs, strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, abs=CLOSE)
    assert len({verdict.probabilities for verdict in ours}) == N_PAIRS, "they differ by pair"
