"""The shards of a run: a folder for each beside the whole run's, their progress, and the merge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.datasets.base import Cases
from autoj.errors import AutojError, ConfigError, EmptyShard, UserError
from autoj.runs import RunSpec, merge_runs
from autoj.runs.files import FAILURES, LEDGER, PLAN
from autoj.tasks.default_paths import run_folder
from autoj.tasks.judge import judge
from autoj.tasks.run import Run

MOST_SHARDS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardRun:
    """One shard of a run, as a worker judges it."""

    spec: RunSpec
    """The whole run's settings, with its shard."""
    path: Path
    """Its folder, absolute: on storage that all workers and the driver share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardError:
    """An error of a worker, as it travels to the driver."""

    shard: str
    message: str
    hint: str | None
    of_user: bool
    """True where the caller can fix it, as a bad row; False where the engine failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardRuns:
    """All shards of a run."""

    out: Path
    """The folder of the whole run, absolute."""
    runs: tuple[ShardRun, ...]

    @classmethod
    def of(cls, cases: Cases, spec: RunSpec, out: Path | None, n_shards: int) -> ShardRuns:
        """The shards of a run, each with its folder under `OUT-shards/`.

        Args:
            cases: the data, which every worker reads anew.
            spec: the settings of the whole run.
            out: the folder of the whole run; None takes the default one.
            n_shards: the number of shards, 2 to 100,000; several for each worker even out their
                times.

        Raises:
            ConfigError: the settings name a shard already, the number is out of range, or the run
                is there and its shards are not.
        """
        if spec.shard is not None:
            raise ConfigError(
                f"shard {spec.shard} cannot be dealt out to a cluster",
                hint="Leave out --shard: every worker takes a shard of all cases.",
            )
        if not 2 <= n_shards <= MOST_SHARDS:
            raise ConfigError(
                f"a run on a cluster has 2 to {MOST_SHARDS:,} shards, not {n_shards:,}"
            )
        whole = (out or run_folder(spec, cases)).absolute()
        folder = whole.with_name(f"{whole.name}-shards")
        if whole.exists() and not folder.exists() and any(whole.iterdir()):
            raise ConfigError(
                f"{whole} is there, and its shards, {folder}, are not",
                hint="Leave out --cluster to go on in this process, or choose another --out.",
            )
        runs = (
            ShardRun(
                spec=replace(spec, shard=f"{k}/{n_shards}"), path=folder / f"{k}-of-{n_shards}"
            )
            for k in range(1, n_shards + 1)
        )
        return cls(out=whole, runs=tuple(runs))

    def merge(self) -> Run:
        """Merges the shards that have cases into the whole run, and opens it."""
        merge_runs([run.path for run in self.runs if (run.path / "run.json").is_file()], self.out)
        return Run.open(self.out)


def judge_shard(cases: Cases, shard: ShardRun) -> ShardError | None:
    """Judges one shard in its folder, from where an earlier worker stopped.

    An error is returned, not raised: ours hold what a pickled exception would lose.
    """
    try:
        judge(cases, shard.spec, shard.path)
    except EmptyShard:
        return None
    except AutojError as error:
        return ShardError(
            shard=str(shard.spec.shard),
            message=error.message,
            hint=error.hint,
            of_user=isinstance(error, UserError),
        )
    return None


class ShardProgress:
    """Counts the answers of all shards from their files, reading each line once."""

    def __init__(self, shards: ShardRuns) -> None:
        self._counts = [
            tuple(_LineCount(run.path / name) for name in (PLAN, LEDGER, FAILURES))
            for run in shards.runs
        ]

    def counted(self) -> Iterator[tuple[int, int]]:
        """Of each shard the questions that are answered and all that are planned so far.

        A question that failed and was answered later stands in both files, and equal questions
        share one answer: the first number is never more than the second.
        """
        for planned, answered, failed in self._counts:
            total = planned.count()
            yield min(answered.count() + failed.count(), total), total


class _LineCount:
    """The lines of a file that grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._n = 0

    def count(self) -> int:
        try:
            with self._path.open("rb") as stream:
                if stream.seek(0, 2) < self._offset:
                    # A resumed shard has written the file anew.
                    self._offset = self._n = 0
                stream.seek(self._offset)
                while block := stream.read(1 << 20):
                    self._offset += len(block)
                    self._n += block.count(b"\n")
        except FileNotFoundError:
            return 0
        return self._n
