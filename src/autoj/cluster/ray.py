"""Shards as tasks of Ray: recorded once, asked at least once.

A worker that dies is replaced, and its successor takes the shard's folder over: what is in the
ledger is not asked again, what was in flight is. Ray's own tables would fill a failed row with an
empty value; here a failed judgment stays one, in the shard's run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from autoj.cluster.shard_runs import (
    ShardError,
    ShardProgress,
    ShardRun,
    ShardRuns,
    judge_shard,
)
from autoj.datasets.base import Cases
from autoj.errors import Cancelled, ConfigError, MissingExtra, Unavailable, UserError
from autoj.runs import RunSpec
from autoj.runs.budget import Budget
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.jurors import Jury
from autoj.tasks.run import Run

MAX_RETRIES = 3
"""Workers of one shard that may die before the run is given up."""

_POLL_SECONDS = 0.5


def judge_on_cluster(
    cases: Cases,
    asked: RunSpec | Jury,
    out: Path | None = None,
    *,
    cluster: Literal["ray"] | None,
    n_shards: int | None,
    budget: Budget | None = None,
    watch: Watch = SILENT,
    cache: bool | None = None,
) -> Run:
    """Judges on the cluster that is named, by one judge, as far as shards allow what is asked for.

    Args:
        cases: the data.
        asked: the settings of the whole run.
        out: as in `judge_on_ray`.
        cluster: the kind of cluster.
        n_shards: as in `judge_on_ray`.
        budget: one without caps; shards cannot see what the others spend.
        watch: as in `judge_on_ray`.
        cache: the use of earlier runs' answers, which a cluster has not.

    Raises:
        ConfigError: the kind or the number of shards is missing, a jury is asked for, or caps.
        AutojError: as `judge_on_ray`.
    """
    if cluster is None or n_shards is None:
        given, missing = ("--shards", "--cluster ray") if n_shards else ("--cluster", "--shards 64")
        raise ConfigError(f"{given} needs {missing}")
    if isinstance(asked, Jury):
        raise ConfigError(
            "--cluster takes one judge", hint="Run each judge, then show them with autoj report."
        )
    if (budget is not None and (budget.max_usd, budget.max_requests) != (None, None)) or cache:
        raise ConfigError(
            "--cluster has no --max-usd, --max-requests and --cache: its shards cannot see what "
            "the others spend"
        )
    return judge_on_ray(cases, asked, out, n_shards=n_shards, watch=watch)


def judge_on_ray(
    cases: Cases,
    spec: RunSpec,
    out: Path | None = None,
    *,
    n_shards: int,
    cpus: float = 1,
    gpus: float = 0,
    watch: Watch = SILENT,
) -> Run:
    """Judges the shards of a run as tasks of a Ray cluster, and merges them.

    The cluster is the one of the environment variable RAY_ADDRESS, or one started on this machine
    for this call. Data and folders must lie on storage that all its machines share under one path,
    and all must have autoj with the judge's extra.

    Args:
        cases: the data.
        spec: the settings of the whole run.
        out: the folder of the whole run; None takes the default one. The shards' folders stand
            beside it, in `OUT-shards/`, and stay.
        n_shards: the number of shards, 2 to 100,000. No more are judged at a time than the cluster
            has room for; several for each worker even out their times.
        cpus: processors that a shard asks of Ray.
        gpus: GPUs that a shard asks of Ray; each worker sees its own alone.
        watch: told of progress over all shards.

    Returns:
        The merged run.

    Raises:
        MissingExtra: Ray is not installed.
        ConfigError: the shards do not fit the run (`ShardRuns.of`).
        UserError: a shard failed for a reason that the caller can fix, as a bad row.
        Unavailable: a shard's engine failed, or its workers died; what was judged is kept.
        Cancelled: `watch` cancelled it; what was judged is kept.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "judging on a Ray cluster") from None

    shards = ShardRuns.of(cases, spec, out, n_shards)
    with _connected(ray):
        # The settings travel once, not with every shard.
        data = ray.put(cases)
        task = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=MAX_RETRIES)(_judge_in_worker)
        tasks = {task.remote(data, run, os.getcwd()): run for run in shards.runs}
        try:
            _wait(ray, tasks, ShardProgress(shards), watch)
        except BaseException:
            for pending in tasks:
                ray.cancel(pending, force=True)
            raise
    return shards.merge()


@contextmanager
def _connected(ray: Any) -> Iterator[None]:
    """A connection to the cluster that is closed afterwards, where there was none."""
    if ray.is_initialized():
        yield
        return
    ray.init(log_to_driver=False, include_dashboard=False, logging_level="ERROR")
    try:
        yield
    finally:
        ray.shutdown()


def _judge_in_worker(cases: Cases, shard: ShardRun, folder: str) -> ShardError | None:
    """Judges a shard from the driver's working directory, so that relative paths mean the same."""
    os.chdir(folder)
    return judge_shard(cases, shard)


def _wait(ray: Any, tasks: dict[Any, ShardRun], progress: ShardProgress, watch: Watch) -> None:
    """Waits for all shards and reports their answers; raises for the first one that failed."""
    pending = list(tasks)
    while pending:
        done, pending = ray.wait(pending, timeout=_POLL_SECONDS)
        counts = [*progress.counted()]
        watch.progress(
            f"judging on {len(tasks):,} shards",
            sum(n for n, _ in counts),
            sum(n for _, n in counts),
        )
        if watch.cancelled():
            raise Cancelled("the run was cancelled; its shards keep what was judged")
        for finished in done:
            _check(ray, finished, tasks[finished])


def _check(ray: Any, finished: Any, shard: ShardRun) -> None:
    try:
        error: ShardError | None = ray.get(finished)
    except ray.exceptions.RayError as lost:
        raise Unavailable(
            f"shard {shard.spec.shard} was lost: its worker died {MAX_RETRIES + 1} times, or could "
            f"not be started ({type(lost).__name__})",
            hint=f"{shard.path} keeps its judgments. Look for want of memory on the workers; the "
            "same command goes on from there.",
        ) from lost
    if error is not None:
        kind = UserError if error.of_user else Unavailable
        raise kind(f"shard {error.shard}: {error.message}", hint=error.hint)
