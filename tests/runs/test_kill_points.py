"""A process that ends at any call that changes a file leaves a folder that goes on.

Each point is enumerated: a forked process ends at the k-th call, for every k.
"""

from __future__ import annotations

import os
import shutil
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.jsonl import whole_lines, write_records
from autoj.runs import make_spec, merge_runs
from autoj.tasks.judge import judge
from autoj.tasks.select import select
from autoj.tasks.selection_folder import make_select_spec

from ..scripted import CARD, Recorder

KILLED = 137
_CALLS = ("write", "replace", "rename", "unlink", "fsync", "truncate", "ftruncate")


def ended_at(k: int, work: Callable[[], object]) -> bool:
    """Does some work in a process that ends at its k-th call; False where it has fewer calls."""
    process = os.fork()
    if process == 0:
        try:
            _count_calls(k)
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, KILLED)
    return code == KILLED


def _count_calls(k: int) -> None:
    n_calls = 0

    def ending(real: Callable[..., object], name: str) -> Callable[..., object]:
        def call(*given: object, **named: object) -> object:
            nonlocal n_calls
            if n_calls == k:
                if name == "write":
                    # What was written of a line before the end.
                    real(given[0], bytes(given[1])[: len(given[1]) // 2])
                os._exit(KILLED)
            n_calls += 1
            return real(*given, **named)

        return call

    for name in _CALLS:
        setattr(os, name, ending(getattr(os, name), name))


def state(path: Path) -> dict[str, object]:
    """What must be the same however often a run was ended."""
    names = ("cases.jsonl", "plan.jsonl", "follow.jsonl", "verdicts.jsonl", "picks.jsonl")
    kept = {
        file.relative_to(path).as_posix(): file.read_bytes()
        for name in names
        for file in path.rglob(name)
    }
    return kept | {
        file.relative_to(path).as_posix(): sorted(whole_lines(file))
        for file in path.rglob("ledger.jsonl")
    }


def check_points(
    folder: Path, work: Callable[[Path], object], points: range, again: Callable[[Path], object]
) -> int:
    """Ends work at each point, goes on, and compares with work that was not ended."""
    work(folder / "whole")
    wanted, n_points = state(folder / "whole"), 0
    for k in points:
        path = folder / f"ended-{k}"
        if not ended_at(k, lambda path=path: work(path)):
            break
        again(path)
        assert state(path) == wanted, f"ended at call {k}"
        n_points += 1
        shutil.rmtree(path)
    return n_points


@pytest.fixture
def candidates(tmp_path: Path) -> Path:
    rows = [
        {
            "id": f"case-{number}",
            "query": f"Question {number}?",
            "responses": [f"Answer {number} {place}" for place in range(2 + number)],
        }
        for number in range(3)
    ]
    write_records(tmp_path / "candidates.jsonl", rows)
    return tmp_path / "candidates.jsonl"


def selecting(candidates: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], object]:
    monkeypatch.setattr("autoj.tasks.select.load_engine", lambda *_: Recorder())
    spec = make_select_spec(CARD, "pairs")
    return lambda path: select(open_cases(candidates), spec, path)


def judging(pairs_file: Path) -> Callable[[Path], object]:
    spec = make_spec("judge", CARD, critique=True)
    return lambda path: judge(open_cases(pairs_file), spec, path, backend=Recorder())


def merging(folder: Path, pairs_file: Path) -> Callable[[Path], object]:
    """Merges a shard into a folder that holds the other one."""
    parts = [folder / "shard-1", folder / "shard-2"]
    for number, part in enumerate(parts, start=1):
        spec = make_spec("judge", CARD, critique=True, shard=f"{number}/2")
        judge(open_cases(pairs_file), spec, part, backend=Recorder())

    def work(path: Path) -> None:
        shutil.copytree(parts[0], path, copy_function=shutil.copyfile)
        merge_runs([parts[1]], path)

    return work


# Every seventh of the first points; and all of them.
QUICK, ALL = range(0, 60, 7), range(10_000)


def test_a_run_that_ended_at_a_call_goes_on(tmp_path, pairs_file):
    assert check_points(tmp_path, judging(pairs_file), QUICK, judging(pairs_file)) == len(QUICK)


def test_a_selection_that_ended_at_a_call_goes_on(tmp_path, candidates, monkeypatch):
    work = selecting(candidates, monkeypatch)
    points = range(6, 84, 13)
    assert check_points(tmp_path, work, points, work) == len(points)


@pytest.mark.slow
def test_a_run_goes_on_from_each_point(tmp_path, pairs_file):
    assert check_points(tmp_path, judging(pairs_file), ALL, judging(pairs_file)) > 60


@pytest.mark.slow
def test_a_selection_goes_on_from_each_point(tmp_path, candidates, monkeypatch):
    work = selecting(candidates, monkeypatch)
    assert check_points(tmp_path, work, ALL, work) > 80


def judge_merged(pairs_file: Path, path: Path) -> list[object]:
    """Judges the whole data at a path, as a user might after a merge; gives what was asked."""
    backend = Recorder()
    judge(open_cases(pairs_file), make_spec("judge", CARD, critique=True), path, backend=backend)
    return [request.case_id for request in backend.asked]


def points_of_a_merge(folder: Path, pairs_file: Path, points: range) -> int:
    work, n_points = merging(folder, pairs_file), 0
    work(folder / "whole")
    shard = set(whole_lines(folder / "shard-1" / "ledger.jsonl"))
    for k in points:
        path = folder / f"ended-{k}"
        if not ended_at(k, lambda path=path: work(path)):
            break
        n_points += 1
        if not path.exists() and not path.with_name(f".{path.name}.replaced").exists():
            continue  # It ended while the shard was copied.
        merge_runs([folder / "shard-1", folder / "shard-2"], path)
        assert shard <= set(whole_lines(path / "ledger.jsonl"))
        assert state(path) == state(folder / "whole"), f"ended at call {k}"
        assert judge_merged(pairs_file, path) == []
    return n_points


def test_a_folder_that_a_merge_was_moving_is_found_again(tmp_path, pairs_file):
    work = merging(tmp_path, pairs_file)
    work(tmp_path / "whole")
    (tmp_path / "whole").rename(tmp_path / ".whole.replaced")
    assert judge_merged(pairs_file, tmp_path / "whole") == []
    assert not (tmp_path / ".whole.replaced").exists()


@pytest.mark.slow
def test_a_merge_goes_on_from_each_point(tmp_path, pairs_file):
    assert points_of_a_merge(tmp_path, pairs_file, ALL) > 20
