"""A run's verdicts in the file formats of other tools."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from autoj.errors import DataError, UnknownComponent
from autoj.jsonl import storage_error
from autoj.reports.exports import alpaca_eval, mt_bench, reward_bench
from autoj.reports.exports.base import Export, JudgedRun
from autoj.reports.exports.tables import write_csv, write_jsonl, write_parquet
from autoj.runs import RunFolder

__all__ = ["EXPORTS", "JudgedRun", "export_run"]

EXPORTS: Mapping[str, Export] = {
    "csv": write_csv,
    "parquet": write_parquet,
    "jsonl": write_jsonl,
    "alpaca_eval": alpaca_eval.write,
    "mt_bench": mt_bench.write,
    "reward_bench": reward_bench.write,
}
"""Writers by the name of their format."""


def export_run(folder: RunFolder, format: str, path: Path) -> JudgedRun:
    """Write a run's verdicts to a file, which is complete or absent.

    Verdicts are read again from the ledger. Cases that are not judged yet are left out and noted.

    Args:
        folder: a run's folder.
        format: a name in `EXPORTS`.
        path: the file to write; an existing one is replaced.

    Returns:
        The run, with counts of what was written and what was left out.

    Raises:
        UnknownComponent: there is no such format.
        ConfigError: the format cannot hold such a run.
        DataError: there is nothing to write, or nowhere to write it.
        StorageFull: the disk is full.
    """
    if format not in EXPORTS:
        raise UnknownComponent("export format", format, EXPORTS)
    run = JudgedRun(folder=folder, spec=folder.spec())
    draft = path.with_name(f"{path.name}.part")
    try:
        EXPORTS[format](run, draft)
        _note_unjudged(run)
        if run.n_rows == 0:
            raise _nothing(run, format)
        with draft.open("rb") as stream:
            os.fsync(stream.fileno())
        draft.replace(path)
    except OSError as error:
        raise storage_error(error, path) from error
    finally:
        # A folder that is not writable refuses the removal, too.
        with suppress(OSError):
            draft.unlink()
    return run


def _note_unjudged(run: JudgedRun) -> None:
    n_cases = run.folder.n_cases()
    if run.n_judged < n_cases:
        told = f"of {n_cases:,} cases are not judged yet and left out: the run is not finished"
        run.notes[told] = n_cases - run.n_judged


def _nothing(run: JudgedRun, format: str) -> DataError:
    told = "; ".join(f"{count:,} {what}" for what, count in run.notes.items())
    return DataError(f"has nothing to write as {format}: {told}", path=run.folder.path)
