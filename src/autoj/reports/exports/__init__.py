"""A run's verdicts in the file formats of other tools."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.reports.exports import alpaca_eval, inspect, mt_bench, reward_bench
from autoj.reports.exports.base import Export, JudgedRun
from autoj.reports.exports.tables import write_csv, write_jsonl, write_parquet
from autoj.runs import RunFolder
from autoj.runs.kind import is_jury
from autoj.system_errors import storage_error
from autoj.tasks.classify import SCENARIOS

__all__ = ["EXPORTS", "JudgedRun", "export_record", "export_run"]

EXPORTS: Mapping[str, Export] = {
    "csv": write_csv,
    "parquet": write_parquet,
    "jsonl": write_jsonl,
    "alpaca_eval": alpaca_eval.write,
    "mt_bench": mt_bench.write,
    "reward_bench": reward_bench.write,
    "inspect": inspect.write,
}
"""Writers by the name of their format."""


def export_run(run: Path, format: str, path: Path, *, overwrite: bool = False) -> JudgedRun:
    """Write a run's verdicts to a file, which is complete or absent.

    Verdicts are read again from the ledger. Cases that are not judged yet are left out and noted.

    Args:
        run: the run's folder.
        format: a name in `EXPORTS`.
        path: the file to write.
        overwrite: True replaces an existing file.

    Returns:
        The run, with counts of what was written and what was left out.

    Raises:
        UnknownComponent: there is no such format.
        ConfigError: the format cannot hold such a run, or the file exists.
        DataError: there is nothing to write, or nowhere to write it.
        StorageFull: the disk is full.
    """
    if format not in EXPORTS:
        raise UnknownComponent("export format", format, EXPORTS)
    if path.exists() and (path.is_dir() or not overwrite):
        what = "is a folder" if path.is_dir() else "exists; add --overwrite to replace it"
        raise ConfigError(f"{path} {what}")
    found = _with_verdicts(run)
    draft = path.with_name(f"{path.name}.part")
    try:
        EXPORTS[format](found, draft)
        _note_unjudged(found)
        if found.n_rows == 0:
            raise _nothing(found, format)
        with draft.open("rb") as stream:
            os.fsync(stream.fileno())
        draft.replace(path)
    except OSError as error:
        raise storage_error(error, path) from error
    finally:
        # A folder that is not writable refuses the removal, too.
        with suppress(OSError):
            draft.unlink()
    return found


def export_record(found: JudgedRun, format: str, path: Path) -> dict[str, Any]:
    """The counts of an export as plain values."""
    return {
        "run": str(found.folder.path),
        "format": format,
        "out": str(path),
        "n_judged": found.n_judged,
        "n_rows": found.n_rows,
        "notes": dict(found.notes),
    }


def _with_verdicts(path: Path) -> JudgedRun:
    if is_jury(path):
        raise ConfigError(
            f"{path} is a jury's folder; export the run of one of its judges",
            hint=f"Each has a folder under {path / 'judges'}.",
        )
    folder = RunFolder.existing(path)
    spec = folder.spec()
    if spec.task == "classify":
        raise ConfigError(
            f"{path} is a run of autoj classify, which has no verdicts",
            hint=f"{path / SCENARIOS} has a row per query.",
        )
    return JudgedRun(folder=folder, spec=spec)


def _note_unjudged(run: JudgedRun) -> None:
    n_cases = run.folder.n_cases()
    if run.n_judged < n_cases:
        told = f"of {n_cases:,} cases are not judged yet and left out: the run is not finished"
        run.notes[told] = n_cases - run.n_judged


def _nothing(run: JudgedRun, format: str) -> DataError:
    told = "; ".join(f"{count:,} {what}" for what, count in run.notes.items())
    return DataError(f"has nothing to write as {format}: {told}", path=run.folder.path)
