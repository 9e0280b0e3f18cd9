"""Pairs by the ratings that each response gets alone: what is asked, resumed, and calibrated."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.calibration import outcome_probabilities
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.jsonl import read_records, whole_lines
from autoj.records import Asked, Calibration, Case, JudgeCard, Request, Response, Verdict
from autoj.runs import (
    RunFolder,
    RunSpec,
    is_finished,
    judge_case,
    judge_run,
    make_spec,
    open_run,
    read_case,
    resolve_run,
)
from autoj.runs.plan import plan_case, plan_follow

from ..scripted import CARD, Killed, Recorder
from ..watches import Notes

BY_RATING = "pairwise-by-rating"
CASE = Case(
    id="c",
    query="Why?",
    responses=(Response(text="Because."), Response(text="No reason.")),
    cluster="why",
)
FITTED = Calibration(temperature=0.4, tie=1.2, fitted_on="mine.jsonl")
N_DISTINCT = 13  # 8 pairs of 2 responses, less 2 of the copied pair and 1 of the equal ones


def spec_of(card: JudgeCard = CARD, **settings: object) -> RunSpec:
    return make_spec("judge", card, protocol=BY_RATING, **settings)  # type: ignore[arg-type]


def calibrated(fitted: Calibration = FITTED, protocol: str = BY_RATING) -> JudgeCard:
    return replace(CARD, calibration={protocol: fitted})


def finish(path: Path, spec: RunSpec, cases: Cases, backend: Recorder) -> list[Verdict]:
    with open_run(path, spec, cases) as folder:
        judge_run(folder, spec, backend)
        return list(folder.verdicts())


def by_length(request: Request) -> str | tuple[float, ...]:
    """Rates a response by the last digit of its page's length, for sure; writes any critique."""
    if request.choices is None:
        return " tone: Colder."
    rating = len(request.messages[0].content) % 10
    return tuple(-40.0 * (place != rating) for place in range(10))


def test_each_response_is_asked_alone_as_autoj_rate_asks_it() -> None:
    planned = plan_case(CASE, spec_of(), Recorder())
    assert [item.asked.shown for item in planned] == [(0,), (1,)]
    rated = plan_case(CASE, make_spec("rate", CARD, protocol="single-verdict"), Recorder())
    assert [item.asked.key for item in planned] == [item.asked.key for item in rated]
    assert [item.asked.protocol for item in planned] == [BY_RATING] * 2


def test_the_exchanged_pair_asks_nothing_new_and_comes_out_exchanged() -> None:
    exchanged = replace(CASE, responses=CASE.responses[::-1])
    keys = {item.asked.key for item in plan_case(CASE, spec_of(), Recorder())}
    assert keys == {item.asked.key for item in plan_case(exchanged, spec_of(), Recorder())}
    spec = spec_of(calibrated())
    one = judge_case(CASE, spec, Recorder())
    other = judge_case(exchanged, spec, Recorder())
    assert other.ratings == one.ratings[::-1]
    assert one.probabilities is not None
    a, b, tie = one.probabilities
    assert other.probabilities == (b, a, tie)


def test_equal_responses_are_asked_once_and_tie() -> None:
    backend = Recorder()
    same = replace(CASE, responses=(Response(text="Yes."), Response(text="Yes.")))
    assert judge_case(same, spec_of(), backend).winner == "tie"
    assert len(backend.asked) == 1


def test_the_critique_is_the_pairs_and_written_for_the_verdict() -> None:
    spec = spec_of(critique=True)
    known = Verdict(case_id="c", judge="script", winner="b", rule="ratings", ratings=(3.0, 7.0))
    (planned,) = plan_follow(CASE, known, spec, Recorder())
    assert planned.asked.shown == (0, 1)
    assert planned.request is not None
    assert "So, the final decision is Response 2." in planned.request.messages[0].content
    verdict = judge_case(CASE, spec, Recorder(by_length))
    (critique,) = verdict.critiques
    assert critique is not None
    assert critique.endswith({"a": "Response 1.", "b": "Response 2."}[verdict.winner or ""])
    unknown = Verdict(case_id="c", judge="script", rule="incomplete", ratings=(None, 7.0))
    assert plan_follow(CASE, unknown, spec, Recorder()) == []


