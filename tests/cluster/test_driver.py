"""The driver of a cluster's tasks, with threads in place of Ray."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autoj.cluster import ray as driver
from autoj.cluster import worker
from autoj.cluster.shard_runs import ShardProgress, ShardRuns, open_shards
from autoj.datasets.base import Cases, cases_of
from autoj.errors import BackendError, Cancelled, Unavailable
from autoj.jsonl import whole_lines
from autoj.records import Case, Request, Response
from autoj.runs import make_spec
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.judge import judge

from ..scripted import CARD, Recorder, by_hash


class Threads:
    """What the driver uses of Ray, with threads for workers."""

    exceptions = SimpleNamespace(RayError=OSError)

    def __init__(self, n_workers: int) -> None:
        self._pool = ThreadPoolExecutor(n_workers)
        self._free = n_workers
        self._begun: list[Future[Any]] = []

    def put(self, value: Any) -> Any:
        return value

    def remote(self, **needs: float) -> Callable[[Any], Any]:
        return lambda work: SimpleNamespace(remote=lambda *given: self._begin(work, given))

    def _begin(self, work: Any, given: Sequence[Any]) -> Future[Any]:
        self._begun.append(self._pool.submit(work, *given))
        return self._begun[-1]

    def wait(self, tasks: list[Future[Any]], timeout: float) -> tuple[list[Any], list[Any]]:
        done, pending = wait(tasks, timeout, FIRST_COMPLETED)
        return list(done), list(pending)

    def get(self, task: Future[Any]) -> Any:
        return task.result()

    def cancel(self, task: Future[Any], force: bool) -> None:
        task.cancel()

    def available_resources(self) -> dict[str, float]:
        return {"CPU": self._free - sum(not task.done() for task in self._begun)}


class Noted(Watch):
    """Keeps the progress."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def progress(self, what: str, n_done: int, n_total: int) -> None:
        self.seen.append((n_done, n_total))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for a clock."""
    monkeypatch.setattr(driver, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(driver, "_LEAST_LEFT_SECONDS", 0.0)
    monkeypatch.setattr(driver, "_STARTS_LEFT", 0)
    monkeypatch.setattr(worker, "_LOOK_SECONDS", 0.0)


@pytest.fixture
def cases() -> Cases:
    return cases_of(
        Case(
            id=str(number),
            query=f"query {number:02}",
            responses=(Response(text="one"), Response(text="two")),
            cluster=str(number),
        )
        for number in range(24)
    )


def wait_for(ready: Callable[[], bool]) -> None:
    """Waits for another thread, which must not be missed."""
    until = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < until, "what was waited for did not come"
        time.sleep(0.001)


def run(shards: ShardRuns, cases: Cases, watch: Watch = SILENT, n_workers: int = 2) -> None:
    driver._Driver(Threads(n_workers), cases, shards, {"CPU": 1, "GPU": 0}, watch).run()


def test_a_straggler_gives_up_its_rest_while_a_worker_is_idle(
    cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, watch = make_spec("judge", CARD), Noted()
    with open_shards(cases, spec, tmp_path / "many", 2) as shards:
        slow = shards.runs[0]
        n_slow = 0

        def answer(request: Request) -> Any:
            # Cases are dealt in turn where their texts are equally long.
            nonlocal n_slow
            if int(request.case_id) % 2 == 0:
                n_slow += 1
                n_looks = len(watch.seen)
                # A pace is known from two looks on; on a busy machine answers come before them.
                wait_for(lambda: n_slow != 1 or len(watch.seen) > n_looks + 1)
                wait_for(lambda: n_slow != 6 or slow.give_up.exists())
            return by_hash(request)

        backend = Recorder(answer)
        monkeypatch.setattr("autoj.tasks.judge.load_engine", lambda card, watch: backend)
        run(shards, cases, watch)
        names = {its.name for its in shards.runs}
        merged = shards.merge()
    assert {"1-of-2-1", "1-of-2-2"} <= names | {
        path.parent.name for path in (tmp_path / "many-shards").glob("*/run.json")
    }
    assert "1-of-2" not in names
    keys = [request.key for request in backend.asked]
    assert len({*keys}) == 48
    assert not list((tmp_path / "many-shards").glob("*.give-up"))
    assert watch.seen[-1] == (48, 48)
    one = judge(cases, spec, tmp_path / "one", backend=Recorder())
    verdicts = [sorted(whole_lines(its.path / "verdicts.jsonl")) for its in (merged, one)]
    assert verdicts[0] == verdicts[1]


def test_an_engines_failure_ends_the_run_and_names_its_shard(
    cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: Request) -> Any:
        raise BackendError("the model is broken", retryable=False)

    monkeypatch.setattr("autoj.tasks.judge.load_engine", lambda card, watch: Recorder(answer))
    with (
        open_shards(cases, make_spec("judge", CARD), tmp_path / "many", 2) as shards,
        pytest.raises(Unavailable, match=r"shard [12]-of-2: the model is broken"),
    ):
        run(shards, cases)


def test_a_worker_that_is_lost_for_good_ends_the_run(
    cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(cases: Cases, shard: Any) -> Any:
        raise Threads.exceptions.RayError("the worker died")

    monkeypatch.setattr(driver, "judge_shard", lost)
    with (
        open_shards(cases, make_spec("judge", CARD), tmp_path / "many", 2) as shards,
        pytest.raises(Unavailable, match=r"shard [12]-of-2 was lost: its worker died 4 times"),
    ):
        run(shards, cases)


def test_a_run_can_be_cancelled(cases: Cases, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("autoj.tasks.judge.load_engine", lambda card, watch: Recorder())
    watch = SimpleNamespace(cancelled=lambda: True)
    with (
        open_shards(cases, make_spec("judge", CARD), tmp_path / "many", 2) as shards,
        pytest.raises(Cancelled),
    ):
        run(shards, cases, watch)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("backend", "n_gpus", "expected"),
    [("hf", 4, 1), ("hf", 0, 0), ("openai", 4, 0), ("vllm", 1, 1)],
)
def test_an_engine_of_the_worker_gets_a_gpu_and_a_server_none(
    backend: str, n_gpus: float, expected: float
) -> None:
    cluster: Any = SimpleNamespace(cluster_resources=lambda: {"CPU": 8, "GPU": n_gpus})
    assert driver._gpus_of(replace(CARD, backend=backend), cluster) == expected


def test_a_shard_is_behind_only_where_splitting_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_LEAST_LEFT_SECONDS", 30.0)
    monkeypatch.setattr(driver, "_STARTS_LEFT", 4)
    pace = driver._Pace(100.0, 0)
    # Nothing answered yet: its engine may be loading.
    assert pace.seconds_left(0, 1000, 110.0) is None
    # Ten answers in twenty seconds: 1,980 seconds to go.
    assert pace.seconds_left(10, 1000, 120.0) == 1980
    assert pace.seconds_left(990, 1000, 1000.0) is None
    # It took its worker 20 seconds to begin; another would take as long.
    assert pace.seconds_left(500, 570, 600.0) is None
    assert pace.seconds_left(500, 600, 600.0) == 100


@pytest.mark.parametrize("n_ended", [0, 1])
def test_a_shard_is_not_behind_by_second_orders_that_are_saved(
    cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_ended: int
) -> None:
    monkeypatch.setattr("autoj.tasks.judge.load_engine", lambda card, watch: Recorder())
    monkeypatch.setattr(driver, "is_locked", lambda path: True)
    # No first order is unsure, and no pair is drawn.
    spec = make_spec("judge", CARD, second_order="unsure:0", always_full=0)
    watch = Noted()
    with open_shards(cases, spec, tmp_path / "many", 2) as shards:
        assert {worker.judge_shard(cases, shard) for shard in shards.runs} == {"judged"}
        following = driver._Driver(Threads(4), cases, shards, {"CPU": 1}, watch)
        # Their workers are about to end.
        open_runs = shards.runs[n_ended:]
        following.tasks = {object(): each for each in open_runs}
        following.paces = {each.name: driver._Pace(time.monotonic() - 9, 0) for each in open_runs}
        following._look(ShardProgress(shards))
        assert not any(each.give_up.exists() for each in shards.runs)
    assert watch.seen == [(24, 24)]


def test_a_cluster_that_does_not_come_up_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(address: str, **settings: Any) -> None:
        raise ConnectionError("timed out")

    fake = SimpleNamespace(init=init, is_initialized=lambda: False)
    for address, what in (("local", "could be started here"), ("ray://head:1", "'ray://head:1'")):
        monkeypatch.setenv("RAY_ADDRESS", address)
        with pytest.raises(Unavailable, match=f"{what}.*: timed out"), driver._connected(fake):
            pass
