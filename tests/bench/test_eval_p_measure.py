"""`bench.eval_p.measure`: a judge measured on labelled pairs by one call that prints nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.bench.eval_p.measure import ValidationSet, measure_pairs
from autoj.bench.sources import JudgeSettings, Predictions, Scores, StoredRun, open_set
from autoj.datasets import open_cases
from autoj.errors import ConfigError, Unfinished
from autoj.jsonl import write_records
from autoj.records import JudgeCard, Request
from autoj.runs.budget import Budget

from ..scripted import CARD, Recorder
from ..watches import Notes


def longer(request: Request) -> tuple[float, ...]:
    """The longer response is better, whichever stands first."""
    first, second = request.messages[-1].content.split("[Response 1]")[1].split("[Response 2]")[:2]
    ahead = len(first.split("[")[0]) > len(second.split("[")[0])
    return (-0.1, -3.0, -5.0) if ahead else (-3.0, -0.1, -5.0)


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[Recorder]:
    loaded: list[Recorder] = []

    def load(card: JudgeCard) -> Recorder:
        loaded.append(Recorder(longer, card))
        return loaded[-1]

    monkeypatch.setattr("autoj.tasks.engine.load_backend", load)
    return loaded


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Twelve pairs whose longer response is the second; people like it in eight."""
    rows = [
        {
            "query": f"Question {number}?",
            "responses": ["Short.", f"A longer answer, number {number}."],
            "label": "a" if number % 3 == 0 else "b",
            "scenario": ("planning", "ranking")[number % 2],
        }
        for number in range(12)
    ]
    write_records(tmp_path / "pairs.jsonl", rows)
    return tmp_path / "pairs.jsonl"


def figures(result) -> dict[str, float | None]:  # type: ignore[no-untyped-def]
    return {estimate.name: estimate.value for estimate in result.estimates}


def test_a_judge_is_run_once_and_measured_without_a_word_on_the_terminal(
    pairs, engines, tmp_path, capsys
):
    notes = Notes()
    data = open_set(pairs, notes)
    source = JudgeSettings(card=CARD, protocol="pairwise-verdict")
    found = measure_pairs(data, source, out=tmp_path / "run", watch=notes)
    assert figures(found.result)["agreement"] == pytest.approx(8 / 12)
    assert figures(found.result)["consistency"] == 1.0
    assert found.folder == tmp_path / "run"
    assert found.in_sample is None
    assert [result.judge for result in found.baselines] == [
        "longest",
        "first",
        "random",
        "majority",
    ]
    assert found.risk_coverage is not None
    (last,) = found.risk_coverage.points  # All are equally sure.
    assert (last.coverage, last.accuracy.value) == (1.0, pytest.approx(8 / 12))
    assert found.risk_coverage.area.value == pytest.approx(4 / 12)
    assert found.as_json()["risk_coverage"]["area"]["n"] == 12
    assert notes.messages[0] == f"reading {pairs} as native"
    assert notes.progress_of[-1][1:] == (24, 24)
    again = measure_pairs(data, StoredRun(tmp_path / "run"))
    assert again.result.estimates == found.result.estimates
    assert len(engines) == 1
    assert capsys.readouterr() == ("", "")


def test_a_sample_is_of_a_judge_and_says_so(pairs, engines, tmp_path):
    source = JudgeSettings(card=CARD)
    found = measure_pairs(open_cases(pairs), source, sample=6, seed=1, out=tmp_path / "run")
    assert found.result.n_cases == 6
    assert "a sample of 6 of 12 cases, seed 1" in found.result.source
    write_records(tmp_path / "labels.jsonl", [{"output": 1}] * 12)
    with pytest.raises(ConfigError, match="predictions are of the whole set"):
        measure_pairs(open_cases(pairs), Predictions(tmp_path / "labels.jsonl"), sample=6)


def test_another_judge_is_subtracted_by_part(pairs, tmp_path):
    write_records(tmp_path / "b.jsonl", [{"output": 1}] * 12)
    write_records(tmp_path / "a.jsonl", [{"output": 0}] * 12)
    ours, theirs = Predictions(tmp_path / "b.jsonl"), Predictions(tmp_path / "a.jsonl")
    found = measure_pairs(open_cases(pairs), ours, against=theirs, by="scenario", name="Mine")
    assert found.result.judge == "Mine"
    assert found.risk_coverage is None
    assert "risk_coverage" not in found.as_json()
    (accuracy,) = [item for item in found.differences if item.figure == "accuracy"]
    assert accuracy.overall.estimate.value == pytest.approx(4 / 12)
    assert set(accuracy.parts) == {"planning", "ranking"}
    assert found.as_json()["differences"][0]["figure"] == "accuracy"


def test_scores_take_the_tie_band_of_a_validation_set(pairs, tmp_path):
    write_records(tmp_path / "scores.jsonl", [{"scores": [1.0, 1.3]}] * 12)
    scores = Scores(tmp_path / "scores.jsonl")
    found = measure_pairs(
        open_cases(pairs), scores, validation=ValidationSet(path=pairs, scores=scores.path)
    )
    assert "in-sample: 12 of its queries" in found.result.notes[0]
    assert found.in_sample is not None
    labels = Predictions(tmp_path / "labels.jsonl")
    write_records(labels.path, [{"output": 1}] * 12)
    with pytest.raises(ConfigError, match="this judge compares pairs"):
        measure_pairs(open_cases(pairs), labels, validation=ValidationSet(path=pairs))


def test_a_budget_that_leaves_some_unjudged_ends_it_and_keeps_the_rest(pairs, engines, tmp_path):
    source, out = JudgeSettings(card=CARD), tmp_path / "run"
    with pytest.raises(Unfinished, match="of 12 verdicts"):
        measure_pairs(open_cases(pairs), source, out=out, budget=Budget(max_requests=5))
    found = measure_pairs(open_cases(pairs), source, out=out)
    assert found.result.n_cases == 12
    assert len(engines[0].asked) + len(engines[1].asked) == 24
