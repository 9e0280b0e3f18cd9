"""The embedded judge's model, fetched and converted once, and pairs to hold other engines to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autoj.backends.base import Backend
from autoj.backends.embedded import EmbeddedBackend
from autoj.backends.embedded.model import convert
from autoj.backends.embedded.weights import fetch_weights
from autoj.datasets import open_cases
from autoj.errors import Unavailable
from autoj.jsonl import write_records
from autoj.judges import load_card
from autoj.runs import judge_run, make_spec, open_run
from autoj.runs.case_record import CaseRecord, read_case

N_SUMS = int(os.environ.get("AUTOJ_REAL_PAIRS", "20"))
"""How many pairs real weights judge on each engine; fewer are quicker."""


@pytest.fixture(scope="session")
def model_folder() -> Path:
    pytest.importorskip("openvino_genai")
    try:
        return convert(fetch_weights(load_card("embedded-small-base")))
    except Unavailable as error:
        pytest.skip(f"the embedded judge's weights are not to be had: {error}")


@pytest.fixture(scope="session")
def embedded(model_folder: Path) -> Iterator[EmbeddedBackend]:
    backend = EmbeddedBackend(load_card("embedded-small-base"), model_folder)
    yield backend
    backend.close()


@pytest.fixture(scope="session")
def sums_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs on small sums, of which the first response is right."""
    path = tmp_path_factory.mktemp("sums") / "sums.jsonl"
    rows = [
        {
            "id": f"sum-{number}",
            "query": f"What is {number} plus {number + 1}? Answer in one sentence.",
            "responses": [
                f"{number} plus {number + 1} is {2 * number + 1}.",
                "I would rather talk about the weather, which has been fine of late.",
            ],
            "label": "a",
        }
        for number in range(N_SUMS)
    ]
    write_records(path, rows)
    return path


def judged(
    path: Path, data: Path, engine: Backend, *, critique: bool = False, **settings: Any
) -> list[CaseRecord]:
    """What an engine makes of pairs by `pairwise-verdict`, in their order.

    Args:
        path: the run's folder.
        data: the pairs.
        engine: judges them, without its card's calibration: the page's own probabilities.
        critique: whether a critique is written for each verdict.
        settings: what else `make_spec` takes.
    """
    card = replace(engine.card, calibration={})
    spec = make_spec("judge", card, protocol="pairwise-verdict", critique=critique, **settings)
    with open_run(path, spec, open_cases(data)) as folder:
        judge_run(folder, spec, engine)
        records = [read_case(folder, spec, case.id) for case in folder.cases()]
    return [record for record in records if record is not None]


def probabilities(records: list[CaseRecord]) -> list[tuple[float, float, float]]:
    """Of "a", "b" and "tie", per pair; each pair must have some."""
    found = [record.verdict and record.verdict.probabilities for record in records]
    known = [triple for triple in found if triple is not None]
    assert len(known) == len(found)
    return known
