"""Shards of a run without a cluster: their folders, their errors, their progress, their merge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autoj.cluster import shard_runs, worker
from autoj.cluster.shard_runs import ShardProgress, open_shards
from autoj.cluster.worker import ShardError, judge_shard
from autoj.datasets import open_cases
from autoj.datasets.base import Cases
from autoj.errors import ConfigError, DataError, RunBusy, SpecMismatch
from autoj.jsonl import read_records, whole_lines
from autoj.records import Request
from autoj.runs import RunSpec, make_spec
from autoj.runs.budget import Budget
from autoj.runs.ledger import RecordedAnswer
from autoj.runs.place import is_locked, locked
from autoj.tasks.judge import judge
from autoj.tasks.run import Run

from ..scripted import CARD, Recorder, by_hash


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """The engine of every shard."""
    backend = Recorder()
    monkeypatch.setattr("autoj.tasks.judge.load_engine", lambda card, watch: backend)
    return backend


def lines_of(path: Path) -> list[bytes]:
    return sorted(whole_lines(path))


def judged(cases: Cases, spec: RunSpec, out: Path, n_shards: int) -> Run:
    with open_shards(cases, spec, out, n_shards) as shards:
        assert {judge_shard(cases, shard) for shard in shards.runs} == {"judged"}
        return shards.merge()


def test_shards_merge_to_what_one_process_judges(
    pairs_file: Path, tmp_path: Path, scripted: Recorder
) -> None:
    cases, spec = open_cases(pairs_file), make_spec("judge", CARD)
    with open_shards(cases, spec, tmp_path / "many", 9) as shards:
        progress = ShardProgress(shards)
        assert [progress.counted(run) for run in shards.runs] == [0] * 8
        # Seven distinct cases in eight parts, so that one shard has none.
        assert sorted(map(shards.n_questions, shards.runs)) == [0, *[2] * 7]
        assert {judge_shard(cases, shard) for shard in shards.runs} == {"judged"}
        # Two cases share the answer to one order, which is asked once.
        assert sum(map(progress.counted, shards.runs)) == len(scripted.asked) == 2 * 7 - 1
        merged = shards.merge()
    one = judge(cases, spec, tmp_path / "one", backend=Recorder())
    for name in ("ledger.jsonl", "verdicts.jsonl", "plan.jsonl"):
        assert lines_of(merged.path / name) == lines_of(one.path / name)


def test_the_shards_that_have_ended_say_how_many_second_orders_are_saved(
    pairs_file: Path, tmp_path: Path, scripted: Recorder
) -> None:
    cases = open_cases(pairs_file)
    spec = make_spec("judge", CARD, second_order="unsure:0.7", always_full=0.25)
    with open_shards(cases, spec, tmp_path / "many", 2) as shards:
        progress = ShardProgress(shards)
        assert progress.share_asked([]) == 1.25 / 2
        assert judge_shard(cases, shards.runs[0]) == "judged"
        n_lines = len(lines_of(shards.runs[0].path / "ledger.jsonl"))
        n_most = shards.n_questions(shards.runs[0])
        assert progress.share_asked(shards.runs[:1]) == n_lines / n_most < 1


@pytest.mark.parametrize("n_shards", [2, 3])
def test_shards_ask_the_second_orders_that_they_lack(
    pairs_file: Path, tmp_path: Path, scripted: Recorder, n_shards: int
) -> None:
    cases = open_cases(pairs_file)
    few = make_spec("judge", CARD, second_order="unsure:0.7", always_full=0)
    judged(cases, few, tmp_path / "many", 2)
    n_before = len(scripted.asked)
    judged(cases, make_spec("judge", CARD), tmp_path / "many", n_shards)
    assert n_before < len(scripted.asked) == 2 * 7 - 1


def test_a_second_start_asks_nothing_with_another_number_of_shards_neither(
    pairs_file: Path, tmp_path: Path, scripted: Recorder
) -> None:
    cases, spec = open_cases(pairs_file), make_spec("judge", CARD)
    for n_shards in (2, 2, 3, 2):
        run = judged(cases, spec, tmp_path / "many", n_shards)
        assert (run.n_judged, run.counts.n_failed) == (8, 0)
    assert len(scripted.asked) == 2 * 7 - 1


def test_what_other_shards_have_answered_is_not_asked_again(
    pairs_file: Path, tmp_path: Path, scripted: Recorder
) -> None:
    cases, spec = open_cases(pairs_file), make_spec("judge", CARD)
    with open_shards(cases, spec, tmp_path / "many", 2) as shards:
        # One is finished, the other was left in the middle.
        assert judge_shard(cases, shards.runs[0]) == "judged"
        budget = Budget(max_requests=3)
        judge(cases, shards.runs[1].spec, shards.runs[1].path, budget=budget)
        left = shards.runs[1].path
    n_before = len(scripted.asked)
    with open_shards(cases, spec, tmp_path / "many", 3) as shards:
        assert [run.known for run in shards.runs] == [(), (left,), (left,), (left,)]
        assert {judge_shard(cases, shard) for shard in shards.runs} == {"judged"}
        assert shards.merge().n_judged == 8
    keys = [request.key for request in scripted.asked]
    assert len(keys) == len({*keys}) == 2 * 7 - 1 > n_before
    answers = [*read_records(tmp_path / "many" / "ledger.jsonl", RecordedAnswer)]
    # Each was paid for by this run, whichever of its shards asked.
    assert not any(answer.reused for answer in answers)


def test_a_shard_gives_up_its_rest_and_its_pieces_ask_only_that(
    pairs_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases, spec = open_cases(pairs_file), make_spec("judge", CARD)
    monkeypatch.setattr(worker, "_LOOK_SECONDS", 0.0)
    with open_shards(cases, spec, tmp_path / "many", 2) as shards:
        slow = max(shards.runs, key=shards.n_questions)

        def answer(request: Request) -> str:
            if len(backend.asked) == 3:
                slow.give_up.touch()
            return by_hash(request)

        backend = Recorder(answer)
        monkeypatch.setattr("autoj.tasks.judge.load_engine", lambda card, watch: backend)
        assert judge_shard(cases, slow) == "given up"
        n_asked = len(backend.asked)
        pieces = shards.split(slow, 2)
        assert len(pieces) == 2
        assert {piece.known for piece in pieces} == {(slow.path,)}
        assert slow.name not in {run.name for run in shards.runs}
        assert {judge_shard(cases, shard) for shard in shards.runs} == {"judged"}
        assert shards.merge().n_judged == 8
    keys = [request.key for request in backend.asked]
    assert n_asked < 8
    # One answer may have been in flight when the shard was stopped.
    assert len(keys) - len({*keys}) <= 1
    assert len({*keys}) == 2 * 7 - 1


def test_shards_of_equal_rows_from_before_are_taken_up(
    pairs_file: Path, tmp_path: Path, scripted: Recorder
) -> None:
    cases, spec = open_cases(pairs_file), make_spec("judge", CARD)
    judge(cases, replace(spec, shard="1/2"), tmp_path / "many-shards" / "1-of-2")
    n_before = len(scripted.asked)
    assert judged(cases, spec, tmp_path / "many", 2).n_judged == 8
    keys = [request.key for request in scripted.asked]
    assert len(keys) == len({*keys}) == 2 * 7 - 1 > n_before > 0


@pytest.mark.parametrize("n_shards", [2, 3])
def test_a_shard_that_a_worker_of_before_still_judges_is_not_dealt_out_again(
    pairs_file: Path, tmp_path: Path, scripted: Recorder, n_shards: int
) -> None:
    cases, spec = open_cases(pairs_file), make_spec("judge", CARD)
    with open_shards(cases, spec, tmp_path / "many", 2) as shards:
        left = shards.runs[1]
        judge(cases, left.spec, left.path, budget=Budget(max_requests=3))
    with (
        locked(left.path),
        pytest.raises(RunBusy, match="2-of-2 is being written by process"),
        open_shards(cases, spec, tmp_path / "many", n_shards),
    ):
        pass
    # A worker that was killed leaves its name, and no lock.
    (left.path / "holder.json").write_bytes(b"{}")
    with open_shards(cases, spec, tmp_path / "many", n_shards):
        assert not is_locked(left.path), "it would seem to be at work"
    assert judged(cases, spec, tmp_path / "many", n_shards).n_judged == 8
    keys = [request.key for request in scripted.asked]
    assert len(keys) == len({*keys})


def test_two_drivers_do_not_share_a_run(pairs_file: Path, tmp_path: Path) -> None:
    cases, spec = open_cases(pairs_file), make_spec("judge", CARD)
    with (
        open_shards(cases, spec, tmp_path / "many", 2),
        pytest.raises(RunBusy),
        open_shards(cases, spec, tmp_path / "many", 3),
    ):
        pass


def test_shards_of_other_settings_are_refused(
    pairs_file: Path, tmp_path: Path, scripted: Recorder
) -> None:
    cases, spec = open_cases(pairs_file), make_spec("judge", CARD)
    judged(cases, spec, tmp_path / "many", 2)
    other = make_spec("judge", CARD, orders="one")
    with (
        pytest.raises(SpecMismatch, match="orders: was 'both'"),
        open_shards(cases, other, tmp_path / "many", 3),
    ):
        pass


def test_rows_that_are_added_later_join_the_shards(
    pairs_file: Path, tmp_path: Path, scripted: Recorder
) -> None:
    data = tmp_path / "pairs.jsonl"
    lines = pairs_file.read_bytes().splitlines(keepends=True)
    data.write_bytes(b"".join(lines[:5]))
    spec = make_spec("judge", CARD)
    judged(open_cases(data), spec, tmp_path / "many", 2)
    data.write_bytes(b"".join(lines))
    assert judged(open_cases(data), spec, tmp_path / "many", 2).n_judged == 8
    assert len(scripted.asked) == 2 * 7 - 1


def test_bad_rows_leave_no_folder(tmp_path: Path) -> None:
    data = tmp_path / "bad.jsonl"
    data.write_text('{"query": "q", "responses": ["one", "two"]}\n{"query": 1}\n')
    spec = make_spec("judge", CARD)
    with pytest.raises(DataError), open_shards(open_cases(data), spec, tmp_path / "many", 2):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["bad.jsonl"]


def test_a_workers_error_keeps_its_advice(pairs_file: Path, tmp_path: Path) -> None:
    card = replace(CARD, backend="scripted", model=str(tmp_path / "none"))
    cases, spec = open_cases(pairs_file), make_spec("judge", card)
    with open_shards(cases, spec, tmp_path / "many", 2) as shards:
        error = judge_shard(cases, shards.runs[0])
    assert isinstance(error, ShardError)
    assert (error.shard, error.of_user) == ("1-of-2", True)
    assert error.message
    assert error.hint is None or error.hint not in error.message


def refused(cases: Cases, spec: RunSpec, out: Path, n_shards: int, why: str) -> None:
    with pytest.raises(ConfigError, match=why), open_shards(cases, spec, out, n_shards):
        pass


def test_what_cannot_be_dealt_out_is_refused(pairs_file: Path, tmp_path: Path) -> None:
    cases, spec, out = open_cases(pairs_file), make_spec("judge", CARD), tmp_path / "out"
    refused(cases, replace(spec, shard="1/2"), out, 4, "shard 1/2 cannot be dealt out")
    for n in (1, shard_runs.MOST_SHARDS + 1):
        refused(cases, spec, out, n, "2 to 100,000 shards")
    judge(cases, spec, out, backend=Recorder())
    refused(cases, spec, out, 4, r"its shards, .*out-shards, are not")
