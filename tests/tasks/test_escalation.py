"""A cheap judge and a stronger one: which pairs the stronger is asked about, and who decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.backends.base import Backend
from autoj.datasets import open_cases
from autoj.datasets.base import Cases
from autoj.errors import ConfigError, RunBusy, SpecMismatch, Unfinished
from autoj.jsonl import write_records
from autoj.records import Failure, JudgeCard, Request, SureThreshold, Verdict
from autoj.reports.html.report import write_report
from autoj.reports.jury import jury_record, jury_session_record, jury_view
from autoj.reports.jury_case import stored_case_view
from autoj.reports.jury_summary import summarise_jury
from autoj.runs import RunFolder
from autoj.runs.budget import Budget
from autoj.runs.place import locked
from autoj.runs.second_order import is_drawn
from autoj.tasks.check import are_whole, check_folders
from autoj.tasks.default_paths import jury_folder
from autoj.tasks.escalation import make_escalation, read_escalation
from autoj.tasks.jurors import Jury, make_jury
from autoj.tasks.jury import JuryRun, judge_by_jury, read_jury_case
from autoj.tasks.plan import plan_all
from autoj.tasks.runs import list_runs
from autoj.verdicts.jury import EscalatedVerdict, escalated_verdict, wants_stronger
from autoj.verdicts.sureness import confidence_of

from ..reports.pages import page
from ..scripted import CARD, Killed, Recorder, by_hash

CHEAP = replace(
    CARD,
    name="cheap",
    model="cheap",
    usd_per_million_prompt_tokens=1.0,
    usd_per_million_completion_tokens=1.0,
)
STRONG = replace(
    CARD,
    name="strong",
    model="strong",
    usd_per_million_prompt_tokens=10.0,
    usd_per_million_completion_tokens=10.0,
)
BELOW = 0.6


@pytest.fixture
def many(tmp_path: Path) -> Cases:
    rows = [
        {
            "id": f"case-{number}",
            "query": f"Question {number}?",
            "responses": [f"First answer {number}.", f"Second answer {number}."],
            "label": "ab"[number % 2],
        }
        for number in range(40)
    ]
    write_records(tmp_path / "many.jsonl", rows)
    return open_cases(tmp_path / "many.jsonl")


class Engines:
    """Gives each judge a recorder, and notes who was asked what."""

    def __init__(self) -> None:
        self.made: list[Recorder] = []
        self.dies_after: dict[str, int] = {}
        self.answer: Callable[[Request], object] = by_hash

    def load(self, card: JudgeCard, *_: object) -> Backend:
        engine = Recorder(self.answer, card, self.dies_after.get(card.name))  # type: ignore[arg-type]
        self.made.append(engine)
        return engine

    def asked(self) -> list[Request]:
        return [request for engine in self.made for request in engine.asked]

    def of(self, name: str) -> list[Request]:
        return [request for request in self.asked() if request.judge == name]


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Engines:
    made = Engines()
    monkeypatch.setattr("autoj.tasks.judge.load_engine", made.load)
    monkeypatch.setattr("autoj.tasks.plan.load_engine", made.load)
    monkeypatch.setattr("autoj.tasks.escalation.load_card", lambda name: {"strong": STRONG}[name])
    return made


def two(stronger: str = f"strong:{BELOW}", card: JudgeCard = CHEAP, **settings: object) -> Jury:
    return make_escalation([("cheap", card)], stronger, **settings)  # type: ignore[arg-type]


def verdicts_of(path: Path) -> list[EscalatedVerdict]:
    found = [verdict for _, verdict in JuryRun.open(path)]
    assert all(isinstance(verdict, EscalatedVerdict) for verdict in found)
    return found  # type: ignore[return-value]


def test_two_processes_do_not_share_a_jury(tmp_path: Path, many: Cases, engines: Engines) -> None:
    judge_by_jury(many, two(always_full=0.3), tmp_path / "run")
    before = (tmp_path / "run/jury.json").read_bytes()
    with locked(tmp_path / "run"), pytest.raises(RunBusy, match="is being written by process"):
        judge_by_jury(many, two("strong:0.9"), tmp_path / "run")
    assert (tmp_path / "run/jury.json").read_bytes() == before
    assert len(verdicts_of(tmp_path / "run")) == 40


def test_the_stronger_judge_is_asked_where_the_cheap_one_is_unsure_or_differs(
    tmp_path: Path, many: Cases, engines: Engines
) -> None:
    judge_by_jury(many, two(always_full=0.3), tmp_path / "run")
    cheap = {v.case_id: v for v in RunFolder(tmp_path / "run/judges/cheap").verdicts()}
    strong = {v.case_id: v for v in RunFolder(tmp_path / "run/judges/strong").verdicts()}
    rules: Counter[str | None] = Counter()
    for verdict in verdicts_of(tmp_path / "run"):
        first = cheap[verdict.case_id]
        confidence = confidence_of(first)
        assert confidence is not None
        unsure = first.consistent is False or confidence < BELOW
        drawn = is_drawn(verdict.case_id, 0.3)
        assert (verdict.case_id in strong) == (unsure or drawn)
        who = strong.get(verdict.case_id, first)
        assert verdict.decided_by == ("strong" if unsure or drawn else "cheap")
        assert (verdict.winner, verdict.probabilities) == (who.winner, who.probabilities)
        assert verdict.judges[0].winner == first.winner
        assert verdict.rule == ("escalated" if unsure else "drawn" if drawn else "first judge")
        rules[verdict.rule] += 1
    assert len(rules) == 3, "the data must hold all three kinds of pairs"
    assert len(engines.of("cheap")) == 80
    assert len(engines.of("strong")) == 2 * len(strong) < 80
    assert are_whole(check_folders(tmp_path / "run"))


def test_each_judge_costs_by_its_own_card_and_the_report_says_so(
    tmp_path: Path, many: Cases, engines: Engines
) -> None:
    pytest.importorskip("vl_convert", reason="the extra `report` is not installed")
    run = judge_by_jury(many, two(), tmp_path / "run")
    costs = {name: cost.run_usd for name, cost in run.costs.items() if cost is not None}
    tokens = {
        name: sum(len(m.content.split()) for request in engines.of(name) for m in request.messages)
        for name in ("cheap", "strong")
    }
    assert costs["cheap"] == pytest.approx(tokens["cheap"] / 1e6, rel=0.05)
    assert costs["strong"] == pytest.approx(tokens["strong"] / 1e5, rel=0.05)
    summary = summarise_jury(run.path, run.jury)
    text = " ".join(page(jury_view(run, summary, 40)).split())
    assert "the second decides where the first is unsure" in text
    assert "of cheap" in text
    assert "all in full" in text
    record = jury_record(run, summary) | jury_session_record(run)
    assert set(record["costs"]) == {"cheap", "strong"}
    assert {verdict.decided_by for verdict in record["verdicts"]} == {"cheap", "strong"}
    n_asked = sum(verdict.decided_by == "strong" for verdict in record["verdicts"])
    assert sum(summary.judges[1].winners.values()) == n_asked
    (entry,) = list_runs(run.path)
    assert entry.n_judged == 40
    case = next(v.case_id for v in verdicts_of(run.path) if v.decided_by == "strong")
    shown = read_jury_case(run, case)
    assert shown is not None
    assert "Of strong" in page(stored_case_view(shown))
    write_report([run.path], tmp_path / "report.html")
    assert "cheap" in (tmp_path / "report.html").read_text("utf-8")


def test_it_dies_anywhere_and_asks_nothing_twice(
    tmp_path: Path, many: Cases, engines: Engines
) -> None:
    judge_by_jury(many, two(), tmp_path / "whole")
    wanted = sorted(request.key for request in engines.asked())
    n_strong = len(engines.of("strong"))
    for name, dies_after in [("cheap", 0), ("cheap", 41), ("strong", 0), ("strong", n_strong - 1)]:
        engines.made, engines.dies_after = [], {name: dies_after}
        path = tmp_path / f"{name}-{dies_after}"
        with pytest.raises(Killed):
            judge_by_jury(many, two(), path)
        engines.dies_after = {}
        judge_by_jury(many, two(), path)
        assert sorted(request.key for request in engines.asked()) == wanted
        assert (path / "verdicts.jsonl").read_bytes() == (
            tmp_path / "whole" / "verdicts.jsonl"
        ).read_bytes()
        n_before = len(engines.asked())
        judge_by_jury(many, two(), path)
        assert len(engines.asked()) == n_before


def test_another_threshold_keeps_all_answers(tmp_path: Path, many: Cases, engines: Engines) -> None:
    for below in (0.5, 0.8, 0.5, 0.7):
        judge_by_jury(many, two(f"strong:{below}"), tmp_path / "run")
    judge_by_jury(many, two("strong:0.7"), tmp_path / "whole")
    once = Counter(request.key for request in engines.of("cheap"))
    assert set(once.values()) == {2}, "one for each folder"
    first = Counter(request.key for request in engines.made[1].asked)
    assert first
    in_run = [r.key for engine in engines.made[:-2] for r in engine.asked if r.judge == "strong"]
    assert len(in_run) == len(set(in_run))
    assert (tmp_path / "run/verdicts.jsonl").read_bytes() == (
        tmp_path / "whole/verdicts.jsonl"
    ).read_bytes()


def test_a_failed_answer_is_none_to_be_unsure_of_and_is_asked_again(
    tmp_path: Path, many: Cases, engines: Engines
) -> None:
    def failing(request: Request) -> object:
        if request.case_id == "case-7":
            return Failure(
                key=request.key, error="Unavailable", message="no", retryable=True, attempts=1
            )
        return by_hash(request)

    engines.answer = failing
    judge_by_jury(many, two(), tmp_path / "run")
    (found,) = (v for v in verdicts_of(tmp_path / "run") if v.case_id == "case-7")
    assert (found.winner, found.rule, found.decided_by) == (None, "first judge", "cheap")
    assert "case-7" not in {request.case_id for request in engines.of("strong")}
    engines.answer = by_hash
    n_before = len(engines.asked())
    judge_by_jury(many, two(), tmp_path / "run")
    assert {request.case_id for request in engines.asked()[n_before:]} == {"case-7"}
    judge_by_jury(many, two(), tmp_path / "whole")
    assert verdicts_of(tmp_path / "run") == verdicts_of(tmp_path / "whole")


def test_it_takes_the_second_order_of_the_cheap_judge_where_that_is_unsure(
    tmp_path: Path, many: Cases, engines: Engines
) -> None:
    judge_by_jury(many, two(second_order="unsure:0.7"), tmp_path / "run")
    assert 40 < len(engines.of("cheap")) < 80
    for verdict in verdicts_of(tmp_path / "run"):
        orders = Counter(r.judge for r in engines.asked() if r.case_id == verdict.case_id)
        assert orders["strong"] in (0, 2)
        if orders["cheap"] == 1 and not is_drawn(verdict.case_id, 0.1):
            assert verdict.decided_by == "cheap"


def test_growing_data_asks_of_the_new_pairs_alone(
    tmp_path: Path, many: Cases, engines: Engines
) -> None:
    judge_by_jury(many, two(limit=20), tmp_path / "run")
    judge_by_jury(many, two(), tmp_path / "run")
    judge_by_jury(many, two(), tmp_path / "whole")
    assert set(Counter(r.key for r in engines.asked()).values()) == {2}
    assert verdicts_of(tmp_path / "run") == verdicts_of(tmp_path / "whole")


def test_no_unsure_verdict_leaves_the_stronger_judge_alone(
    tmp_path: Path, many: Cases, engines: Engines
) -> None:
    pytest.importorskip("vl_convert", reason="the extra `report` is not installed")
    engines.answer = sure_of_a
    run = judge_by_jury(many, two(always_full=0), tmp_path / "run")
    assert engines.of("strong") == []
    assert not (tmp_path / "run/judges/strong").exists()
    assert {v.winner for v in verdicts_of(run.path)} == {"a"}
    # Once it was asked about all of them; its answers stay, and its verdicts no longer count.
    again = judge_by_jury(many, two("strong:1.0", always_full=0), run.path)
    assert {v.decided_by for v in verdicts_of(again.path)} == {"strong"}
    judge_by_jury(many, two(always_full=0), run.path)
    assert {(v.decided_by, v.rule) for v in verdicts_of(run.path)} == {("cheap", "first judge")}
    assert page(jury_view(run, summarise_jury(run.path, run.jury), 3))
    write_report([run.path], tmp_path / "report.html")


def sure_of_a(request: Request) -> tuple[float, ...]:
    """Names the response that begins with "First", in both orders."""
    text = request.messages[-1].content
    first = text.index("First answer") < text.index("Second answer")
    return (-0.02, -4.5, -5.5) if first else (-4.5, -0.02, -5.5)


def test_a_cap_counts_both_judges(tmp_path: Path, many: Cases, engines: Engines) -> None:
    with pytest.raises(Unfinished):
        judge_by_jury(many, two(), tmp_path / "run", budget=Budget(None, 85))
    assert (len(engines.of("cheap")), len(engines.of("strong"))) == (80, 5)
    judge_by_jury(many, two(), tmp_path / "run", budget=Budget(None, 500))
    judge_by_jury(many, two(), tmp_path / "whole")
    assert verdicts_of(tmp_path / "run") == verdicts_of(tmp_path / "whole")


def test_the_plan_counts_the_stronger_judge_as_if_it_were_asked_everywhere(
    tmp_path: Path, many: Cases, engines: Engines
) -> None:
    cheap, strong = plan_all(many, two(), tmp_path / "run")
    assert (cheap.n_requests, cheap.is_most) == (80, False)
    assert (strong.n_requests, strong.is_most, strong.judge) == (80, True, "strong")
    assert not (tmp_path / "run/judges/strong").exists()


def test_a_jury_and_an_escalation_do_not_share_a_folder(
    tmp_path: Path, many: Cases, engines: Engines
) -> None:
    jury = make_jury("judge", [("cheap", CHEAP), ("strong", STRONG)], None)
    assert jury_folder(jury, many) != jury_folder(two(), many)
    assert jury_folder(two(), many) == jury_folder(two("strong:0.9"), many)
    judge_by_jury(many, two(), tmp_path / "run")
    with pytest.raises(ConfigError, match="holds an escalation"):
        judge_by_jury(many, jury, tmp_path / "run")
    judge_by_jury(many, jury, tmp_path / "jury")
    with pytest.raises(ConfigError, match="holds a jury"):
        judge_by_jury(many, two(), tmp_path / "jury")
    with pytest.raises(SpecMismatch):
        judge_by_jury(many, two(on_conflict="tie"), tmp_path / "run")


def test_the_threshold_is_that_of_the_card_where_none_is_stated(engines: Engines) -> None:
    card = replace(CHEAP, unsure={"pairwise-verdict": SureThreshold(below=0.71)})
    found = two("strong", card)
    assert found.escalation is not None
    assert found.escalation.below == 0.71
    bare = two("strong").escalation
    assert bare is not None
    assert bare.below is None


@pytest.mark.parametrize(
    ("stronger", "settings", "said"),
    [
        ("strong:1.5", {}, "a number from 0 to 1"),
        ("strong", {"orders": "one"}, "nothing says where judge 'cheap' is unsure"),
        ("strong", {"shard": "1/2"}, "--shard"),
        ("strong", {"method": "mean"}, "no --jury"),
        ("strong", {"always_full": 2.0}, "a share from 0 to 1"),
    ],
)
def test_what_cannot_be_escalated_is_refused(
    engines: Engines, stronger: str, settings: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        two(stronger, **settings)


def test_names_with_colons_are_names() -> None:
    assert read_escalation("openai:qwen2.5:0.5b") == ("openai:qwen2.5:0.5b", None)


def test_a_stronger_judge_without_a_winner_leaves_none() -> None:
    first = Verdict(case_id="1", judge="x", winner="a", winners=("a", "b"), consistent=False)
    silent = Verdict(case_id="1", judge="y", n_unreadable=1, rule="incomplete")
    assert wants_stronger(first, None)
    found = escalated_verdict(first, silent, ("cheap", "strong"), None)
    assert (found.winner, found.decided_by, found.n_unreadable) == (None, "strong", 1)
