"""`bench.ablation.measure`: variants of a judge on the same pairs, each beside the first."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.bench.ablation.measure import (
    ablation_sources,
    measure_ablation,
    published_ablations,
)
from autoj.bench.sources import JudgeSettings, Predictions, StoredRun
from autoj.datasets import open_cases
from autoj.errors import ConfigError
from autoj.jsonl import write_records

LABELS = [number % 2 for number in range(12)]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    rows = [
        {
            "query": f"Question {number}?",
            "responses": [f"One {number}.", f"Another {number}."],
            "label": "ab"[label],
            "scenario": "planning",
        }
        for number, label in enumerate(LABELS)
    ]
    write_records(tmp_path / "pairs.jsonl", rows)
    return tmp_path / "pairs.jsonl"


def predictions(folder: Path, name: str, n_wrong: int) -> Predictions:
    path = folder / f"{name}.jsonl"
    own = [1 - label if number < n_wrong else label for number, label in enumerate(LABELS)]
    write_records(path, [{"output": said} for said in own])
    swapped = folder / f"{name}-swapped.jsonl"
    write_records(swapped, [{"output": 1 - said} for said in own])
    return Predictions(path, swapped)


def test_each_variant_stands_beside_the_first_on_the_same_cases(
    tmp_path: Path, pairs: Path
) -> None:
    sources = [predictions(tmp_path, "whole", 0), predictions(tmp_path, "without", 6)]
    found = measure_ablation(open_cases(pairs), sources)
    whole, without = found.variants
    assert [each.result.judge for each in found.variants] == ["whole", "without"]
    assert whole.differences == ()
    agreement = next(each for each in without.differences if each.figure == "agreement")
    estimate = agreement.overall.estimate
    assert estimate.value == pytest.approx(-0.5)
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low < -0.5 < estimate.high < 0
    assert found.n_failed == 0
    told = found.as_json()
    assert set(told["differences"]) == {"without"}
    assert [each["judge"] for each in told["results"]] == ["whole", "without"]


def test_the_published_rows_are_those_of_the_papers_ablations() -> None:
    texts = {
        (row.model, row.base_model, name): printed.text
        for row in published_ablations()
        for name, printed in row.figures.items()
    }
    assert texts["Auto-J, decision only", None, "agreement"] == "55.0"
    assert texts["Auto-J", None, "agreement"] == "54.8"
    assert texts["ScalarRM", "LLaMA-2-Chat-7B", "best of 32"] == "8.42"
    assert texts["Auto-J", "Vicuna-7B-v1.5", "best of 32"] == "7.97"
    assert (texts["ScalarRM", None, "pearson"], texts["ScalarRM", None, "spearman"]) == (
        "0.39",
        "0.40",
    )


def test_a_judge_is_a_name_or_a_finished_run(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    one, other = ablation_sources(["embedded", str(tmp_path)])
    assert isinstance(one, JudgeSettings)
    assert other == StoredRun(tmp_path)


@pytest.mark.parametrize("names", [["embedded"], ["embedded", "embedded"]])
def test_fewer_than_two_judges_are_no_ablation(names: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"two judges|named twice"):
        ablation_sources(names)
