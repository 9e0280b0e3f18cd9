"""Parquet files, and Arrow tables in general, as rows of plain values; pyarrow is an extra."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

from autoj.errors import DataError, MissingExtra

__all__ = ["plain", "read_parquet"]

_ROWS_AT_ONCE = 256
"""Rows read into memory at once: texts are long, and reading must be lazy."""


def read_parquet(path: Path) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
    """The rows of a Parquet file, in batches, numbered from 1.

    Raises:
        DataError: the file is missing, damaged or of another kind.
        MissingExtra: pyarrow is not installed.
    """
    arrow, parquet = _load(path)
    if not path.is_file():
        there = "is a folder, not a file" if path.is_dir() else "there is no such file"
        raise DataError(there, path=path)
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    number += 1
                    yield number, {name: plain(value) for name, value in row.items()}
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        where = f" after row {number:,}" if number else ""
        raise DataError(f"is damaged or not a Parquet file{where} ({reason})", path=path) from None


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
            return float(value)
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            return str(value)
