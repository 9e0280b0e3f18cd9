"""Shards as tasks of Ray: recorded once, asked at least once.

A worker that dies is replaced, and its successor takes the shard's folder over: what is in the
ledger is not asked again, what was in flight is. A shard that is far behind while workers are idle
gives up its rest, which is dealt out again. Ray's own tables would fill a failed row with an empty
value; here a failed judgment stays one, in the shard's run.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from autoj.cluster.process_group import end_group_with_me
from autoj.cluster.shard_runs import ShardProgress, ShardRuns
from autoj.cluster.stored_shards import shared_shards
from autoj.cluster.worker import ShardError, ShardOutcome, ShardRun, judge_shard
from autoj.datasets.base import Cases
from autoj.errors import Cancelled, ConfigError, MissingExtra, Unavailable, UserError
from autoj.records import JudgeCard
from autoj.runs import RunSpec
from autoj.runs.budget import Budget
from autoj.runs.place import is_locked
from autoj.runs.stores.address import StoreAddress
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.jurors import Jury
from autoj.tasks.run import Run

MAX_RETRIES = 3
"""Workers of one shard that may die before the run is given up."""

_POLL_SECONDS = 0.5
_LEAST_LEFT_SECONDS = 30.0
"""A shard that ends sooner is not split: another worker would have to begin first."""
_STARTS_LEFT = 4
"""Nor is one that ends within so many times the time that its own worker took to begin."""
_MOST_PIECES = 8
_ON_A_GPU = ("hf", "scalar", "vllm")
"""Backends that load a model into the worker, and onto a GPU where there is one."""
_SETTINGS = {"RAY_process_group_cleanup_enabled": "1", "RAY_worker_niceness": "0"}
"""Settings of a cluster that is started here: what a worker has started ends with it, and workers,
which do all the work, have the priority of the command."""


def judge_on_cluster(
    cases: Cases,
    asked: RunSpec | Jury,
    out: Path | StoreAddress | None = None,
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
    out: Path | StoreAddress | None = None,
    *,
    n_shards: int,
    cpus: float = 1,
    gpus: float | None = None,
    watch: Watch = SILENT,
) -> Run:
    """Judges the shards of a run as tasks of a Ray cluster, and merges them.

    The cluster is the one of the environment variable RAY_ADDRESS, or one started on this machine
    for this call. Data and folders must lie on storage that all its machines share under one path,
    and all must have autoj with the judge's extra. With an address in an object store, the machines
    share that alone: each has the data under one path, and keeps its shard on its own disk.

    Args:
        cases: the data.
        spec: the settings of the whole run.
        out: the folder of the whole run; None takes the default one. The shards' folders stand
            beside it, in `OUT-shards/`, and stay. Of an address, `OUT-shards/` is in the store, and
            the whole run and a copy of its shards are under `runs/` here.
        n_shards: the number of shards, 2 to 100,000, of about equally many tokens. No more are
            judged at a time than the cluster has room for.
        cpus: processors that a shard asks of Ray.
        gpus: GPUs that a shard asks of Ray; each worker sees its own alone. None is one where the
            judge loads its model into the worker and the cluster has GPUs, else none: a server that
            the card names is shared by all shards.
        watch: told of progress over all shards.

    Returns:
        The merged run.

    Raises:
        MissingExtra: Ray is not installed.
        ConfigError: the shards do not fit the run (`open_shards`).
        UserError: a shard failed for a reason that the caller can fix, as a bad row.
        Unavailable: a shard's engine failed, or its workers died; what was judged is kept.
        Cancelled: `watch` cancelled it; what was judged is kept.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "judging on a Ray cluster") from None

    with shared_shards(cases, spec, out, n_shards, watch) as (shards, fetch, watched):
        with _connected(ray):
            n_gpus = _gpus_of(spec.judge, ray) if gpus is None else gpus
            _Driver(ray, cases, shards, {"CPU": cpus, "GPU": n_gpus}, watched).run()
        fetch()
        return shards.merge()


