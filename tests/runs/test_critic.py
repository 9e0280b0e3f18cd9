"""Another judge writes the critiques for a judge's verdicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.datasets.base import Cases
from autoj.errors import ConfigError, SpecMismatch
from autoj.jsonl import read_records, whole_lines
from autoj.records import Asked, Decoding, JudgeCard, Request, Verdict
from autoj.runs import RunSpec, judge_case, make_spec
from autoj.runs.budget import Budget
from autoj.runs.check import check_run
from autoj.runs.settings import spec_digest
from autoj.tasks import engine
from autoj.tasks.judge import judge

from ..scripted import CARD, Killed, Recorder

Make = Callable[..., RunSpec]
CRITIC = replace(CARD, name="critic", model="critic", decoding=Decoding(max_tokens=77))


def decides(request: Request) -> tuple[float, ...]:
    assert request.choices is not None
    return tuple(-1.0 - index for index in range(len(request.choices)))


def writes(request: Request) -> str:
    assert request.choices is None
    return " point: the critic said so."


@pytest.fixture
def critic(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Stands for the critic's engine, wherever it is loaded."""
    found = Recorder(writes, CRITIC)

    def load(card: JudgeCard) -> Recorder:
        assert card.name == "critic"
        return found

    monkeypatch.setattr(engine, "load_backend", load)
    return found


def test_the_critic_writes_for_the_verdicts_of_the_judge(
    tmp_path: Path, cases: Cases, pair_spec: Make, critic: Recorder
) -> None:
    ours = Recorder(decides)
    run = judge(cases, pair_spec(critic=CRITIC), tmp_path / "run", backend=ours)
    assert all(request.choices is not None for request in ours.asked)
    assert all(request.judge == "critic" for request in critic.asked)
    assert {request.decoding.max_tokens for request in critic.asked} == {77}
    assert all("the critic said so" in str(verdict.critiques[0]) for _, verdict in run)
    asked = list(read_records(run.path / "follow.jsonl", Asked))
    assert {row.judge for row in asked} == {"critic"}
    assert run.folder.settings()["spec"]["critic"]["name"] == "critic"
    assert run.folder.spec().critic == CRITIC
    assert all(it.is_whole for it in check_run(run.path))
    # A finished run is shown without either engine.
    n_asked = len(critic.asked)
    judge(cases, pair_spec(critic=CRITIC), tmp_path / "run")
    assert len(critic.asked) == n_asked


def test_keys_of_verdicts_and_runs_without_a_critic_stay(
    tmp_path: Path, cases: Cases, pair_spec: Make, critic: Recorder
) -> None:
    plain = judge(
        cases, pair_spec(critique=True), tmp_path / "plain", backend=Recorder(either)
    ).path
    other = judge(
        cases, pair_spec(critic=CRITIC), tmp_path / "other", backend=Recorder(decides)
    ).path
    assert (plain / "plan.jsonl").read_bytes() == (other / "plan.jsonl").read_bytes()
    keys = [
        {row.key for row in read_records(path / "follow.jsonl", Asked)} for path in (plain, other)
    ]
    assert not keys[0] & keys[1]
    # A run from before there were critics has no such setting, and goes on.
    old = pair_spec(critique=True)
    assert spec_digest(old, cases) == spec_digest(replace(old, critic=None), cases)
    with pytest.raises(SpecMismatch, match="critic"):
        judge(cases, pair_spec(critic=CRITIC), plain)
    with pytest.raises(SpecMismatch, match="critic"):
        judge(cases, pair_spec(critic=replace(CRITIC, model="another")), other)


def either(request: Request) -> str | tuple[float, ...]:
    return writes(request) if request.choices is None else decides(request)


def test_a_killed_critic_goes_on_and_asks_nothing_twice(
    tmp_path: Path, cases: Cases, pair_spec: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = pair_spec(critic=CRITIC)
    monkeypatch.setattr(engine, "load_backend", lambda card: Recorder(writes, CRITIC))
    whole = judge(cases, spec, tmp_path / "whole", backend=Recorder(decides)).path
    first, second = Recorder(writes, CRITIC, dies_after=3), Recorder(writes, CRITIC)
    monkeypatch.setattr(engine, "load_backend", lambda card: first)
    with pytest.raises(Killed):
        judge(cases, spec, tmp_path / "killed", backend=Recorder(decides))
    monkeypatch.setattr(engine, "load_backend", lambda card: second)
    again = Recorder(decides)
    judge(cases, spec, tmp_path / "killed", backend=again)
    assert again.asked == []
    assert not {it.key for it in first.asked} & {it.key for it in second.asked}
    for name in ("verdicts.jsonl", "follow.jsonl"):
        assert (tmp_path / "killed" / name).read_bytes() == (whole / name).read_bytes()
    lines = [sorted(whole_lines(path / "ledger.jsonl")) for path in (whole, tmp_path / "killed")]
    assert lines[0] == lines[1]


def test_a_critic_needs_a_verdict_to_write_for(pair_spec: Make) -> None:
    with pytest.raises(ConfigError, match="--no-critique"):
        pair_spec(critic=CRITIC, critique=False)
    with pytest.raises(ConfigError, match="before the verdict"):
        pair_spec(critic=CRITIC, protocol="pairwise")


def test_money_is_not_capped_over_two_prices(tmp_path: Path, cases: Cases) -> None:
    priced = replace(CARD, usd_per_million_prompt_tokens=1.0, usd_per_million_completion_tokens=1.0)
    spec = make_spec("judge", priced, critic=CRITIC)
    with pytest.raises(ConfigError, match="--max-usd cannot be used with --critic"):
        judge(cases, spec, tmp_path / "run", budget=Budget(max_usd=1.0))


def test_a_single_call_has_no_critic(cases: Cases, pair_spec: Make) -> None:
    (_, case) = next(iter(cases.readable()))
    with pytest.raises(ConfigError, match="kept in a folder"):
        judge_case(case, pair_spec(critic=CRITIC), Recorder(decides))


def test_ratings_have_a_critic_too(tmp_path: Path, cases: Cases, critic: Recorder) -> None:
    spec = make_spec("rate", CARD, protocol="single-verdict", critic=CRITIC)
    run = judge(cases, spec, tmp_path / "run", backend=Recorder(decides))
    found: list[Verdict] = [verdict for _, verdict in run]
    assert all(text and "the critic said so" in text for it in found for text in it.critiques)
