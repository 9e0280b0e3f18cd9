"""Rows from files of any kind: JSON, CSV, TSV, Parquet, or a data set of Hugging Face.

The meaning of a row is decided elsewhere, from its fields: every format is read from every kind of
file. All but a JSON list are read lazily.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from autoj import inputs
from autoj.datasets._arrow import read_parquet
from autoj.datasets._delimited import NUMBERS, read_delimited
from autoj.datasets._hub import is_dataset, read_dataset
from autoj.errors import DataError, NoRows
from autoj.inputs import local_file

Rows: TypeAlias = Iterator[tuple[int, dict[str, Any] | DataError]]
"""Each row with its line, counted from 1, or its error."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
_SPREADSHEETS = (".xlsx", ".xls", ".ods")
_JSON = (".json", ".jsonl")


def read_rows(path: Path, *, as_texts: bool = False) -> Rows:
    """Reads the rows of a file; its name says its kind, and anything unknown is JSON.

    The kind of a stream is recognised from its first bytes.

    Args:
        path: the file, or the name of a data set.
        as_texts: True reads all cells of CSV and TSV as texts; else those of `NUMBERS` are numbers.

    Raises:
        DataError: the file as a whole cannot be read.
        MissingExtra: Parquet and data sets need packages that are not installed.
    """
    if is_dataset(path):
        return read_dataset(path)
    ending = Path(local_file(path).name.removesuffix(".gz")).suffix.lower()
    if ending in _DELIMITERS:
        return read_delimited(path, _DELIMITERS[ending], () if as_texts else NUMBERS)
    if ending in _PARQUET:
        return read_parquet(path)
    if ending in _SPREADSHEETS:
        raise DataError("is a spreadsheet; save it as CSV (UTF-8)", path=path)
    return inputs.read_rows(path)


def data_files_in(folder: Path) -> Iterator[Path]:
    """The files in a folder and its subfolders whose name has a known ending."""
    for path in folder.rglob("*"):
        plain = Path(path.name.removesuffix(".gz")).suffix.lower()
        packed = path.name.endswith(".gz")
        if (
            plain in (*_JSON, *_DELIMITERS) or (plain in _PARQUET and not packed)
        ) and path.is_file():
            yield path


def first_row(path: Path) -> tuple[int, dict[str, Any]]:
    """The first row that has fields.

    Raises:
        DataError: there is none; the message is the error of the first row.
    """
    first_error: DataError | None = None
    for line, row in read_rows(path):
        if not isinstance(row, DataError):
            return line, row
        first_error = first_error or row
    raise first_error or NoRows("is empty: it holds no rows", path=path)