@contextmanager
def _connected(ray: Any) -> Iterator[None]:
    """A connection to the cluster that is closed afterwards, where there was none."""
    if ray.is_initialized():
        yield
        return
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    # Without an address Ray would also join one that somebody has started on this machine.
    address = os.environ.get("RAY_ADDRESS", "local")
    try:
        ray.init(address, log_to_driver=False, include_dashboard=False, logging_level="ERROR")
    except Exception as error:
        # Ray raises plain exceptions where it does not come up in time or is not there.
        what = (
            "no Ray cluster could be started here"
            if address == "local"
            else (f"the Ray cluster at {address!r} cannot be reached")
        )
        raise Unavailable(
            f"{what}: {error}",
            hint="Try again: a busy machine may take longer to start one than Ray waits for. Its "
            "logs are in /tmp/ray/session_latest/logs.",
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _gpus_of(card: JudgeCard, ray: Any) -> float:
    """The GPUs that a worker needs for a judge."""
    return 1 if card.backend in _ON_A_GPU and ray.cluster_resources().get("GPU", 0) >= 1 else 0


def _judge_in_worker(cases: Cases, shard: ShardRun, folder: str, driver: int) -> ShardOutcome:
    """Judges a shard from the driver's working directory, so that relative paths mean the same."""
    # A cluster without workers judges in the driver itself.
    if os.getpid() != driver:
        end_group_with_me()
    # A machine that shares a store alone may have no such folder, and need none.
    if shard.store is None or Path(folder).is_dir():
        os.chdir(folder)
    return judge_shard(cases, shard)


@dataclass(slots=True)
class _Pace:
    """The work on one shard in this session, as the driver has seen it."""

    began: float
    n_before: int
    """Its answers when it began."""
    first: float | None = None
    """The time of the first answer that was seen."""

    def seconds_left(self, n_done: int, n_questions: int, now: float) -> float | None:
        """The time to its end at its own pace; None where that is not known, or is soon."""
        if self.first is None and n_done > self.n_before:
            self.first = now
        # A worker that took over on another machine may have fewer answers than the one before.
        if self.first is None or now == self.began or n_done <= self.n_before:
            return None
        left = (n_questions - n_done) * (now - self.began) / (n_done - self.n_before)
        least = max(_LEAST_LEFT_SECONDS, _STARTS_LEFT * (self.first - self.began))
        return left if left > least else None


@dataclass(slots=True)
class _Driver:
    """Follows the tasks of all shards to their end."""

    ray: Any
    cases: Cases
    shards: ShardRuns
    needs: dict[str, float]
    """Resources that a shard asks of the cluster, by Ray's names."""
    watch: Watch
    tasks: dict[Any, ShardRun] = field(default_factory=dict)
    paces: dict[str, _Pace] = field(default_factory=dict)
    n_pieces: dict[str, int] = field(default_factory=dict)
    """Of shards that were told to give up, the pieces that they become."""

    def run(self) -> None:
        """Judges all shards; raises for the first one that failed."""
        # The data's description travels once, not with every shard.
        data = self.ray.put(self.cases)
        task = self.ray.remote(
            num_cpus=self.needs["CPU"], num_gpus=self.needs["GPU"], max_retries=MAX_RETRIES
        )(_judge_in_worker)

        def begin(run: ShardRun) -> None:
            self.tasks[task.remote(data, run, os.getcwd(), os.getpid())] = run

        try:
            for run in self.shards.runs:
                begin(run)
            progress = ShardProgress(self.shards)
            while self.tasks:
                done, _ = self.ray.wait([*self.tasks], timeout=_POLL_SECONDS)
                for finished in done:
                    for piece in self._pieces(finished, self.tasks.pop(finished)):
                        begin(piece)
                self._look(progress)
        except BaseException:
            for pending in self.tasks:
                self.ray.cancel(pending, force=True)
            raise

    def _pieces(self, finished: Any, run: ShardRun) -> list[ShardRun]:
        """The shards that take over what one has left open, whose task has ended."""
        outcome = self._outcome(finished, run)
        if isinstance(outcome, ShardError):
            kind = UserError if outcome.of_user else Unavailable
            raise kind(f"shard {outcome.shard}: {outcome.message}", hint=outcome.hint)
        n_pieces = self.n_pieces.pop(run.name, 1)
        run.give_up.unlink(missing_ok=True)
        return self.shards.split(run, n_pieces) if outcome == "given up" else []

    def _outcome(self, finished: Any, run: ShardRun) -> ShardOutcome:
        try:
            outcome: ShardOutcome = self.ray.get(finished)
        except self.ray.exceptions.RayError as lost:
            raise Unavailable(
                f"shard {run.name} was lost: its worker died {MAX_RETRIES + 1} times, or could "
                f"not be started ({type(lost).__name__})",
                hint=f"{run.path} keeps its judgments. Look for want of memory on the workers; the "
                "same command goes on from there.",
            ) from lost
        return outcome

    def _look(self, progress: ShardProgress) -> None:
        """Reports the answers of all shards, and tells a straggler to give up its rest."""
        if self.watch.cancelled():
            raise Cancelled("the run was cancelled; its shards keep what was judged")
        open_runs = {run.name: run for run in self.tasks.values()}
        # The tasks of all others have ended: what they could not answer, they never will.
        ended = [run for run in self.shards.runs if run.name not in open_runs]
        share = progress.share_asked(ended)
        n_all = round(share * sum(map(self.shards.n_questions, self.shards.runs)))
        n_left, behind, now = 0, [], time.monotonic()
        for name, run in open_runs.items():
            n_done = progress.counted(run)
            n_questions = max(n_done, round(share * self.shards.n_questions(run)))
            n_left += n_questions - n_done
            if not is_locked(run.path) or not self.shards.may_split(run):
                continue
            pace = self.paces.setdefault(name, _Pace(now, n_done))
            if (seconds := pace.seconds_left(n_done, n_questions, now)) is not None:
                behind.append((seconds, name))
        n_done = max(n_all - n_left, 0)
        self.watch.progress(f"judging on {len(self.shards.runs):,} shards", n_done, n_all)
        n_idle = 0 if self.n_pieces or not behind else self._n_idle(open_runs)
        if n_idle:
            run = open_runs[max(behind)[1]]
            self.n_pieces[run.name] = min(_MOST_PIECES, 1 + max(1, n_idle // len(open_runs)))
            run.give_up.touch()

    def _n_idle(self, open_runs: dict[str, ShardRun]) -> int:
        """The workers that the cluster has room for, once every shard has one."""
        if not all(is_locked(run.path) for run in open_runs.values()):
            return 0
        free = self.ray.available_resources()
        wanted = {name: need for name, need in self.needs.items() if need}
        return min((int(free.get(name, 0) / need) for name, need in wanted.items()), default=0)
