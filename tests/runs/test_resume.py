"""A run that is killed anywhere loses nothing and asks nothing twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from autoj.backends.base import OnText, Outcome
from autoj.datasets.base import Cases
from autoj.errors import StorageFull
from autoj.jsonl import read_records, whole_lines
from autoj.records import Completion, Failure, Request, ScoredCompletion
from autoj.runs import RunFolder, RunSpec, judge_run, open_run
from autoj.runs.files import digests_of
from autoj.tasks.judge import judge

from ..scripted import Killed, Recorder, by_hash

N_DISTINCT = 13  # 8 pairs in 2 orders, less 2 of the copied pair and 1 of the equal responses


def finish(path: Path, spec: RunSpec, cases: Cases, backend: Recorder) -> None:
    with open_run(path, spec, cases) as folder:
        judge_run(folder, spec, backend)


def state(path: Path) -> tuple[list[bytes], bytes]:
    """What must be the same however often a run was killed."""
    return sorted(whole_lines(path / "ledger.jsonl")), (path / "verdicts.jsonl").read_bytes()


@pytest.fixture
def whole(tmp_path: Path, cases: Cases, pair_spec: Callable[..., RunSpec]) -> Path:
    path = tmp_path / "whole"
    finish(path, pair_spec(critique=True), cases, Recorder())
    return path


def test_equal_texts_are_asked_once(tmp_path, cases, pair_spec):
    backend = Recorder()
    finish(tmp_path / "run", pair_spec(), cases, backend)
    assert len(backend.asked) == N_DISTINCT
    assert len({request.key for request in backend.asked}) == N_DISTINCT
    assert len(list(whole_lines(tmp_path / "run" / "plan.jsonl"))) == 16


def test_a_run_killed_after_any_answer_ends_as_one_that_was_not(tmp_path, cases, pair_spec, whole):
    spec = pair_spec(critique=True)
    n_answers = len(list(whole_lines(whole / "ledger.jsonl")))
    assert n_answers > N_DISTINCT  # critiques were asked for, too
    for k in range(n_answers):
        path = tmp_path / f"killed-{k}"
        first, second = Recorder(dies_after=k), Recorder()
        with pytest.raises(Killed):
            finish(path, spec, cases, first)
        assert len(list(whole_lines(path / "ledger.jsonl"))) == k
        finish(path, spec, cases, second)
        assert len(second.asked) == n_answers - k
        assert state(path) == state(whole)
        assert (path / "plan.jsonl").read_bytes() == (whole / "plan.jsonl").read_bytes()


@pytest.mark.parametrize("name", ["ledger.jsonl", "plan.jsonl", "failures.jsonl"])
def test_a_torn_last_line_is_repaired(tmp_path, cases, pair_spec, whole, name):
    spec = pair_spec(critique=True)
    path = tmp_path / "torn"
    with pytest.raises(Killed):
        finish(path, spec, cases, Recorder(dies_after=5))
    with (path / name).open("ab") as stream:
        stream.write(b'{"key":"abc')
    finish(path, spec, cases, Recorder())
    assert state(path) == state(whole)


def test_a_finished_run_asks_nothing_again(tmp_path, cases, pair_spec):
    path = tmp_path / "run"
    finish(path, pair_spec(), cases, Recorder())
    before = state(path)
    again = Recorder()
    finish(path, pair_spec(), cases, again)
    assert again.asked == []
    assert state(path) == before


def test_failures_are_retried_and_only_they(tmp_path, cases, pair_spec):
    def flaky(request: Request) -> object:
        if request.key[0] in "0123456":
            return Failure(
                key=request.key, error="Down", message="down", retryable=True, attempts=1
            )
        return by_hash(request)

    path, spec = tmp_path / "run", pair_spec()
    first, second, third = Recorder(flaky), Recorder(flaky), Recorder()
    finish(path, spec, cases, first)
    failed = {request.key for request in first.asked if request.key[0] in "0123456"}
    assert 0 < len(failed) < N_DISTINCT
    finish(path, spec, cases, second)
    assert {request.key for request in second.asked} == failed
    attempts = [failure.attempts for failure in read_records(path / "failures.jsonl", Failure)]
    assert max(attempts) == 2
    finish(path, spec, cases, third)
    assert {request.key for request in third.asked} == failed
    finish(tmp_path / "clean", spec, cases, Recorder())
    assert state(path) == state(tmp_path / "clean")


def test_a_failed_judgment_is_no_verdict_and_is_counted(tmp_path, cases, pair_spec):
    def down(request: Request) -> object:
        return Failure(key=request.key, error="Down", message="down", retryable=True, attempts=1)

    path = tmp_path / "run"
    spec = pair_spec()
    with open_run(path, spec, cases) as folder:
        counts = judge_run(folder, spec, Recorder(down))
        verdicts = list(folder.verdicts())
    assert counts.n_failed == N_DISTINCT
    assert [verdict.winner for verdict in verdicts] == [None] * 8
    assert all(verdict.n_failed == 2 and verdict.rule == "incomplete" for verdict in verdicts)
    assert all(verdict.winners == (None, None) for verdict in verdicts)


def test_scores_that_are_no_numbers_are_a_failure(tmp_path, cases, pair_spec):
    path = tmp_path / "run"
    nowhere = Recorder(lambda request: (-1.0, -2.0, float("-inf")))
    finish(path, pair_spec(), cases, nowhere)
    assert list(whole_lines(path / "ledger.jsonl")) == []
    failures = list(read_records(path / "failures.jsonl", Failure))
    assert {failure.error for failure in failures} == {"NotFinite"}
    finish(path, pair_spec(), cases, Recorder())
    finish(tmp_path / "clean", pair_spec(), cases, Recorder())
    assert state(path) == state(tmp_path / "clean")


def test_a_backend_that_answers_out_of_order_gives_the_same_verdicts(
    tmp_path, cases, pair_spec, whole
):
    class Backwards(Recorder):
        def complete(self, requests, on_text=None):
            yield from reversed(list(super().complete(requests, on_text)))

    path = tmp_path / "backwards"
    finish(path, pair_spec(critique=True), cases, Backwards())
    assert state(path) == state(whole)


def test_a_full_disk_keeps_what_was_judged(tmp_path, cases, pair_spec, whole, monkeypatch):
    spec, path = pair_spec(critique=True), tmp_path / "full"
    real_write, n_written = os.write, 0

    def write(handle: int, data: bytes) -> int:
        nonlocal n_written
        if data.startswith(b'{"key"'):
            n_written += 1
            if n_written > 4:
                real_write(handle, data[:10])
                raise OSError(28, "No space left on device")
        return real_write(handle, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        with pytest.raises(StorageFull, match="the disk is full"):
            finish(path, spec, cases, Recorder())
    assert len(list(read_records(path / "ledger.jsonl", Completion))) == 4
    finish(path, spec, cases, Recorder())
    assert state(path) == state(whole)


KILLED_RUN = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from tests.scripted import CARD, Recorder, by_hash
from autoj.datasets import open_cases
from autoj.runs import judge_run, make_spec, open_run

def killed_at_the_fifth(request):
    if len(backend.asked) == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return by_hash(request)

backend = Recorder(killed_at_the_fifth)
spec = make_spec("judge", CARD, critique=True)
with open_run(Path(sys.argv[2]), spec, open_cases(Path(sys.argv[1]))) as folder:
    judge_run(folder, spec, backend)
"""


