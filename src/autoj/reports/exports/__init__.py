"""A run's verdicts in the files of other tools: one layout a file, written so that they read it."""

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
"""What writes each format."""


def export_run(folder: RunFolder, format: str, path: Path) -> JudgedRun:
    """Write what a run came to, finished or not; the file is there whole or not at all.

    Verdicts are read anew from the ledger. Cases that are not judged yet are left out and noted.

    Args:
        folder: a run's folder.
        format: a name in `EXPORTS`.
        path: the file to write; one that is there is replaced.

    Returns:
        The run, with what was written and what could not be.

    Raises:
        UnknownComponent: there is no such format.
        ConfigError: the format cannot hold such a run.
        DataError: there is nothing to write, or no place for it.
        StorageFull: the disk took no more.
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
        # Where nothing can be written, nothing can be removed either.
        with suppress(OSError):
            draft.unlink()
    return run


def _note_unjudged(run: JudgedRun) -> None:
    n_cases = run.folder.n_cases()
    if run.n_judged < n_cases:
        told = f"of {n_cases:,} cases are not judged yet: left out, the run is not finished"
        run.notes[told] = n_cases - run.n_judged


def _nothing(run: JudgedRun, format: str) -> DataError:
    told = "; ".join(f"{count:,} {what}" for what, count in run.notes.items())
    return DataError(f"has nothing that {format} can hold: {told}", path=run.folder.path)
