"""Rows of a file that stands beside a set: one a case, in the set's order."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.errors import DataError
from autoj.inputs import read_rows


def rows_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file with their lines, lazily.

    Raises:
        DataError: a row cannot be read.
    """
    for line, row in read_rows(path):
        if isinstance(row, DataError):
            raise row
        yield line, row


def field_of(path: Path, line: int, row: dict[str, Any], field: str) -> object:
    """The value of a field that a row must have.

    Raises:
        DataError: it has none of that name.
    """
    if field not in row:
        raise DataError(
            f"is missing; the row has {', '.join(map(repr, row)) or 'no fields'}",
            path=path,
            line=line,
            field=field,
        )
    return row[field]


def check_length(path: Path, n_rows: int, n_cases: int) -> None:
    """Check that a file has a row for each case of a set.

    Raises:
        DataError: it has more or fewer.
    """
    if n_rows != n_cases:
        raise DataError(
            f"has {n_rows:,} rows, but the set has {n_cases:,} cases; expected one row per case, "
            "in the set's order",
            path=path,
        )
