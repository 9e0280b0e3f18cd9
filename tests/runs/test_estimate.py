"""The size of a run in advance: exact where it can be counted, and never a number from nowhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.datasets.base import Cases
from autoj.jsonl import write_records
from autoj.records import JudgeCard
from autoj.runs import RunSpec, make_spec
from autoj.runs.estimate import Range, RunEstimate, answered, estimate_run
from autoj.runs.intake import taken_cases
from autoj.runs.reuse import Reuse
from autoj.tasks.judge import judge

from ..scripted import CARD, Recorder

PRICED = replace(CARD, usd_per_million_prompt_tokens=1e6, usd_per_million_completion_tokens=2e6)
N_DISTINCT = 13
"""Of eight pairs in both orders: two share their texts, and one has two equal responses."""


def spec_of(card: JudgeCard = PRICED, **settings: object) -> RunSpec:
    settings.setdefault("protocol", "pairwise")
    return make_spec("judge", card, **settings)  # type: ignore[arg-type]


def estimate(
    cases: Cases, spec: RunSpec, folder: Path | None = None, reuse: Reuse | None = None
) -> RunEstimate:
    taken, _ = taken_cases(cases, spec, [])
    return estimate_run(taken, spec, Recorder(card=spec.judge), folder=folder, reuse=reuse)


def test_a_run_that_is_not_begun(cases: Cases) -> None:
    found = estimate(cases, spec_of(max_tokens=100))
    assert (found.n_cases, found.n_requests, found.n_left) == (8, N_DISTINCT, N_DISTINCT)
    assert found.is_exact
    assert found.completion_tokens == Range(least=0, about=None, most=N_DISTINCT * 100)
    assert found.usd is not None
    assert found.usd.least == pytest.approx(found.prompt_tokens)
    assert found.usd.about is None
    assert found.usd.most == pytest.approx(found.prompt_tokens + 2 * N_DISTINCT * 100)
    assert found.seconds is None


def test_the_estimate_is_what_the_run_costs(tmp_path: Path, cases: Cases) -> None:
    judge(cases, spec_of(limit=2), tmp_path / "r", backend=Recorder(card=PRICED))
    found = estimate(cases, spec_of(), tmp_path / "r")
    assert (found.n_answered, found.n_left) == (4, N_DISTINCT - 4)
    run = judge(cases, spec_of(), tmp_path / "r", backend=Recorder(card=PRICED))
    assert run.counts.n_answered == found.n_left
    assert run.cost is not None
    assert found.usd is not None
    assert found.usd.about is not None
    # A rendered prompt has the words of its chat format, too.
    assert found.usd.about == pytest.approx(run.cost.session_usd, rel=0.1)
    assert found.usd.least < run.cost.session_usd < found.usd.most
    assert estimate(cases, spec_of(), tmp_path / "r").n_left == 0


def test_critiques_after_verdicts_are_requests_too(tmp_path: Path, cases: Cases) -> None:
    spec = spec_of(protocol="pairwise-verdict", critique=True)
    found = estimate(cases, spec)
    assert found.n_requests == N_DISTINCT + 8
    judge(cases, spec, tmp_path / "r", backend=Recorder(card=PRICED))
    assert estimate(cases, spec, tmp_path / "r").n_left == 0


def test_choices_take_no_written_tokens_on_this_machine(cases: Cases) -> None:
    found = estimate(cases, spec_of(protocol="pairwise-verdict"))
    assert found.completion_tokens == Range(least=0, about=0, most=0)


def test_no_prices_are_no_dollars(cases: Cases) -> None:
    assert estimate(cases, spec_of(CARD)).usd is None


def test_what_is_too_long_is_counted_and_not_priced(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    write_records(path, [{"query": "Why?", "responses": ["word " * n, "no"]} for n in (9, 9000)])
    found = estimate(open_cases(path), spec_of())
    assert (found.n_too_long, found.n_left) == (2, 2)


def test_a_large_data_set_is_projected(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("autoj.runs.estimate._MOST_PLANNED", 50)
    path = tmp_path / "large.jsonl"
    write_records(
        path, ({"query": f"Question {i}?", "responses": ["a", "b " * (i % 40)]} for i in range(400))
    )
    projected = estimate(open_cases(path), spec_of())
    monkeypatch.setattr("autoj.runs.estimate._MOST_PLANNED", 1000)
    exact = estimate(open_cases(path), spec_of())
    assert (exact.is_exact, projected.is_exact) == (True, False)
    assert projected.n_cases == 400
    assert projected.n_left == exact.n_left == 800
    assert projected.prompt_tokens == pytest.approx(exact.prompt_tokens, rel=0.1)


def test_answers_of_unknown_questions_are_taken_off_by_their_number(cases: Cases) -> None:
    found = estimate(cases, spec_of(max_tokens=100))
    half = answered(replace(found, n_left=10), 5)
    assert (half.n_answered, half.n_left) == (5, 5)
    assert half.completion_tokens.most == found.completion_tokens.most / 2
    assert half.usd is not None
    assert found.usd is not None
    assert half.usd.least == found.usd.least / 2
    assert answered(found, 99).n_left == 0
