"""Runs that ask the second order only where the first is unsure: what they ask, and when."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from autoj.backends.scripted import ScriptedBackend
from autoj.datasets import open_cases
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.jsonl import whole_lines, write_records
from autoj.records import BudgetedVerdict, Failure, Request, Verdict
from autoj.runs import RunFolder, RunSpec, is_finished, judge_cases, make_spec, merge_runs
from autoj.runs.budget import Budget
from autoj.runs.second_order import is_drawn
from autoj.tasks.check import are_whole, check_folders
from autoj.tasks.default_paths import run_folder
from autoj.tasks.judge import judge
from autoj.tasks.plan import plan_run

from ..scripted import CARD, Killed, Recorder, by_hash
from .test_kill_points import ALL, QUICK, check_points, state

BELOW = 0.7


@pytest.fixture
def many(tmp_path: Path) -> Cases:
    """Forty pairs, of which about half are sure in the first order, and a tenth is drawn."""
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


def spec_of(second_order: str | None = f"unsure:{BELOW}", **settings: object) -> RunSpec:
    return make_spec("judge", CARD, second_order=second_order, **settings)  # type: ignore[arg-type]


def judged(
    path: Path, cases: Cases, spec: RunSpec, engine: Recorder | None = None, **more: object
) -> tuple[list[Verdict], Recorder]:
    engine = engine or Recorder()
    judge(cases, spec, path, backend=engine, **more)  # type: ignore[arg-type]
    return list(RunFolder.existing(path).verdicts()), engine


def keys(engine: Recorder) -> list[str]:
    return [request.key for request in engine.asked]


def test_the_second_order_is_asked_where_the_first_is_unsure_or_the_pair_is_drawn(
    tmp_path: Path, many: Cases
) -> None:
    full, everything = judged(tmp_path / "full", many, spec_of(None))
    found, asked = judged(tmp_path / "run", many, spec_of(always_full=0.3))
    assert max(Counter(keys(asked)).values()) == 1
    assert set(keys(asked)) < set(keys(everything))
    pages = Counter((request.case_id, request.shown) for request in asked.asked)
    first = {
        request.case_id: by_hash(request) for request in everything.asked if request.shown == (0, 1)
    }
    kinds: Counter[tuple[bool, bool]] = Counter()
    for verdict, whole in zip(found, full, strict=True):
        assert isinstance(verdict, BudgetedVerdict)
        weights = [math.exp(float(value)) for value in first[verdict.case_id]]
        confidence = max(weights) / sum(weights)
        drawn = is_drawn(verdict.case_id, 0.3)
        assert verdict.first_confidence == pytest.approx(confidence)
        assert verdict.first_sure == (confidence >= BELOW)
        assert verdict.drawn == drawn
        assert verdict.n_orders == (2 if drawn or confidence < BELOW else 1)
        assert pages[verdict.case_id, (1, 0)] == verdict.n_orders - 1
        assert pages[verdict.case_id, (0, 1)] == 1
        kinds[verdict.first_sure, drawn] += 1
        if verdict.n_orders == 2:
            assert (verdict.winner, verdict.rule) == (whole.winner, whole.rule)
        else:
            assert (verdict.winner, verdict.consistent) == (whole.winners[0], None)
            assert verdict.rule == "one order"
    assert len(kinds) == 4, "the data must hold all four kinds of pairs"
    assert are_whole(check_folders(tmp_path / "run"))


@pytest.mark.parametrize("critique", [False, True])
def test_a_run_that_dies_anywhere_asks_nothing_twice(
    tmp_path: Path, cases: Cases, critique: bool
) -> None:
    spec = spec_of(critique=critique, always_full=0.3)
    _, whole = judged(tmp_path / "whole", cases, spec)
    wanted = state(tmp_path / "whole")
    for k in range(len(whole.asked)):
        path, dying = tmp_path / f"died-{k}", Recorder(dies_after=k)
        with pytest.raises(Killed):
            judged(path, cases, spec, dying)
        _, rest = judged(path, cases, spec)
        assert sorted(keys(dying) + keys(rest)) == sorted(keys(whole))
        assert state(path) == wanted
        _, again = judged(path, cases, spec)
        assert again.asked == []


def judging(pairs_file: Path) -> Callable[[Path], object]:
    spec = spec_of(critique=True, always_full=0.3)
    return lambda path: judge(open_cases(pairs_file), spec, path, backend=Recorder())


def test_a_run_that_ended_at_a_call_goes_on(tmp_path: Path, pairs_file: Path) -> None:
    work = judging(pairs_file)
    assert check_points(tmp_path, work, QUICK, work) == len(QUICK)


@pytest.mark.slow
def test_a_run_that_ended_at_any_call_goes_on(tmp_path: Path, pairs_file: Path) -> None:
    work = judging(pairs_file)
    assert check_points(tmp_path, work, ALL, work) > 60


def test_a_later_run_without_the_flag_asks_the_missing_orders_alone(
    tmp_path: Path, many: Cases
) -> None:
    _, everything = judged(tmp_path / "full", many, spec_of(None))
    path = tmp_path / "run"
    _, some = judged(path, many, spec_of())
    assert b"second_order" in (path / "run.json").read_bytes()
    _, rest = judged(path, many, spec_of(None))
    assert len(some.asked) + len(rest.asked) == len(everything.asked)
    assert set(keys(some)) | set(keys(rest)) == set(keys(everything))
    assert {request.shown for request in rest.asked} == {(1, 0)}
    assert state(path) == state(tmp_path / "full")
    assert b"second_order" not in (path / "run.json").read_bytes()


def test_the_default_folder_is_the_same_with_and_without_the_flag(many: Cases) -> None:
    assert run_folder(spec_of(), many) == run_folder(spec_of(None), many)


def test_another_threshold_asks_what_it_lacks(tmp_path: Path, many: Cases) -> None:
    _, low = judged(tmp_path / "run", many, spec_of("unsure:0.6"))
    _, high = judged(tmp_path / "run", many, spec_of("unsure:0.8"))
    judged(tmp_path / "high", many, spec_of("unsure:0.8"))
    assert low.asked
    assert high.asked
    assert not set(keys(low)) & set(keys(high))
    assert state(tmp_path / "run") == state(tmp_path / "high")


def test_a_run_in_both_orders_may_be_read_as_if_fewer_had_been_asked(
    tmp_path: Path, many: Cases, caplog: pytest.LogCaptureFixture
) -> None:
    judged(tmp_path / "some", many, spec_of())
    judged(tmp_path / "run", many, spec_of(None))
    found, asked = judged(tmp_path / "run", many, spec_of())
    assert asked.asked == []
    assert "no longer count" in caplog.text
    assert found == list(RunFolder.existing(tmp_path / "some").verdicts())
    assert is_finished(RunFolder.existing(tmp_path / "run"), spec_of())


def test_a_run_that_grows_asks_of_the_new_pairs_alone(tmp_path: Path, many: Cases) -> None:
    _, some = judged(tmp_path / "run", many, spec_of(limit=25))
    _, rest = judged(tmp_path / "run", many, spec_of())
    judged(tmp_path / "whole", many, spec_of())
    assert not set(keys(some)) & set(keys(rest))
    assert state(tmp_path / "run") == state(tmp_path / "whole")


def test_a_cap_on_requests_stops_it_and_a_higher_one_goes_on(tmp_path: Path, many: Cases) -> None:
    whole, everything = judged(tmp_path / "whole", many, spec_of())
    asked = []
    for cap in (5, 42, 50, 1000):
        found, engine = judged(tmp_path / "run", many, spec_of(), budget=Budget(None, cap))
        asked += keys(engine)
        assert len(asked) == min(cap, len(everything.asked))
    assert found == whole
    assert state(tmp_path / "run") == state(tmp_path / "whole")


def test_a_cap_that_ends_a_change_to_fewer_second_orders_leaves_a_whole_plan(
    tmp_path: Path, many: Cases
) -> None:
    judged(tmp_path / "run", many, spec_of(None), budget=Budget(None, 30))
    judged(tmp_path / "run", many, spec_of(), budget=Budget(None, 45))
    assert are_whole(check_folders(tmp_path / "run"))
    judged(tmp_path / "run", many, spec_of())
    whole, _ = judged(tmp_path / "whole", many, spec_of())
    assert list(RunFolder.existing(tmp_path / "run").verdicts()) == whole
    for name in ("plan.jsonl", "verdicts.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_first_order_that_fails_is_asked_once_a_session(tmp_path: Path, many: Cases) -> None:
    def failing(request: Request) -> str | tuple[float, ...] | Failure:
        if request.case_id == "case-7":
            return Failure(
                key=request.key, error="Refused", message="no", retryable=False, attempts=1
            )
        return by_hash(request)

    assert not is_drawn("case-7", 0.1)
    found, engine = judged(tmp_path / "run", many, spec_of(), Recorder(failing))
    assert Counter(request.case_id for request in engine.asked)["case-7"] == 1
    (failed,) = (verdict for verdict in found if verdict.n_failed)
    assert (failed.case_id, failed.winner, failed.rule) == ("case-7", None, "incomplete")
    _, again = judged(tmp_path / "run", many, spec_of())
    assert {request.case_id for request in again.asked} == {"case-7"}
    judged(tmp_path / "whole", many, spec_of())
    assert state(tmp_path / "run") == state(tmp_path / "whole")


def test_shards_are_merged_to_the_whole_run(tmp_path: Path, many: Cases) -> None:
    judged(tmp_path / "whole", many, spec_of())
    parts = []
    for number in (1, 2):
        parts.append(tmp_path / f"part-{number}")
        judged(parts[-1], many, spec_of(shard=f"{number}/2"))
    merge_runs(parts, tmp_path / "merged")
    _, again = judged(tmp_path / "merged", many, spec_of())
    assert again.asked == []
    names = ("verdicts.jsonl", "plan.jsonl")
    for name in names:
        assert (tmp_path / "merged" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    lines = [sorted(whole_lines(tmp_path / run / "ledger.jsonl")) for run in ("merged", "whole")]
    assert lines[0] == lines[1]
    judged(tmp_path / "other", many, spec_of("unsure:0.8", shard="1/2"))
    with pytest.raises(ConfigError, match="second_order"):
        merge_runs([parts[1], tmp_path / "other"], tmp_path / "mixed")


def test_in_memory_it_is_the_same(tmp_path: Path, many: Cases) -> None:
    found, asked = judged(tmp_path / "run", many, spec_of())
    engine = Recorder()
    cases = [case for _, case in many.read()]
    assert list(judge_cases(cases, spec_of(), engine)) == found  # type: ignore[arg-type]
    assert sorted(keys(engine)) == sorted(keys(asked))


def test_the_plan_counts_all_second_orders_as_the_most(
    tmp_path: Path, many: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autoj.tasks.plan.load_engine", lambda *_: ScriptedBackend(CARD, by_hash))
    found = plan_run(many, spec_of(), tmp_path / "run")
    assert (found.is_most, found.n_requests) == (True, 80)
    assert not plan_run(many, spec_of(None), tmp_path / "other").is_most


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"second_order": "often"}, "is not known"),
        ({"second_order": "unsure:high"}, "a number from 0 to 1"),
        ({"second_order": "unsure:nan"}, "a number from 0 to 1"),
        ({"second_order": "unsure:1.5"}, "a number from 0 to 1"),
        ({"second_order": "unsure"}, "says nothing of unsure verdicts"),
        ({"second_order": "unsure:0.5", "always_full": 1.5}, "a share from 0 to 1"),
        ({"second_order": "unsure:0.5", "orders": "one"}, "one order alone"),
        ({"second_order": "unsure:0.5", "protocol": "pairwise"}, "gives none"),
        ({"always_full": 0.2}, "neither is given"),
    ],
)
def test_settings_that_save_nothing_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        make_spec("judge", CARD, **settings)  # type: ignore[arg-type]


def test_the_draw_is_of_the_share_and_grows_with_it() -> None:
    ids = [f"line-{number}" for number in range(5000)]
    tenth = {case_id for case_id in ids if is_drawn(case_id, 0.1)}
    assert 420 < len(tenth) < 580
    assert tenth < {case_id for case_id in ids if is_drawn(case_id, 0.2)}
    assert not any(is_drawn(case_id, 0) for case_id in ids)
    assert all(is_drawn(case_id, 1) for case_id in ids)


def test_a_killed_change_to_saved_second_orders_leaves_no_verdicts_of_another_kind(tmp_path, many):
    path = tmp_path / "run"
    judged(path, many, spec_of(None, limit=20))
    with pytest.raises(Killed):
        judge(many, spec_of(limit=40), path, backend=Recorder(dies_after=0))
    assert not (path / "verdicts.jsonl").exists()
    verdicts, _ = judged(path, many, spec_of(limit=40))
    assert len(verdicts) == 40
    assert all(isinstance(verdict, BudgetedVerdict) for verdict in verdicts)
