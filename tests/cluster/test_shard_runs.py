"""Shards of a run without a cluster: their folders, their errors, their progress, their merge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autoj.cluster import shard_runs
from autoj.cluster.shard_runs import ShardProgress, ShardRuns, judge_shard
from autoj.datasets import open_cases
from autoj.errors import ConfigError
from autoj.jsonl import whole_lines
from autoj.runs import make_spec
from autoj.tasks.judge import judge

from ..scripted import CARD, Recorder


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """The engine of every shard."""
    backend = Recorder()
    monkeypatch.setattr("autoj.tasks.judge.load_engine", lambda card, watch: backend)
    return backend


def lines_of(path: Path) -> list[bytes]:
    return sorted(whole_lines(path))


def test_shards_merge_to_what_one_process_judges(
    pairs_file: Path, tmp_path: Path, scripted: Recorder
) -> None:
    cases, spec = open_cases(pairs_file), make_spec("judge", CARD)
    # Seven distinct cases, so that shards 8 and 9 have none.
    shards = ShardRuns.of(cases, spec, tmp_path / "many", 9)
    progress = ShardProgress(shards)
    assert [*progress.counted()] == [(0, 0)] * 9
    assert [judge_shard(cases, shard) for shard in shards.runs] == [None] * 9
    n_done, n_planned = (sum(column) for column in zip(*progress.counted(), strict=True))
    assert n_planned == 2 * 8
    # The copy shares its answers with its original.
    assert n_done == len(scripted.asked) == 2 * 7 - 1
    merged = shards.merge()
    one = judge(cases, spec, tmp_path / "one", backend=Recorder())
    for name in ("ledger.jsonl", "verdicts.jsonl", "plan.jsonl"):
        assert lines_of(merged.path / name) == lines_of(one.path / name)


def test_a_second_start_asks_nothing(pairs_file: Path, tmp_path: Path, scripted: Recorder) -> None:
    cases, spec = open_cases(pairs_file), make_spec("judge", CARD)
    shards = ShardRuns.of(cases, spec, tmp_path / "many", 2)
    for _ in range(2):
        assert [judge_shard(cases, shard) for shard in shards.runs] == [None, None]
        assert shards.merge().n_judged == 8
    assert len(scripted.asked) == 2 * 7 - 1


def test_a_workers_error_keeps_its_advice(pairs_file: Path, tmp_path: Path) -> None:
    card = replace(CARD, backend="scripted", model=str(tmp_path / "none"))
    cases, spec = open_cases(pairs_file), make_spec("judge", card)
    shard = ShardRuns.of(cases, spec, tmp_path / "many", 2).runs[0]
    error = judge_shard(cases, shard)
    assert error is not None
    assert (error.shard, error.of_user) == ("1/2", True)
    assert error.message
    assert error.hint is None or error.hint not in error.message


def test_what_cannot_be_dealt_out_is_refused(pairs_file: Path, tmp_path: Path) -> None:
    cases, spec = open_cases(pairs_file), make_spec("judge", CARD)
    with pytest.raises(ConfigError, match="shard 1/2 cannot be dealt out"):
        ShardRuns.of(cases, replace(spec, shard="1/2"), tmp_path / "out", 4)
    for n in (1, shard_runs.MOST_SHARDS + 1):
        with pytest.raises(ConfigError, match="2 to 100,000 shards"):
            ShardRuns.of(cases, spec, tmp_path / "out", n)
    judge(cases, spec, tmp_path / "out", backend=Recorder())
    with pytest.raises(ConfigError, match=r"its shards, .*out-shards, are not"):
        ShardRuns.of(cases, spec, tmp_path / "out", 4)
