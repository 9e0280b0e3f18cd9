"""A run's folder: what was judged, with which settings, and all that came of it.

```
run.json         the settings, the data's hash, the versions
cases.jsonl      the cases; the run can be shown when its input is gone
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

import hashlib
import json
import logging
import os
import platform
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import orjson
from filelock import FileLock, Timeout
from pydantic import TypeAdapter

from autoj.datasets.base import Cases
from autoj.errors import DataError, RunBusy, SpecMismatch
from autoj.jsonl import (
    Appender,
    count_lines,
    encode,
    read_records,
    sha256_of,
    storage_error,
    write_records,
)
from autoj.records import Asked, Case, CaseOutline, Verdict
from autoj.runs.intake import bad_row, checked_cases
from autoj.runs.plan import RunSpec, answer_options

# What of a card changes an answer or what may be asked; its notes and prices do not.
_JUDGE_SETTINGS = (
    "name", "backend", "model", "revision", "adapter", "adapter_revision", "wrapper",
    "context_tokens",
)  # fmt: skip

__all__ = ["PlanWriter", "RunFolder", "open_run", "spec_digest"]

_log = logging.getLogger(__name__)

_HOLDER = "holder.json"
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
        loaded: dict[str, Any] = orjson.loads((self.path / "run.json").read_bytes())
        return loaded

    def spec(self) -> RunSpec:
        """The settings it was made with."""
        return TypeAdapter(RunSpec).validate_python(self.settings()["spec"])

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
    """

    def __init__(self, path: Path) -> None:
        self._appender = Appender(path)
        self._n_there = count_lines(path)

    def write(self, asked: Asked) -> None:
        """Write the next row, unless it is there."""
        if self._n_there > 0:
            self._n_there -= 1
        else:
            self._appender.append(asked)

    def close(self) -> None:
        """Sync and close."""
        self._appender.close()


@contextmanager
def open_run(path: Path, spec: RunSpec, cases: Cases) -> Iterator[RunFolder]:
    """Open a run's folder for writing, new or to go on with; it is locked until the block ends.

    Args:
        path: the folder; made where there is none.
        spec: the settings.
        cases: the data.

    Raises:
        SpecMismatch: the folder was made with other settings or other data.
        RunBusy: another process is writing to it.
        DataError: a row cannot be read (unless bad rows are skipped), or none is there.
        StorageFull: the disk took no more.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = _take(path)
    except OSError as error:
        raise storage_error(error, path) from error
    try:
        folder = RunFolder(path)
        _prepare(folder, spec, cases)
        yield folder
    finally:
        (path / _HOLDER).unlink(missing_ok=True)
        lock.release()


def _prepare(folder: RunFolder, spec: RunSpec, cases: Cases) -> None:
    """Write `cases.jsonl` and `run.json`, or check that they are the same."""
    path = folder.path
    wanted = {"spec": asdict(spec), "data": _data(cases)}
    if (path / "run.json").is_file():
        differences = _differences(_stable(wanted), _stable(folder.settings()))
        if differences:
            raise SpecMismatch(path, differences)
        _take_calibration(folder, spec)
        return
    bad_rows: list[DataError] = []
    write_records(path / "cases.jsonl", checked_cases(cases, spec, bad_rows))
    if bad_rows:
        write_records(path / "bad_rows.jsonl", (bad_row(error) for error in bad_rows))
    # run.json comes last: a folder that has one has all its cases.
    _write_settings(path, {**wanted, "versions": _versions(), "n_bad_rows": len(bad_rows)})


def _write_settings(path: Path, record: dict[str, Any]) -> None:
    draft = path / "run.json.draft"
    try:
        draft.write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2))
        draft.replace(path / "run.json")
    except OSError as error:
        raise storage_error(error, path) from error


def _take_calibration(folder: RunFolder, spec: RunSpec) -> None:
    """Put the spec's calibration into `run.json`, where the run was made with another."""
    record = folder.settings()
    judge = record["spec"]["judge"]
    wanted = asdict(spec.judge)["calibration"]
    if (judge.get("calibration") or {}).get(spec.protocol) == wanted.get(spec.protocol):
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
    _write_settings(folder.path, record)


def _take(path: Path) -> FileLock:
    """Lock the folder; the operating system frees the lock of a process that died."""
    lock = FileLock(path / "run.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunBusy(
            f"{path} is being written by {_holder(path)}",
            hint="Wait for it, stop it, or choose another --out.",
        ) from None
    holder = {"pid": os.getpid(), "host": platform.node(), "started": _now()}
    (path / _HOLDER).write_bytes(encode(holder))
    return lock


def _holder(path: Path) -> str:
    try:
        holder = json.loads((path / _HOLDER).read_bytes())
        return f"process {holder['pid']} on {holder['host']} since {holder['started']}"
    except (OSError, ValueError, KeyError):
        return "another process"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def _data(cases: Cases) -> dict[str, Any]:
    return {
        "format": cases.format,
        "paths": [str(path) for path in cases.paths],
        "sha256": [sha256_of(path) for path in cases.paths],
        "derivation": cases.derivation,
    }


def _versions() -> dict[str, str]:
    return {"autoj": version("autoj"), "python": platform.python_version()}


def spec_digest(spec: RunSpec, cases: Cases) -> str:
    """Eight hex digits that differ where settings or data do."""
    wanted = _stable({"spec": asdict(spec), "data": _data(cases)})
    return hashlib.sha256(orjson.dumps(wanted, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]


def _stable(record: dict[str, Any]) -> dict[str, Any]:
    """The part of `run.json` that must stay the same: not where the data lies."""
    stable: dict[str, Any] = orjson.loads(
        orjson.dumps(
            {
                "spec": record["spec"],
                "data": {name: record["data"].get(name) for name in ("sha256", "derivation")},
            }
        )
    )
    # Settings that came later, where they are not used: runs from before them can go on.
    for part, name in (("spec", "seed"), ("spec", "sample"), ("data", "derivation")):
        if stable[part].get(name) is None:
            stable[part].pop(name, None)
    judge = stable["spec"]["judge"]
    stable["spec"]["judge"] = {name: judge.get(name) for name in _JUDGE_SETTINGS}
    stable["spec"]["judge"].update(answer_options(judge.get("options") or {}))
    return stable


def _differences(wanted: Any, found: Any, name: str = "") -> list[str]:
    """One line per setting that differs."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [
            line
            for key in sorted({*wanted, *found})
            for line in _differences(
                wanted.get(key), found.get(key), f"{name}.{key}".removeprefix(".")
            )
        ]
    if wanted == found:
        return []
    return [f"{name.removeprefix('spec.')}: there {found!r}, now {wanted!r}"]