@pytest.mark.parametrize("settings", [{"orders": "one"}, {"on_conflict": "tie"}])
def test_settings_of_orders_make_no_sense_and_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="rates each response alone, so there are no two orders"):
        spec_of(**settings)
    assert spec_of().has_orders is False
    assert make_spec("judge", CARD).has_orders
    assert not make_spec("rate", CARD).has_orders


def test_a_long_response_costs_the_other_nothing() -> None:
    card = replace(CARD, context_tokens=400)
    words = " ".join(f"y{number}" for number in range(100))
    long = " ".join(f"x{number}" for number in range(900))
    pair = replace(CASE, responses=(Response(text=long), Response(text=words)))
    backend = Recorder(card=card)
    verdict = judge_case(pair, spec_of(card, on_overflow="truncate"), backend)
    assert verdict.n_truncated == 1
    assert words in backend.asked[1].messages[0].content
    assert None not in verdict.ratings
    failed = judge_case(pair, spec_of(card), Recorder(card=card))
    assert (failed.winner, failed.rule, failed.n_failed) == (None, "incomplete", 1)
    assert failed.ratings[0] is None
    assert failed.ratings[1] is not None


def test_a_run_is_resolved_and_shown_without_orders(tmp_path: Path, cases: Cases) -> None:
    backend = Recorder()
    path = tmp_path / "run"
    verdicts = finish(path, spec_of(), cases, backend)
    assert len(backend.asked) == N_DISTINCT
    assert {verdict.rule for verdict in verdicts} == {"ratings"}
    assert all(verdict.winners == () and verdict.consistent is None for verdict in verdicts)
    folder = RunFolder.existing(path)
    assert [verdict for _, verdict in resolve_run(folder, folder.spec())] == verdicts
    record = read_case(folder, folder.spec(), "case-2")
    assert record is not None
    assert [asked.shown for asked, _ in record.judgments] == [(0,), (1,)]
    assert record.verdict in verdicts


def test_a_run_killed_after_any_answer_ends_as_one_that_was_not(
    tmp_path: Path, cases: Cases
) -> None:
    spec = spec_of(calibrated(), critique=True)
    whole = tmp_path / "whole"
    verdicts = finish(whole, spec, cases, Recorder(by_length))
    n_answers = len(list(whole_lines(whole / "ledger.jsonl")))
    assert n_answers > N_DISTINCT
    for k in range(n_answers):
        path = tmp_path / f"killed-{k}"
        with pytest.raises(Killed):
            finish(path, spec, cases, Recorder(by_length, dies_after=k))
        second = Recorder(by_length)
        assert finish(path, spec, cases, second) == verdicts
        assert len(second.asked) == n_answers - k
        assert sorted(whole_lines(path / "ledger.jsonl")) == sorted(
            whole_lines(whole / "ledger.jsonl")
        )


def test_progress_counts_what_is_asked(tmp_path: Path, cases: Cases) -> None:
    watch = Notes()
    spec = spec_of(critique=True)
    with open_run(tmp_path / "run", spec, cases) as folder:
        judge_run(folder, spec, Recorder(by_length), watch=watch)
    assert ("judging", 16, 16) in watch.progress_of
    assert ("writing critiques", 8, 8) in watch.progress_of


@pytest.fixture
def any_spec() -> Callable[..., RunSpec]:
    def make(card: JudgeCard, *, both: bool) -> RunSpec:
        protocol = "pairwise-verdict" if both else BY_RATING
        return make_spec("judge", card, protocol=protocol)

    return make


@pytest.mark.parametrize("both", [True, False])
def test_a_changed_calibration_makes_the_verdicts_again_and_asks_nothing(
    tmp_path: Path,
    cases: Cases,
    any_spec: Callable[..., RunSpec],
    caplog: pytest.LogCaptureFixture,
    both: bool,
) -> None:
    path = tmp_path / "run"
    raw_spec = any_spec(CARD, both=both)
    raw = finish(path, raw_spec, cases, Recorder())
    card = calibrated(protocol=raw_spec.protocol)
    again = Recorder()
    with caplog.at_level(logging.WARNING):
        fitted = finish(path, any_spec(card, both=both), cases, again)
    assert again.asked == []
    assert "another calibration" in caplog.text
    assert fitted != raw
    assert [verdict.winners for verdict in fitted] == [verdict.winners for verdict in raw]
    # What is shown later, from the folder alone, is the same.
    folder = RunFolder.existing(path)
    assert folder.spec().calibration == FITTED
    assert [verdict for _, verdict in resolve_run(folder, folder.spec())] == fitted
    caplog.clear()
    assert finish(path, any_spec(card, both=both), cases, Recorder()) == fitted
    assert caplog.text == ""
    assert finish(path, raw_spec, cases, Recorder()) == raw


