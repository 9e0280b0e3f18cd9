"""Whether a measured judge is better than the baseline ones: by cases, else by intervals."""

from __future__ import annotations

import pytest

from autoj.bench.eval_p.evaluate import TieBand, evaluate
from autoj.bench.leaderboard.against_baselines import is_above_zero
from autoj.bench.leaderboard.board import Measured
from autoj.bench.leaderboard.boards import board, find_results
from autoj.datasets import open_cases
from autoj.errors import DataError
from autoj.jsonl import write_records
from autoj.metrics.result import save_result
from autoj.records import Estimate, Verdict
from autoj.runs import judge_run, open_run

from ..scripted import CARD, Recorder
from .boards import (
    a_result,
    agreement,
    by_judge,
    cases_of,
    nowhere,
    place_eval_p,
    said,
    set_of,
)


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch, tmp_path):
    nowhere(monkeypatch, tmp_path)


@pytest.fixture
def eval_p_file(monkeypatch, tmp_path):
    return place_eval_p(monkeypatch, tmp_path)


def test_without_verdicts_intervals_are_compared(eval_p_file, tmp_path):
    details = set_of(eval_p_file)
    strong = a_result(judge="strong", estimates=(agreement(0.95, 0.9, 0.98),), details=details)
    weak = a_result(judge="weak", estimates=(agreement(0.7, 0.6, 0.8),), details=details)
    measured = [
        Measured(path=tmp_path / f"{result.judge}.json", result=result) for result in (strong, weak)
    ]
    found = board("eval-p", measured)
    beats = {(one.judge, one.baseline): one.beats for one in found.against_baselines}
    assert beats == {
        ("strong", "longest"): True,
        ("strong", "first"): True,
        ("strong", "random"): True,
        ("strong", "majority"): True,
        ("weak", "longest"): False,
        ("weak", "first"): True,
        ("weak", "random"): True,
        ("weak", "majority"): False,
    }
    assert all(one.difference is None for one in found.against_baselines)


def test_a_result_on_other_cases_is_compared_with_nothing_and_it_says_so(eval_p_file, tmp_path):
    # As many cases as Eval-P has, and yet others.
    for details in ({"set": "0123456789abcdef"}, {}):
        result = a_result(estimates=(agreement(0.95, 0.9, 0.98),), details=details)
        found = board("eval-p", [Measured(path=tmp_path / "x.json", result=result)])
        assert not found.against_baselines
        assert any("compared with no baseline" in line for line in found.messages)


def test_a_result_is_compared_by_its_own_run_alone(eval_p_file, tmp_path):
    """On other data by the verdicts beside it; never by the verdicts of another run."""
    cases = cases_of(eval_p_file)[:12]
    verdicts = [said(case, case.label, case.label) for case in cases]
    folder = tmp_path / "runs" / "sample"
    folder.mkdir(parents=True)
    write_records(folder / "cases.jsonl", cases)
    write_records(folder / "verdicts.jsonl", verdicts)
    (folder / "run.json").write_text("{}")
    own = evaluate(cases, verdicts, judge="own", source="run")
    other = evaluate(cases[:6], verdicts[:6], judge="other", source="predictions")
    save_result(folder / "eval-p.json", own)
    save_result(folder / "other.json", other)
    found = board("eval-p", find_results("eval-p", [folder / "other.json"], tmp_path / "runs"))
    assert {(one.judge, one.difference.n) for one in found.against_baselines} == {("own", 12)}
    assert any(line.startswith("other (") for line in found.messages)


def test_with_its_run_a_judge_is_compared_case_by_case(eval_p_file, tmp_path, pair_spec):
    """Right on all but two cases, so better than `longest` by a third of the cases, less two."""
    cases = cases_of(eval_p_file)
    data = open_cases(eval_p_file)
    folder = tmp_path / "runs" / "mine"
    with open_run(folder, pair_spec(critique=False), data) as run:
        judge_run(run, pair_spec(critique=False), Recorder())
        verdicts = [
            said(case, *((case.label,) * 2 if number > 1 else ("tie", "tie")))
            for number, case in enumerate(cases)
        ]
        run.write_verdicts(verdicts)
    result = evaluate(cases, verdicts, judge=CARD.name, source=f"run {folder}")
    save_result(folder / "eval-p.json", result)
    found = board("eval-p", find_results("eval-p", runs=tmp_path / "runs"))
    against_baselines = {one.baseline: one for one in found.against_baselines}
    assert set(against_baselines) == {"longest", "first", "random", "majority"}
    assert all(one.figure == "agreement" and one.beats for one in against_baselines.values())
    difference = against_baselines["longest"].difference
    assert difference is not None
    assert difference.value == pytest.approx((58 - 40) / 60)
    assert difference.n == 60
    assert by_judge(found)[CARD.name].kind == "pairwise"


@pytest.mark.parametrize(
    ("value", "low", "n_clusters", "expected"),
    [
        (0.1, 0.02, 9, True),
        (0.1, -0.02, 9, False),
        (-0.1, None, 9, False),
        (0.1, None, 9, False),  # the same on each case: how surely, nobody knows
        (1.0, None, 2, False),
        (0.1, None, 1, False),  # of one query nobody knows
        (None, None, 0, False),
    ],
)
def test_what_is_above_zero(value, low, n_clusters, expected):
    found = Estimate(
        name="x", value=value, low=low, high=None, n=n_clusters, n_clusters=n_clusters, reason="r"
    )
    assert is_above_zero(found) is expected


def test_a_torn_run_is_named(eval_p_file, tmp_path):
    folder = tmp_path / "runs" / "torn"
    folder.mkdir(parents=True)
    for name in ("run.json", "cases.jsonl", "verdicts.jsonl"):
        (folder / name).write_text("{}\n")
    save_result(folder / "eval-p.json", a_result(estimates=(agreement(0.9, 0.8, 1.0),)))
    with pytest.raises(DataError) as caught:
        board("eval-p", find_results("eval-p", runs=tmp_path / "runs"))
    assert caught.value.path == folder / "verdicts.jsonl"


def test_a_judge_of_single_responses_is_compared_with_its_tie_band(eval_p_file, tmp_path):
    """Its gap of 0.5 is a tie under the band of 1.0 that its result was made with."""
    cases = cases_of(eval_p_file)
    verdicts = [
        Verdict(case_id=case.id, judge="s", ratings=(1.0, 1.5 if number % 2 else 3.0))
        for number, case in enumerate(cases)
    ]
    folder = tmp_path / "runs" / "single"
    folder.mkdir(parents=True)
    write_records(folder / "cases.jsonl", cases)
    write_records(folder / "verdicts.jsonl", verdicts)
    (folder / "run.json").write_text("{}")
    result = evaluate(
        cases,
        verdicts,
        judge="s",
        source="run",
        tie_band=TieBand(width=1.0, chosen_on="validation"),
    )
    save_result(folder / "eval-p.json", result)
    found = board("eval-p", find_results("eval-p", runs=tmp_path / "runs"))
    row = by_judge(found)["s"]
    assert row.kind == "single"
    assert row.figures["agreement"].value is None
    own, longest = row.figures["averaged accuracy"].value, 40 / 60
    (against,) = [one for one in found.against_baselines if one.baseline == "longest"]
    assert against.figure == "averaged accuracy"
    assert against.difference.value == pytest.approx(own - longest)
    assert not against.beats
