"""Caps on money and requests: never passed, and gone on from by the same command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.backends.base import OnText, Outcome
from autoj.errors import ConfigError
from autoj.jsonl import read_records, whole_lines
from autoj.records import Completion, Decoding, Failure, Message, Request
from autoj.runs import RunSpec, is_finished, judge_run, make_spec, open_run
from autoj.runs.budget import Budget, price_usd

from ..scripted import CARD, Recorder

# A dollar a token: a cap in dollars is one in tokens.
PRICED = replace(CARD, usd_per_million_prompt_tokens=1e6, usd_per_million_completion_tokens=1e6)
N_DISTINCT = 13


def ask(key: str = "a", words: int = 10, max_tokens: int = 20) -> Request:
    return Request(
        key=key * 64,
        judge="script",
        case_id="1",
        protocol="pairwise",
        shown=(0, 1),
        messages=(Message(role="user", content="word " * words),),
        decoding=Decoding(max_tokens=max_tokens),
    )


def answered(key: str = "a", prompt_tokens: int = 10, completion_tokens: int = 5) -> Completion:
    return Completion(
        key=key * 64,
        text="So, the final decision is Tie.",
        finish="stop",
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
    )


class Priced(Recorder):
    """Answers cost what the card says; several are under way at once."""

    def __init__(self, at_once: int = 1) -> None:
        super().__init__(card=PRICED)
        self.at_once = at_once
        self.most_ahead = 0

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        unread, ahead = iter(requests), list[Request]()
        while True:
            while len(ahead) < self.at_once and (request := next(unread, None)) is not None:
                ahead.append(request)
            self.most_ahead = max(self.most_ahead, len(ahead))
            if not ahead:
                return
            yield from super().complete([ahead.pop(0)])


# Counting.


def test_prompts_that_may_be_read_several_times_are_set_aside_for_as_often() -> None:
    choices = replace(ask(), choices=("1", "2"), prefix="It is")
    for n_readings in (1, 5):
        reader = Priced()
        reader.limits = replace(reader.limits, readings_per_score=1, readings_beyond=n_readings - 1)
        once, written = Budget(max_usd=1e9), Budget(max_usd=1e9)
        assert once.take(choices, reader)
        assert written.take(ask(), reader)
        (held,), (plain,) = once._set_aside.values(), written._set_aside.values()
        if n_readings == 1:
            before, unchanged = held, plain
    assert held == 5 * before
    assert plain == unchanged, "a text is written once"


def test_prices_are_per_million_of_each_kind() -> None:
    card = replace(CARD, usd_per_million_prompt_tokens=3.0, usd_per_million_completion_tokens=15.0)
    assert price_usd(card, 2_000_000, 100_000) == pytest.approx(7.5)
    assert price_usd(CARD, 1, 1) is None
    assert price_usd(replace(card, usd_per_million_completion_tokens=None), 1, 1) is None


@pytest.mark.parametrize("caps", [{"max_usd": 0}, {"max_usd": -1.0}, {"max_requests": 0},
                                  {"max_usd": float("nan")}])  # fmt: skip
def test_a_cap_is_above_nothing(caps: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"--max-\w+ must be above 0"):
        Budget(**caps)  # type: ignore[arg-type]


def test_a_cap_on_money_needs_prices() -> None:
    Budget(max_requests=1).check(CARD)
    Budget(max_usd=1).check(PRICED)
    with pytest.raises(ConfigError, match="--max-usd needs prices, and the card of judge 'script'"):
        Budget(max_usd=1).check(CARD)


def test_what_a_request_may_cost_is_set_aside_until_it_is_known() -> None:
    backend = Priced()
    budget = Budget(max_usd=150)
    assert budget.take(ask("a"), backend)  # 10 words, 40 around them and 20 to write
    assert budget.take(ask("b"), backend)
    assert not budget.take(ask("c"), backend)
    assert not budget.stopped, "there will be room"
    budget.settle(answered("a"), PRICED)
    assert budget.spent_usd == 15
    assert not budget.take(ask("c"), backend)
    failed = Failure(key="b" * 64, error="Down", message="down", retryable=True, attempts=1)
    budget.settle(failed, PRICED)
    assert budget.spent_usd == 15
    assert budget.take(ask("c"), backend)
    budget.settle(answered("c"), PRICED)
    assert not budget.take(ask("d", words=1000), backend)
    assert budget.stopped
    assert budget.summary() == (
        "stopped: the next request may cost $1,060.0000, more than --max-usd 150 leaves; "
        "spent 3 requests and $30.0000. Repeat the command with a higher --max-usd to go on"
    )


def test_a_scored_choice_is_not_paid_like_a_critique() -> None:
    budget = Budget(max_usd=150)
    scored = replace(ask(max_tokens=1000), prefix="It is", choices=(" 1", " 2"))
    assert budget.take(scored, Priced())


def test_requests_are_counted_without_prices() -> None:
    budget, backend = Budget(max_requests=2), Recorder()
    assert [budget.take(ask(key), backend) for key in "abc"] == [True, True, False]
    assert budget.stopped
    assert budget.summary() == (
        "stopped: --max-requests 2 is reached; spent 2 requests. "
        "Repeat the command with a higher --max-requests to go on"
    )
    assert Budget(max_requests=2).summary() == "spent 0 requests"


# A run.


def session(path: Path, spec: RunSpec, cases, backend: Recorder, budget: Budget | None) -> None:
    with open_run(path, spec, cases) as folder:
        judge_run(folder, spec, backend, budget=budget)


def spec_of(**settings: object) -> RunSpec:
    return make_spec("judge", PRICED, **settings)  # type: ignore[arg-type]


def ledger(path: Path) -> list[Completion]:
    return list(read_records(path / "ledger.jsonl", Completion))


def cost(path: Path) -> float:
    return sum(answer.prompt_tokens + answer.completion_tokens for answer in ledger(path))


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_run_stops_at_its_requests_and_the_next_one_goes_on(tmp_path, cases, at_once) -> None:
    path = tmp_path / "run"
    for cap, n_held in ((5, 5), (5, 5), (8, 8)):
        budget = Budget(max_requests=cap)
        session(path, spec_of(), cases, Priced(at_once), budget)
        assert budget.stopped
        assert len(ledger(path)) == n_held
    budget = Budget(max_requests=100)
    session(path, spec_of(), cases, Priced(at_once), budget)
    assert not budget.stopped
    assert budget.n_requests == N_DISTINCT
    session(tmp_path / "whole", spec_of(), cases, Priced(at_once), None)
    assert same(path, tmp_path / "whole")


def same(one: Path, other: Path) -> bool:
    return all(
        sorted(whole_lines(one / name)) == sorted(whole_lines(other / name))
        for name in ("ledger.jsonl", "verdicts.jsonl", "plan.jsonl")
    )


@pytest.mark.parametrize("at_once", [1, 4])
def test_money_is_never_passed_and_is_used_as_far_as_it_goes(tmp_path, cases, at_once) -> None:
    session(tmp_path / "whole", spec_of(), cases, Priced(), None)
    whole = cost(tmp_path / "whole")
    cap, path = whole / 2, tmp_path / "run"
    budget = Budget(max_usd=cap)
    session(path, spec_of(), cases, Priced(at_once), budget)
    assert budget.stopped
    assert budget.spent_usd == cost(path)
    # What is left is less than one more request may have cost.
    assert cap - budget._next_usd < cost(path) <= cap
    again = Budget(max_usd=10 * whole)
    session(path, spec_of(), cases, Priced(at_once), again)
    assert not again.stopped
    assert again.spent_usd == pytest.approx(whole)
    assert same(path, tmp_path / "whole")


def test_cases_without_an_answer_have_no_verdict_and_the_run_is_not_finished(
    tmp_path, cases
) -> None:
    path, spec = tmp_path / "run", spec_of()
    with open_run(path, spec, cases) as folder:
        judge_run(folder, spec, Priced(), budget=Budget(max_requests=5))
        verdicts = list(folder.verdicts())
        assert not is_finished(folder, spec)
    assert [verdict.case_id for verdict in verdicts] == ["case-0", "case-1"]
    assert all(verdict.n_failed == 0 for verdict in verdicts)


@pytest.mark.parametrize("cap", [N_DISTINCT, N_DISTINCT + 2])
def test_critiques_are_paid_from_the_same_budget(tmp_path, cases, cap) -> None:
    path, spec = tmp_path / "run", spec_of(critique=True)
    with open_run(path, spec, cases) as folder:
        judge_run(folder, spec, Priced(), budget=Budget(max_requests=cap))
        assert len(ledger(path)) == cap
        assert not is_finished(folder, spec)
        judge_run(folder, spec, Priced(), budget=Budget(max_requests=100))
        assert is_finished(folder, spec)
    session(tmp_path / "whole", spec, cases, Priced(), None)
    assert same(path, tmp_path / "whole")


def test_without_prices_nothing_is_asked(tmp_path, cases, pair_spec) -> None:
    backend = Recorder()
    with pytest.raises(ConfigError, match="needs prices"):
        session(tmp_path / "run", pair_spec(), cases, backend, Budget(max_usd=1))
    assert backend.asked == []