def test_a_changed_calibration_has_critiques_for_the_winners_that_it_makes(
    tmp_path: Path, cases: Cases
) -> None:
    path = tmp_path / "run"
    narrow, wide = (
        spec_of(calibrated(Calibration(temperature=0.4, tie=tie)), critique=True)
        for tie in (0.0, 60.0)
    )
    finish(path, narrow, cases, Recorder(by_length))
    n_narrow = len(list(whole_lines(path / "ledger.jsonl")))
    # Between the two commands nothing is finished, and what is shown has no stale critique.
    with open_run(path, wide, cases) as folder:
        assert not is_finished(folder, wide)
        assert all(not any(verdict.critiques) for _, verdict in resolve_run(folder, folder.spec()))
    second = Recorder(by_length)
    verdicts = finish(path, wide, cases, second)
    assert {verdict.winner for verdict in verdicts} == {"tie"}
    assert all(
        critique is not None and critique.endswith("the final decision is Tie.")
        for verdict in verdicts
        for critique in verdict.critiques
    )
    assert 0 < len(second.asked) == len(list(whole_lines(path / "ledger.jsonl"))) - n_narrow
    assert len(list(read_records(path / "follow.jsonl", Asked))) == 8
    back = Recorder(by_length)
    finish(path, narrow, cases, back)
    assert back.asked == []


def test_a_run_from_before_calibrations_can_go_on(tmp_path: Path, cases: Cases) -> None:
    path, spec = tmp_path / "run", spec_of()
    verdicts = finish(path, spec, cases, Recorder())
    settings = json.loads((path / "run.json").read_text())
    for name in ("calibration", "folder", "adapter_revision"):
        del settings["spec"]["judge"][name]
    del settings["sha256"]
    (path / "run.json").write_text(json.dumps(settings))
    again = Recorder()
    assert finish(path, spec, cases, again) == verdicts
    assert again.asked == []
    assert RunFolder.existing(path).spec().calibration is None


def test_averaged_probabilities_are_calibrated_by_the_run(tmp_path: Path, cases: Cases) -> None:
    spec = make_spec("judge", calibrated(protocol="pairwise-verdict"))
    raw = finish(tmp_path / "raw", make_spec("judge", CARD), cases, Recorder())
    fitted = finish(tmp_path / "fitted", spec, cases, Recorder())
    assert {verdict.rule for verdict in fitted} == {"calibrated"}
    for one, other in zip(raw, fitted, strict=True):
        assert (one.winners, one.consistent) == (other.winners, other.consistent)
        assert one.probabilities is not None
        assert other.probabilities is not None
        a, b, _ = one.probabilities
        odds = other.probabilities[0] - other.probabilities[1]
        assert (odds > 0) == (a > b)
        assert other.probabilities[2] <= outcome_probabilities(0.0, FITTED)[2]


@pytest.mark.parametrize("better", [0, 1])
def test_the_winner_stands_second_where_its_critique_is_written(better: int) -> None:
    good = CASE.responses[better].text
    pages = []

    def answer(request: Request) -> str | tuple[float, ...]:
        if request.choices is None:
            pages.append(request)
            return " detail: Response 2 says more than Response 1."
        top = 8 if good in request.messages[-1].content else 1
        return tuple(0.0 if place == top else -50.0 for place in range(len(request.choices)))

    verdict = judge_case(CASE, spec_of(critique=True), Recorder(answer))
    (page,) = pages
    assert page.shown == (1 - better, better)
    text = page.messages[-1].content
    assert "So, the final decision is Response 2." in text
    assert f"[Response 2]: {good}" in text
    # What is kept is in the case's frame: Response 1 is a, whatever the page showed first.
    (critique,) = verdict.critiques
    assert critique is not None
    assert verdict.winner == "ab"[better]
    won, lost = ("1", "2") if better == 0 else ("2", "1")
    assert f"Response {won} says more than Response {lost}." in critique
    assert critique.endswith(f"So, the final decision is Response {won}.")
