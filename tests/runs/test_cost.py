"""The dollars of a run: of its sessions, of all of it, and what it will come to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.datasets.base import Cases
from autoj.records import Completion, Failure, JudgeCard
from autoj.runs import RunSpec, make_spec
from autoj.runs.budget import Budget
from autoj.runs.cache import AnswerCache
from autoj.runs.cost import Cost, Meter, cost_of_sessions
from autoj.runs.ledger import RecordedAnswer
from autoj.runs.watch import Watch
from autoj.tasks.judge import judge
from autoj.tasks.run import Run

from ..scripted import CARD, Killed, Recorder, by_hash

# A dollar a token read, and two a token written.
PRICED = replace(CARD, usd_per_million_prompt_tokens=1e6, usd_per_million_completion_tokens=2e6)


class Server(Recorder):
    """A paid judge behind a server."""

    address = "https://api.example.com/v1"

    def __init__(self, card: JudgeCard = PRICED, dies_after: int | None = None) -> None:
        super().__init__(by_hash, card, dies_after)


class Money(Watch):
    """Notes what it is told about money."""

    def __init__(self) -> None:
        self.told: list[tuple[float, float | None]] = []

    def cost(self, spent_usd: float, expected_usd: float | None) -> None:
        self.told.append((spent_usd, expected_usd))


def spec_of(**settings: object) -> RunSpec:
    return make_spec("judge", PRICED, protocol="pairwise", **settings)  # type: ignore[arg-type]


def price_of(ledger: Path) -> float:
    answers = [json.loads(line) for line in ledger.read_bytes().splitlines()]
    return sum(
        answer["prompt_tokens"] + 2 * answer["completion_tokens"]
        for answer in answers
        if not answer.get("reused")
    )


def completion(**fields: object) -> dict[str, object]:
    return {"key": "a" * 64, "text": "", "finish": "stop", "prompt_tokens": 10,
            "completion_tokens": 5} | fields  # fmt: skip


def test_a_meter_counts_each_answer_once_and_reused_ones_not() -> None:
    meter = Meter(PRICED)
    meter.count_earlier(RecordedAnswer(**completion()))  # type: ignore[arg-type]
    meter.count_earlier(RecordedAnswer(**completion(reused=True)))  # type: ignore[arg-type]
    assert meter.cost() == Cost(session_usd=0.0, run_usd=20.0)
    meter.add(RecordedAnswer(**completion(reused=True)), 3)  # type: ignore[arg-type]
    assert meter.cost() == Cost(session_usd=0.0, run_usd=20.0), "nothing says what the rest costs"
    meter.add(Completion(**completion(prompt_tokens=30)), 2)  # type: ignore[arg-type]
    assert meter.cost() == Cost(session_usd=40.0, run_usd=60.0, expected_usd=140.0)
    meter.add(Failure(key="b", error="Down", message="", retryable=True, attempts=1), 1)
    assert meter.cost() == Cost(session_usd=40.0, run_usd=60.0, expected_usd=100.0)
    meter.add(None, 0)
    assert meter.cost() == Cost(session_usd=40.0, run_usd=60.0)


def test_a_judge_without_prices_costs_nothing_that_is_known() -> None:
    meter = Meter(CARD)
    meter.add(Completion(**completion()), 1)  # type: ignore[arg-type]
    assert meter.cost() is None


def test_rounds_of_one_run_add_up() -> None:
    rounds = [Cost(session_usd=1.0, run_usd=3.0), Cost(session_usd=2.0, run_usd=5.0)]
    assert cost_of_sessions(rounds) == Cost(session_usd=3.0, run_usd=5.0)
    assert cost_of_sessions([None, None]) is None


def test_a_run_states_its_dollars(tmp_path: Path, cases: Cases) -> None:
    watch, out = Money(), tmp_path / "r"
    run = judge(cases, spec_of(), out, backend=Recorder(card=PRICED), watch=watch)
    paid = price_of(out / "ledger.jsonl")
    assert run.cost == Cost(session_usd=paid, run_usd=paid)
    assert json.loads((out / "run.json").read_bytes())["cost_usd"] == paid
    assert json.loads((out / "timings.jsonl").read_bytes())["usd"] == paid
    spent = [told for told, _ in watch.told]
    assert spent == sorted(spent)
    assert spent[-1] == paid
    assert watch.told[-1] == (paid, None)
    # Estimates come near long before the end: all prompts have about the same length.
    assert watch.told[3][1] == pytest.approx(paid, rel=0.5)
    opened = Run.open(out)
    assert opened.cost == Cost(session_usd=0.0, run_usd=paid)


def test_sessions_are_counted_apart_and_together(tmp_path: Path, cases: Cases) -> None:
    out = tmp_path / "r"
    with pytest.raises(Killed):
        judge(cases, spec_of(), out, backend=Recorder(card=PRICED, dies_after=4))
    first = price_of(out / "ledger.jsonl")
    run = judge(cases, spec_of(), out, backend=Recorder(card=PRICED))
    whole = price_of(out / "ledger.jsonl")
    assert run.cost == Cost(session_usd=whole - first, run_usd=whole)
    again = judge(cases, spec_of(), out, backend=Recorder(card=PRICED))
    assert again.cost == Cost(session_usd=0.0, run_usd=whole)


def test_a_cap_leaves_what_the_rest_may_cost(tmp_path: Path, cases: Cases) -> None:
    run = judge(cases, spec_of(), tmp_path / "r", backend=Recorder(card=PRICED),
                budget=Budget(max_requests=6))  # fmt: skip
    assert run.cost is not None
    assert run.cost.expected_usd is not None
    assert run.cost.expected_usd > 1.5 * run.cost.run_usd


# Reuse over runs.


def test_another_run_reuses_what_was_paid_for(tmp_path: Path, cases: Cases) -> None:
    judge(cases, spec_of(limit=3), tmp_path / "one", backend=Server(), cache=None)
    budget = Budget(max_usd=1e9)
    engine = Server()
    run = judge(cases, spec_of(), tmp_path / "two", backend=engine, budget=budget, cache=None)
    assert run.counts.n_reused == 6
    assert run.counts.n_answered == len(engine.asked)
    assert {request.case_id for request in engine.asked}.isdisjoint({"case-0", "case-1", "case-2"})
    lines = (tmp_path / "two" / "ledger.jsonl").read_bytes().splitlines()
    assert sum(b'"reused":true' in line for line in lines) == 6
    paid = price_of(tmp_path / "two" / "ledger.jsonl")
    assert run.cost == Cost(session_usd=paid, run_usd=paid)
    assert (budget.n_requests, budget.spent_usd) == (len(engine.asked), paid)
    # Caps of later sessions do not count them either.
    later = Budget(max_usd=1e9)
    judge(cases, spec_of(), tmp_path / "two", backend=Server(), budget=later)
    assert (later.n_requests, later.spent_usd) == (len(engine.asked), paid)


def test_a_reused_run_gives_the_verdicts_of_the_first(tmp_path: Path, cases: Cases) -> None:
    spec = spec_of()
    for name in ("one", "two"):
        run = judge(cases, spec, tmp_path / name, backend=Server(), cache=None)
    assert run.counts.n_answered == 0
    one, two = ((tmp_path / name / "verdicts.jsonl").read_bytes() for name in ("one", "two"))
    assert one == two


@pytest.mark.parametrize(("backend", "cache"), [(Server, False), (Recorder, None)])
def test_nothing_is_kept_where_it_is_not_wanted(
    tmp_path: Path, cases: Cases, answers_folder: Path, backend: type[Recorder], cache: bool | None
) -> None:
    for name in ("one", "two"):
        engine = backend(card=PRICED)
        run = judge(cases, spec_of(), tmp_path / name, backend=engine, cache=cache)
        assert run.counts.n_reused == 0
    assert not answers_folder.exists()


def test_another_server_is_asked(tmp_path: Path, cases: Cases) -> None:
    judge(cases, spec_of(), tmp_path / "one", backend=Server(), cache=None)
    other = Server()
    other.address = "https://api.example.com/v2"
    assert judge(cases, spec_of(), tmp_path / "two", backend=other, cache=None).counts.n_reused == 0


def test_a_failure_is_not_kept(tmp_path: Path, cases: Cases, answers_folder: Path) -> None:
    failing = Server()
    failing._answer = lambda request: Failure(
        key=request.key, error="Down", message="down", retryable=True, attempts=1
    )
    judge(cases, spec_of(), tmp_path / "one", backend=failing, cache=None)
    with AnswerCache(answers_folder) as cache:
        assert cache.models() == []
    run = judge(cases, spec_of(), tmp_path / "two", backend=Server(), cache=None)
    assert run.counts.n_reused == 0
    assert run.counts.n_failed == 0


def test_samples_are_reused_by_their_numbers(tmp_path: Path, cases: Cases) -> None:
    spec = spec_of(temperature=0.7, samples=2)
    judge(cases, spec, tmp_path / "one", backend=Server(), cache=None)
    more = replace(spec, samples=3)
    run = judge(cases, more, tmp_path / "two", backend=(engine := Server()), cache=None)
    assert run.counts.n_reused == 2 * len(engine.asked)
    assert {request.sample for request in engine.asked} == {2}
    other = replace(spec, sample=5)
    assert (
        judge(cases, other, tmp_path / "three", backend=Server(), cache=None).counts.n_reused == 0
    )
