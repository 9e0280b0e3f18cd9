"""Runs as CSV, Parquet and JSONL, with the texts.

Judged text is untrusted: in CSV it is guarded against running as a formula (`reports.text`),
and is exact otherwise, with line ends and quotes. Parquet and JSONL keep every text as it is, and
distinguish an empty text from a missing one.

**Source**: RFC 4180.
"""

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from autoj.errors import MissingExtra
from autoj.jsonl import write_records
from autoj.records import Verdict
from autoj.reports.exports.base import JudgedRun
from autoj.reports.text import guarded
from autoj.runs.table import columns_of, flat_rows, full_row

_ROWS_AT_ONCE = 1000


def write_csv(run: JudgedRun, path: Path) -> None:
    """A row per pair or per rated response, in UTF-8."""
    columns = columns_of(run.spec)
    # newline="" keeps the line ends of texts as they are.
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        for row in _rows(run):
            writer.writerow([guarded(row[name]) for name in columns])


def write_parquet(run: JudgedRun, path: Path) -> None:
    """The same rows with their types.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("data", "writing Parquet") from None
    kinds = {
        "text": pyarrow.string(),
        "number": pyarrow.float64(),
        "whole": pyarrow.int64(),
        "flag": pyarrow.bool_(),
    }
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns_of(run.spec).items()])
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        rows = _rows(run)
        while block := list(islice(rows, _ROWS_AT_ONCE)):
            writer.write_table(pyarrow.Table.from_pylist(block, schema))


def _rows(run: JudgedRun) -> Iterator[dict[str, Any]]:
    for case, verdict in run.verdicts():
        for row in flat_rows(case, verdict, run.spec):
            run.n_rows += 1
            _note_gap(row, run)
            yield row


def _note_gap(row: dict[str, Any], run: JudgedRun) -> None:
    if "winner" in row and row["winner"] is None:
        run.notes["pairs have no winner (failed, unreadable or undecided): left empty"] += 1
    if "rating" in row and row["rating"] is None and row["selected"] is None:
        run.notes["responses have no rating (failed or unreadable): left empty"] += 1


def write_jsonl(run: JudgedRun, path: Path) -> None:
    """A native row per case, with its whole verdict."""
    write_records(path, _full_rows(run))


def _full_rows(run: JudgedRun) -> Iterator[dict[str, Any]]:
    for case, verdict in run.verdicts():
        run.n_rows += 1
        if _is_open(verdict):
            run.notes["cases have no full verdict (failed, unreadable or undecided): null"] += 1
        yield full_row(case, verdict)


def _is_open(verdict: Verdict) -> bool:
    """True if there is no decision, or a response has no rating."""
    if verdict.ratings:
        return None in verdict.ratings
    return verdict.winner is None and verdict.selected is None
