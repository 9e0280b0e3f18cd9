"""A run's folder: what was judged, with which settings, and all that came of it.

```
run.json         its kind, the settings, the data's hash, the versions
cases.jsonl      the cases; the run can be shown when its input is gone. Those of a shard have their
                 place among the cases of all shards
bad_rows.jsonl   rows that could not be read, with --skip-bad-rows
plan.jsonl       what was asked of which case: (case, shown, sample, judge) -> key
follow.jsonl     the same for critiques that were asked for after the verdict
ledger.jsonl     the answers, one line per key
failures.jsonl   attempts that got none
timings.jsonl    one line per session; outside any comparison
verdicts.jsonl   one line per case, in the order of the cases
```
All but the ledger and the failures can be made again from them.

A run is shown with the settings in its `run.json`, so also with the judge's calibration there. A
card's calibration may change and the run still go on: the command that goes on with it puts its
own into `run.json` and makes all verdicts again, with new critiques where a winner is another one.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout

from autoj.datasets.base import Cases
from autoj.errors import DataError, RunBusy, SpecMismatch
from autoj.jsonl import (
    Appender,
    count_lines,
    encode,
    read_records,
    storage_error,
    whole_lines,
    write_records,
)
from autoj.records import Asked, Case, CaseOutline, Verdict
from autoj.runs.intake import bad_row, checked_cases
from autoj.runs.kind import Kind
from autoj.runs.naming import name_scenarios
from autoj.runs.settings import (
    differences,
    read_settings,
    read_spec,
    settings_of,
    stable_part,
    versions,
    write_settings,
)
from autoj.runs.shards import Dealer, PlacedCase, Shard
from autoj.runs.spec import RunSpec

__all__ = ["HOLDER", "LOCK", "PlanWriter", "RunFolder", "locked", "open_run"]

_log = logging.getLogger(__name__)

HOLDER = "holder.json"
LOCK = "run.lock"
_AnyCase = TypeVar("_AnyCase", Case, CaseOutline)


class RunFolder:
    """Reads and writes the files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def existing(cls, path: Path) -> RunFolder:
        """A run that is there.

        Raises:
            DataError: the path is no run folder.
        """
        if not (path / "run.json").is_file():
            raise DataError("is no run folder: it holds no run.json", path=path)
        return cls(path)

    def settings(self) -> dict[str, Any]:
        """What `run.json` holds."""
        return read_settings(self.path)

    def bind_template(self, sha256: str | None) -> None:
        """Note which chat template renders the judge's prompts, or make sure that it is that one.

        Only the engine knows it, so it is not among the settings that a run is opened with.

        Args:
            sha256: the digest of its tokenizer's template; None where its wrapper is another.

        Raises:
            SpecMismatch: the run was begun with another template.
        """
        record = self.settings()
        noted = record.get("template_sha256")
        if sha256 is None or noted == sha256:
            return
        if noted is not None:
            raise SpecMismatch(self.path, [f"template_sha256: there {noted!r}, now {sha256!r}"])
        write_settings(self.path, {**record, "template_sha256": sha256})

    def spec(self) -> RunSpec:
        """The settings it was made with."""
        return read_spec(self.path)

    def cases(self) -> Iterator[Case]:
        """The cases, in order, lazily."""
        return read_records(self.path / "cases.jsonl", Case)

    def n_cases(self) -> int:
        """How many cases there are."""
        return count_lines(self.path / "cases.jsonl")

    def plan(self) -> Iterator[Asked]:
        """What was asked at first, in the order of the cases."""
        return read_records(self.path / "plan.jsonl", Asked)

    def follow(self) -> Iterator[Asked]:
        """What was asked after the verdicts, in the order of the cases."""
        return read_records(self.path / "follow.jsonl", Asked)

    def verdicts(self) -> Iterator[Verdict]:
        """The verdicts as they were last written."""
        return read_records(self.path / "verdicts.jsonl", Verdict)

    def judged(self) -> Iterator[tuple[Case, Verdict]]:
        """The cases with their verdicts as they were last written; others are left out."""
        return self._with_verdicts(Case)

    def outlined(self) -> Iterator[tuple[CaseOutline, Verdict]]:
        """The same without the cases' texts, in half the time."""
        return self._with_verdicts(CaseOutline)

    def _with_verdicts(self, kind: type[_AnyCase]) -> Iterator[tuple[_AnyCase, Verdict]]:
        verdicts = self.verdicts()
        verdict = next(verdicts, None)
        for case in read_records(self.path / "cases.jsonl", kind):
            if verdict is not None and verdict.case_id == case.id:
                yield case, verdict
                verdict = next(verdicts, None)

    def write_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        """Replace the verdicts, all at once."""
        write_records(self.path / "verdicts.jsonl", verdicts)

    def add_timing(self, record: dict[str, Any]) -> None:
        """Note how long a session took."""
        appender = Appender(self.path / "timings.jsonl")
        appender.append(record)
        appender.close()


