"""Parquet files, and Arrow tables in general, as rows of plain values; pyarrow is an extra."""

import math
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

from autoj.errors import DataError, MissingExtra
from autoj.inputs import checked_row, local_file, open_file, row_limit, too_long

_ROWS_AT_ONCE = 256
"""Rows read into memory at once: texts are long, and reading must be lazy."""


def read_parquet(path: Path) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
    """The rows of a Parquet file, in batches, numbered from 1.

    Raises:
        DataError: the file is missing, damaged, of another kind, or has rows that are too long on
            average.
        MissingExtra: pyarrow is not installed.
    """
    arrow, parquet = _load(path)
    local = local_file(path)
    if not local.is_file():
        with open_file(path):
            pass
    number = 0
    try:
        with parquet.ParquetFile(local) as file:
            size = _rows_at_once(file.metadata, path)
            for batch in file.iter_batches(batch_size=size):
                for row in rows_of(batch, path, number):
                    number += 1
                    yield number, row
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        where = f" after row {number:,}" if number else ""
        raise DataError(f"is damaged or not a Parquet file{where} ({reason})", path=path) from None


def _rows_at_once(metadata: Any, path: Path) -> int:
    """The number of rows of a batch that takes about as much memory as the longest row may.

    Raises:
        DataError: the rows of a group are longer than the limit on average; to read one of them,
            all would have to be unpacked.
    """
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    means = [group.total_byte_size // max(group.num_rows, 1) for group in groups]
    longest = max(means, default=0)
    limit = row_limit()
    if longest > limit:
        fault = too_long(path, None)
        raise DataError(f"in one of its parts {fault.reason}", path=path, hint=fault.hint)
    return max(1, min(_ROWS_AT_ONCE, limit // max(longest, 1)))


def rows_of(batch: Any, path: Path, n_before: int) -> Iterator[dict[str, Any] | DataError]:
    """The rows of an Arrow table as plain values; those that are too long or too deep as errors.

    Args:
        batch: a record batch or a table.
        path: the file, for errors.
        n_before: the number of rows before it.
    """
    limit = row_limit()
    # Only a batch that is longer than a row may be can hold such a row.
    parts = [batch]
    if batch.nbytes > limit:
        parts = [batch.slice(index, 1) for index in range(batch.num_rows)]
    number = n_before
    for part in parts:
        if part.nbytes > limit:
            number += 1
            yield too_long(path, number)
            continue
        for row in part.to_pylist():
            number += 1
            yield checked_row({name: plain(value) for name, value in row.items()}, path, number)


def _load(path: Path) -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("data", f"reading {path}") from None
    return pyarrow, pyarrow.parquet


def plain(value: Any) -> Any:
    """A value as JSON has it: dates and times as texts, NaN and infinity as null.

    >>> plain({"when": date(2024, 5, 1), "scores": [Decimal("1.5"), float("nan")]})
    {'when': '2024-05-01', 'scores': [1.5, None]}
    """
    match value:
        case str() | bool() | int() | None:
            return value
        case float():
            return value if math.isfinite(value) else None
        case list() | tuple():
            return [plain(item) for item in value]
        case dict():
            return {str(name): plain(item) for name, item in value.items()}
        case date() | datetime() | time():
            return value.isoformat()
        case Decimal():
            return plain(float(value))
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            return str(value)
