"""The folder of a run: its settings, its cases, and everything derived from them.

```
run.json         its kind, the settings, the data's hash, the versions
cases.jsonl      the cases, so that the run can be shown without its input. Those of a shard have
                 their position among the cases of all shards
bad_rows.jsonl   rows that could not be read, with --skip-bad-rows
plan.jsonl       the questions about each case: (case, shown, sample, judge) -> key
follow.jsonl     the same for critiques that were asked for after the verdict
ledger.jsonl     the answers, one line per key
failures.jsonl   failed attempts
timings.jsonl    one line per session; outside any comparison
verdicts.jsonl   one line per case, in the order of the cases
```
All but the ledger and the failures can be rebuilt from them.

A run is shown with the settings in its `run.json`, including the judge's calibration there. A
card's calibration may change and the run still be resumed: the resuming command writes its own
into `run.json` and resolves all verdicts again, with new critiques where a winner has changed.
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
from autoj.runs.place import check_place
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
        """Opens an existing run.

        Raises:
            DataError: the path is not a run folder.
        """
        if not (path / "run.json").is_file():
            raise DataError("is not a run folder: it has no run.json", path=path)
        return cls(path)

    def settings(self) -> dict[str, Any]:
        """The content of `run.json`."""
        return read_settings(self.path)

    def bind_template(self, sha256: str | None) -> None:
        """Records the chat template of the judge's prompts, or checks that it is the recorded one.

        Only the engine knows it, so it is not among the settings that a run is opened with.

        Args:
            sha256: the digest of the tokenizer's template; None with another wrapper.

        Raises:
            SpecMismatch: the run was started with another template.
        """
        record = self.settings()
        noted = record.get("template_sha256")
        if sha256 is None or noted == sha256:
            return
        if noted is not None:
            raise SpecMismatch(self.path, [f"template_sha256: was {noted!r}, is now {sha256!r}"])
        write_settings(self.path, {**record, "template_sha256": sha256})

    def spec(self) -> RunSpec:
        """The settings that it was made with."""
        return read_spec(self.path)

    def cases(self) -> Iterator[Case]:
        """The cases, in order, lazily."""
        return read_records(self.path / "cases.jsonl", Case)

    def n_cases(self) -> int:
        """The number of cases."""
        return count_lines(self.path / "cases.jsonl")

    def plan(self) -> Iterator[Asked]:
        """The first questions, in the order of the cases."""
        return read_records(self.path / "plan.jsonl", Asked)

    def follow(self) -> Iterator[Asked]:
        """The questions asked after the verdicts, in the order of the cases."""
        return read_records(self.path / "follow.jsonl", Asked)

    def verdicts(self) -> Iterator[Verdict]:
        """The verdicts last written."""
        return read_records(self.path / "verdicts.jsonl", Verdict)

    def judged(self) -> Iterator[tuple[Case, Verdict]]:
        """The cases with the verdicts last written; cases without a verdict are left out."""
        return self._with_verdicts(Case)

    def outlined(self) -> Iterator[tuple[CaseOutline, Verdict]]:
        """Reads the cases without their texts, in half the time; else like `judged`."""
        return self._with_verdicts(CaseOutline)

    def _with_verdicts(self, kind: type[_AnyCase]) -> Iterator[tuple[_AnyCase, Verdict]]:
        verdicts = self.verdicts()
        verdict = next(verdicts, None)
        for case in read_records(self.path / "cases.jsonl", kind):
            if verdict is not None and verdict.case_id == case.id:
                yield case, verdict
                verdict = next(verdicts, None)

    def write_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        """Replaces the verdicts, atomically."""
        write_records(self.path / "verdicts.jsonl", verdicts)

    def add_timing(self, record: dict[str, Any]) -> None:
        """Records the time of a session."""
        appender = Appender(self.path / "timings.jsonl")
        appender.append(record)
        appender.close()


class PlanWriter:
    """Rewrites plan rows from the start, without touching those that are already there.

    A run's plan follows from its cases and its settings, so a resumed run plans the same rows.
    Where it does not, as in a run merged from unfinished ones, the file is rewritten from the first
    row that differs.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._appender = Appender(path)
        self._there: Iterator[bytes] | None = whole_lines(path)
        self._n_bytes = 0

    def write(self, asked: Asked) -> None:
        """Writes the next row, unless it is there."""
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
        """Syncs and closes the file."""
        self._there = None
        self._appender.close()


@contextmanager
def open_run(
    path: Path, spec: RunSpec, cases: Cases, kind: Kind | None = None
) -> Iterator[RunFolder]:
    """Opens a run's folder for writing, new or to resume; it is locked until the block ends.

    Args:
        path: the folder; made where there is none.
        spec: the settings.
        cases: the data.
        kind: the kind of run; None is that of its spec's task.

    Raises:
        ConfigError: the folder holds other things than a run.
        SpecMismatch: the folder was made with other settings or other data.
        RunBusy: another process is writing to it.
        DataError: a row cannot be read (unless bad rows are skipped), or there are none.
        StorageFull: the disk is full.
    """
    try:
        check_place(path)
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, path) from error
    with locked(path):
        folder = RunFolder(path)
        _prepare(folder, spec, cases, kind or spec.task)
        yield folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Locks a run's folder until the block ends.

    Raises:
        RunBusy: another process is writing to it.
        StorageFull: the disk is full.
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
    """Writes `cases.jsonl` and `run.json`, or checks that they are the same."""
    path = folder.path
    wanted = settings_of(spec, cases)
    if (path / "run.json").is_file():
        found = differences(stable_part(folder.settings()), stable_part(wanted))
        if found:
            lines = (f"{name}: was {there!r}, is now {now!r}" for name, there, now in found)
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
        # For merging shards, which must know the missing ones.
        wanted["dealt"] = {"n_cases": dealer.n_cases, "n_distinct": dealer.n_distinct}
    if bad_rows:
        write_records(path / "bad_rows.jsonl", (bad_row(error) for error in bad_rows))
    # run.json comes last: a folder that has one has all its cases.
    write_settings(
        path, {"kind": kind, **wanted, "versions": versions(), "n_bad_rows": len(bad_rows)}
    )


def _dealt(dealer: Dealer, cases: Iterable[Case], path: Path) -> Iterator[PlacedCase]:
    """The cases of a shard, which must have at least one."""
    yield from dealer.deal(cases)
    if dealer.n_kept == 0:
        raise DataError(
            f"has {dealer.n_distinct:,} distinct cases, and shard {dealer.shard} gets none of them",
            path=path,
            hint="The other shards have them all; this one is not needed.",
        )


def _take_calibration(folder: RunFolder, spec: RunSpec) -> None:
    """Puts the spec's calibration into `run.json`, where it differs."""
    record = folder.settings()
    judge = record["spec"]["judge"]
    wanted = asdict(spec.judge)["calibration"]
    # Parsed, not compared as text: a run from before a field was added has the same calibration.
    known = folder.spec().judge.calibration.get(spec.protocol)
    if known == spec.judge.calibration.get(spec.protocol):
        return
    _log.warning(
        "%s was resolved with another calibration of judge %s; its verdicts are resolved again",
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
    """Locks the folder; the operating system frees the lock of a process that died."""
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