def test_kill_9_loses_nothing_and_frees_the_folder(tmp_path, cases, pairs_file, pair_spec, whole):
    path = tmp_path / "killed"
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", KILLED_RUN, str(pairs_file), str(path), str(root)]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    assert len(list(whole_lines(path / "ledger.jsonl"))) == 5
    finish(path, pair_spec(critique=True), cases, Recorder())
    assert state(path) == state(whole)
    keys = [completion.key for completion in read_records(path / "ledger.jsonl", Completion)]
    assert len(keys) == len(set(keys))


class Exact(Recorder):
    """A judge whose answers say how they were scored."""

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        for outcome in super().complete(requests, on_text):
            assert isinstance(outcome, Completion)
            yield ScoredCompletion(**asdict(outcome), scored_by="prompt")


def test_a_run_that_is_killed_after_its_verdicts_is_noted_down_by_the_next_start(
    tmp_path: Path, cases: Cases, pair_spec: Callable[..., RunSpec]
) -> None:
    process = os.fork()
    if process == 0:
        RunFolder.record_scored_by = lambda self: os._exit(137)  # type: ignore[method-assign]
        judge(cases, pair_spec(), tmp_path / "run", backend=Exact())
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 137
    assert "scored_by" not in RunFolder(tmp_path / "run").settings()
    backend = Exact()
    judge(cases, pair_spec(), tmp_path / "run", backend=backend)
    assert backend.asked == []
    judge(cases, pair_spec(), tmp_path / "whole", backend=Exact())
    found, whole = (RunFolder(tmp_path / name).settings() for name in ("run", "whole"))
    assert found["scored_by"] == whole["scored_by"] == {"prompt": N_DISTINCT}
    assert digests_of(tmp_path / "run").keys() == digests_of(tmp_path / "whole").keys()
