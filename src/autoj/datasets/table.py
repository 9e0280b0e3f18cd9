"""Pairs in the columns of a table: `query`, `response_a`, `response_b`, as `autoj export` writes.

Optional columns are `id`, `label`, `scenario`, `source`, `reference`, `model_a` and `model_b`; an
empty cell is no value, and other columns are ignored. `--map` reads columns of other names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets._mapping import ColumnMap
from autoj.datasets.base import Row, read_file
from autoj.records import Case

__all__ = ["FIELDS", "matches", "read", "to_case"]

FIELDS = '"query" with "response_a", "response_b"'

_OPTIONAL = ("id", "label", "scenario", "source", "reference", "model_a", "model_b")


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return {"query", "response_a", "response_b"} <= row.keys() and "responses" not in row


def read(path: Path) -> Iterator[Row]:
    """The rows of a table."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row."""
    columns = {"query": "query", "a": "response_a", "b": "response_b"}
    columns |= {name: name for name in _OPTIONAL if name in row}
    return ColumnMap(columns=columns).to_case(row, line)