class PlanWriter:
    """Writes plan rows again from the start, and leaves those alone that are there already.

    A run's plan follows from its cases and its settings, so a second start plans the same rows.
    Where it does not, as in a run that was joined from unfinished ones, the file goes on from the
    first row that differs.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._appender = Appender(path)
        self._there: Iterator[bytes] | None = whole_lines(path)
        self._n_bytes = 0

    def write(self, asked: Asked) -> None:
        """Write the next row, unless it is there."""
        if self._there is not None:
            line = next(self._there, None)
            if line == encode(asked):
                self._n_bytes += len(line)
                return
            self._there = None
            if line is not None:
                os.truncate(self._path, self._n_bytes)
        self._appender.append(asked)

    def close(self) -> None:
        """Sync and close."""
        self._there = None
        self._appender.close()


@contextmanager
def open_run(
    path: Path, spec: RunSpec, cases: Cases, kind: Kind | None = None
) -> Iterator[RunFolder]:
    """Open a run's folder for writing, new or to go on with; it is locked until the block ends.

    Args:
        path: the folder; made where there is none.
        spec: the settings.
        cases: the data.
        kind: what kind of run it is; None says that of its spec's task.

    Raises:
        SpecMismatch: the folder was made with other settings or other data.
        RunBusy: another process is writing to it.
        DataError: a row cannot be read (unless bad rows are skipped), or none is there.
        StorageFull: the disk took no more.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, path) from error
    with locked(path):
        folder = RunFolder(path)
        _prepare(folder, spec, cases, kind or spec.task)
        yield folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a run's folder until the block ends.

    Raises:
        RunBusy: another process is writing to it.
        StorageFull: the disk took no more.
    """
    try:
        lock = _take(path)
    except OSError as error:
        raise storage_error(error, path) from error
    try:
        yield
    finally:
        (path / HOLDER).unlink(missing_ok=True)
        lock.release()


def _prepare(folder: RunFolder, spec: RunSpec, cases: Cases, kind: Kind) -> None:
    """Write `cases.jsonl` and `run.json`, or check that they are the same."""
    path = folder.path
    wanted = settings_of(spec, cases)
    if (path / "run.json").is_file():
        found = differences(stable_part(folder.settings()), stable_part(wanted))
        if found:
            lines = (f"{name}: there {there!r}, now {now!r}" for name, there, now in found)
            raise SpecMismatch(path, lines)
        _take_calibration(folder, spec)
        return
    bad_rows: list[DataError] = []
    taken = checked_cases(cases, spec, bad_rows)
    shard = None if spec.shard is None else Shard.parse(spec.shard)
    if shard is None:
        write_records(path / "cases.jsonl", name_scenarios(taken, spec))
    else:
        dealer = Dealer(shard)
        dealt = _dealt(dealer, taken, cases.place)
        write_records(path / "cases.jsonl", name_scenarios(dealt, spec))
        # So that joining shards knows what is missing.
        wanted["dealt"] = {"n_cases": dealer.n_cases, "n_distinct": dealer.n_distinct}
    if bad_rows:
        write_records(path / "bad_rows.jsonl", (bad_row(error) for error in bad_rows))
    # run.json comes last: a folder that has one has all its cases.
    write_settings(
        path, {"kind": kind, **wanted, "versions": versions(), "n_bad_rows": len(bad_rows)}
    )


def _dealt(dealer: Dealer, cases: Iterable[Case], path: Path) -> Iterator[PlacedCase]:
    """The cases of a shard, which holds one at least."""
    yield from dealer.deal(cases)
    if dealer.n_kept == 0:
        raise DataError(
            f"has {dealer.n_distinct:,} distinct cases; shard {dealer.shard} holds none of them",
            path=path,
            hint="The other shards hold them all; this one is not needed.",
        )


def _take_calibration(folder: RunFolder, spec: RunSpec) -> None:
    """Put the spec's calibration into `run.json`, where the run was made with another."""
    record = folder.settings()
    judge = record["spec"]["judge"]
    wanted = asdict(spec.judge)["calibration"]
    # Read and not compared as it stands: a run from before a field came has the same calibration.
    known = folder.spec().judge.calibration.get(spec.protocol)
    if known == spec.judge.calibration.get(spec.protocol):
        return
    _log.warning(
        "%s was resolved with another calibration of judge %s; its verdicts are made again",
        folder.path,
        spec.judge.name,
    )
    if spec.critique:
        # A critique is written for a winner. Without these two files the run is not finished, and
        # the critiques are planned anew; those that still fit are in the ledger.
        (folder.path / "verdicts.jsonl").unlink(missing_ok=True)
        (folder.path / "follow.jsonl").unlink(missing_ok=True)
    judge["calibration"] = wanted
    write_settings(folder.path, record)


def _take(path: Path) -> FileLock:
    """Lock the folder; the operating system frees the lock of a process that died."""
    lock = FileLock(path / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunBusy(
            f"{path} is being written by {_holder(path)}",
            hint="Wait for it, stop it, or choose another --out.",
        ) from None
    holder = {"pid": os.getpid(), "host": platform.node(), "started": _now()}
    (path / HOLDER).write_bytes(encode(holder))
    return lock


def _holder(path: Path) -> str:
    try:
        holder = json.loads((path / HOLDER).read_bytes())
        return f"process {holder['pid']} on {holder['host']} since {holder['started']}"
    except (OSError, ValueError, KeyError):
        return "another process"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
