"""Shards in an object store, with threads in place of Ray's workers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fsspec", reason="the extra `stores` is not installed")

import fsspec

from autoj.cluster import ray as driver
from autoj.cluster import worker
from autoj.cluster.shard_runs import ShardRuns
from autoj.cluster.stored_shards import shared_shards
from autoj.cluster.worker import ShardOutcome, ShardRun, judge_shard
from autoj.datasets.base import Cases, cases_of
from autoj.errors import DataError, RunBusy
from autoj.jsonl import whole_lines
from autoj.records import Case, Request, Response
from autoj.runs import make_spec, merge_runs
from autoj.runs.stores import ownership
from autoj.runs.stores import stored_run as session
from autoj.runs.stores.address import StoreAddress
from autoj.runs.stores.fetching import fetched_runs
from autoj.runs.stores.manifest import Writer, commit, read_manifest
from autoj.runs.stores.objects import Objects
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.judge import judge
from autoj.tasks.run import Run

from ..scripted import CARD, Killed, Recorder, by_hash
from .test_driver import Threads

OUT = StoreAddress.parse("memory:///bucket/runs/whole")
SHARDS = OUT.beside("-shards")


@pytest.fixture(autouse=True)
def at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Nothing waits for long, and nothing is written outside the test's folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(session, "SYNC_SECONDS", 0.02)
    monkeypatch.setattr(ownership, "_LEAST_DEAD_SECONDS", 0.5)
    monkeypatch.setattr(driver, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(worker, "_LOOK_SECONDS", 0.0)
    # Files in fsspec's memory have one position for all threads, unlike those of any store.
    one_at_a_time = threading.RLock()
    for name in ("names", "copy_to", "write", "create", "remove"):
        monkeypatch.setattr(Objects, name, under(one_at_a_time, getattr(Objects, name)))
    yield
    fsspec.filesystem("memory").store.clear()


def under(lock: AbstractContextManager[Any], call: Callable[..., Any]) -> Callable[..., Any]:
    def locked(*given: Any) -> Any:
        with lock:
            return call(*given)

    return locked


@pytest.fixture
def cases() -> Cases:
    """Ids and texts that would lead elsewhere if names were made of them."""
    return cases_of(
        Case(
            id=f"../../{number}/\x00é*",
            query=f"query {number:02} s3://other/../x",
            responses=(Response(text="one"), Response(text="two")),
            cluster=str(number),
        )
        for number in range(24)
    )


def answered_by(answer: Any, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    backend = Recorder(answer)
    monkeypatch.setattr("autoj.tasks.judge.load_engine", lambda card, watch: backend)
    return backend


def run_on(cases: Cases, n_shards: int) -> Run:
    spec = make_spec("judge", CARD)
    with shared_shards(cases, spec, OUT, n_shards, SILENT) as (shards, fetch, watch):
        drive(shards, cases, watch)
        fetch()
        return shards.merge()


def drive(shards: ShardRuns, cases: Cases, watch: Watch = SILENT) -> None:
    driver._Driver(Threads(2), cases, shards, {"CPU": 1, "GPU": 0}, watch).run()


def lines_of(run: Run, name: str) -> list[bytes]:
    return sorted(whole_lines(run.path / name))


def test_they_merge_to_what_one_process_judges(
    cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = answered_by(by_hash, monkeypatch)
    merged = run_on(cases, 3)
    assert merged.path == tmp_path / "runs" / f"whole-{OUT.digest}"
    one = judge(cases, make_spec("judge", CARD), tmp_path / "one", backend=Recorder())
    for name in ("ledger.jsonl", "verdicts.jsonl", "plan.jsonl"):
        assert lines_of(merged, name) == lines_of(one, name)
    assert len(backend.asked) == 48
    for path in fsspec.filesystem("memory").store:
        assert path.startswith("/bucket/runs/whole-shards/"), "no name is made of a case"
        assert ".." not in path
    assert all(read_manifest(Objects(SHARDS / f"{n}-of-3")).writer is None for n in (1, 2, 3))


def test_a_driver_on_another_machine_goes_on(
    cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = answered_by(by_hash, monkeypatch)
    run_on(cases, 3)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "other" / "cache"))
    for n_shards in (3, 4):
        merged = run_on(cases, n_shards)
        assert merged.path.is_relative_to(tmp_path / "other")
        assert merged.n_judged == 24
    assert len(backend.asked) == 48
    runs = fetched_runs(SHARDS)
    assert [run.name for run in runs] == ["1-of-3", "2-of-3", "3-of-3"]
    assert merge_runs(runs, tmp_path / "again").n_answers == 48


def lose_a_worker(
    shard: ShardRun, cases: Cases, monkeypatch: pytest.MonkeyPatch, backend: Recorder
) -> None:
    """A worker whose machine is lost after some answers, of which some were stored."""

    def answer(request: Request) -> Any:
        if len(backend.asked) == 9:
            raise Killed
        if len(backend.asked) == 6:
            found = Objects(SHARDS / shard.name)
            until = time.monotonic() + 60
            while not any(name.startswith("ledger") for name in found.names()):
                assert time.monotonic() < until
                time.sleep(0.01)
            patch.setattr(session._Session, "sync", lambda its: None)
        return by_hash(request)

    with monkeypatch.context() as patch:
        patch.setattr(backend, "_answer", answer)
        patch.setattr(session._Session, "finish", lambda its: None)
        with pytest.raises(Killed):
            judge_shard(cases, shard)


def test_a_lost_workers_successor_asks_what_was_not_stored(
    cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = answered_by(by_hash, monkeypatch)
    spec = make_spec("judge", CARD)
    with shared_shards(cases, spec, OUT, 2, SILENT) as (shards, fetch, _):
        lose_a_worker(shards.runs[0], cases, monkeypatch, backend)
        monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "successor"))
        drive(shards, cases)
        fetch()
        merged = shards.merge()
    keys = [request.key for request in backend.asked]
    assert len({*keys}) == 48
    assert 48 < len(keys) <= 48 + 9
    one = judge(cases, spec, tmp_path / "one", backend=Recorder())
    assert lines_of(merged, "verdicts.jsonl") == lines_of(one, "verdicts.jsonl")


def wait_for(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < until, "what was waited for did not come"
        time.sleep(0.001)


def test_a_straggler_is_told_by_way_of_the_store(
    cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "_LEAST_LEFT_SECONDS", 0.0)
    monkeypatch.setattr(driver, "_STARTS_LEFT", 0)
    address = SHARDS / "1-of-2"
    mark = worker.copies_folder() / f"1-of-2-{address.digest}.give-up"
    n_slow = 0

    def answer(request: Request) -> Any:
        nonlocal n_slow
        # Cases are dealt in turn where their texts are equally long.
        if int(request.case_id.split("/")[2]) % 2 == 0:
            n_slow += 1
            # The driver sees answers once they are stored, and its mark comes the same way.
            wait_for(lambda: n_slow != 4 or mark.exists())
        return by_hash(request)

    backend = answered_by(answer, monkeypatch)
    merged = run_on(cases, 2)
    names = {path.parent.name for path in Path("runs").glob("*-shards/*/run.json")}
    assert {"1-of-2", "2-of-2", "1-of-2-1", "1-of-2-2"} <= names
    assert len({request.key for request in backend.asked}) == 48
    one = judge(cases, make_spec("judge", CARD), tmp_path / "one", backend=Recorder())
    assert lines_of(merged, "verdicts.jsonl") == lines_of(one, "verdicts.jsonl")
    assert not [name for name in Objects(SHARDS).names() if name.endswith(".give-up")]


def test_two_drivers_do_not_share_a_run(
    cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = make_spec("judge", CARD)
    with shared_shards(cases, spec, OUT, 2, SILENT):
        monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "other"))
        with pytest.raises(RunBusy), shared_shards(cases, spec, OUT, 2, SILENT):
            pass


def test_a_driver_that_is_replaced_stops_and_says_so(
    cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: Request) -> Any:
        if not taken.is_set():
            taken.set()
            found = read_manifest(Objects(SHARDS))
            other = Writer(id="other", name="another driver", seconds=0.1)
            commit(Objects(SHARDS), replace(found, number=found.number + 100, writer=other))
        return by_hash(request)

    taken = threading.Event()
    answered_by(answer, monkeypatch)
    with pytest.raises(RunBusy, match="was taken over by another writer"):
        run_on(cases, 2)
    # Threads go on where Ray would end its workers.
    for name in ("1-of-2", "2-of-2"):
        wait_for(partial(has_ended, SHARDS / name))


def has_ended(shard: StoreAddress) -> bool:
    found = read_manifest(Objects(shard))
    return found.number > 0 and found.writer is None


def test_a_shard_that_another_worker_writes_is_its_own(
    cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered_by(by_hash, monkeypatch)
    with shared_shards(cases, make_spec("judge", CARD), OUT, 2, SILENT) as (shards, _, _):
        with session.stored_run(SHARDS / shards.runs[0].name):
            monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "other"))
            outcome: ShardOutcome = judge_shard(cases, shards.runs[0])
        assert isinstance(outcome, worker.ShardError)
        assert outcome.of_user
        assert "is being written by process" in outcome.message


def test_bad_rows_leave_nothing_in_the_store(tmp_path: Path) -> None:
    bad = Cases(format="x", paths=(), read=fail, name="x")
    with pytest.raises(DataError), shared_shards(bad, make_spec("judge", CARD), OUT, 2, SILENT):
        pass
    assert {Path(its).name[:9] for its in fsspec.filesystem("memory").store} == {"manifest-"}


def fail() -> Any:
    raise DataError("cannot be read", path="x")
