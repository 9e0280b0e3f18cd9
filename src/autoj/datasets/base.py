"""What every data set format shares: checked fields, and rows that become cases or errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from autoj.errors import DataError, UnknownComponent
from autoj.jsonl import read_rows
from autoj.records import WINNERS, Case, Response, Winner, normalise_query
from autoj.scenarios import resolve_scenario

__all__ = [
    "Cases",
    "FieldError",
    "Row",
    "ToCase",
    "label_of",
    "make_case",
    "optional_text",
    "read_file",
    "require",
    "require_text",
    "scenario_of",
]


class FieldError(Exception):
    """A field that is missing or wrong; `read_file` adds the file and the line."""

    def __init__(self, field: str | None, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


class Row(NamedTuple):
    """A row of a file: its case, or what is wrong with it."""

    line: int
    """Counted from 1."""
    case: Case | DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """A data set that was recognised."""

    format: str
    """The name of the format."""
    paths: tuple[Path, ...]
    read: Callable[[], Iterator[Row]]
    """Reads it from the start, lazily."""


ToCase = Callable[[dict[str, Any], int], Case]
"""A row and its line number, counted from 1, to a case; raises `FieldError`."""


def read_file(path: Path, to_case: ToCase) -> Iterator[Row]:
    """The rows of a file, lazily; one that is wrong is yielded as its error.

    Raises:
        DataError: the file as a whole cannot be read.
    """
    for line, row in read_rows(path):
        if isinstance(row, DataError):
            yield Row(line, row)
            continue
        try:
            yield Row(line, to_case(row, line))
        except FieldError as error:
            yield Row(line, DataError(error.message, path=path, line=line, field=error.field))


def make_case(*, query: str, responses: tuple[Response, ...], line: int, **fields: Any) -> Case:
    """A case with the fields that follow from others.

    Args:
        query: the user's request; not blank.
        responses: what is judged.
        line: the row's line number, which is the id of a row that has none.
        fields: any other field of `Case`.
    """
    if not query.strip():
        raise FieldError("query", "the query is empty")
    fields.setdefault("id", f"line-{line}")
    return Case(query=query, responses=responses, cluster=normalise_query(query), **fields)


def require(row: dict[str, Any], field: str, kind: type | tuple[type, ...], wanted: str) -> Any:
    """A field of a row that must be there and of a type.

    Raises:
        FieldError: it is missing or of another type.
    """
    if field not in row:
        raise FieldError(field, f"is missing; expected {wanted}")
    value = row[field]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise FieldError(field, f"expected {wanted}, found {type(value).__name__} {_short(value)}")
    return value


def require_text(row: dict[str, Any], field: str) -> str:
    """A field that must be a string; it may be empty."""
    text: str = require(row, field, str, "a string")
    return text


def optional_text(row: dict[str, Any], field: str) -> str | None:
    """A field that is a string where it is there and not null."""
    return None if row.get(field) is None else require_text(row, field)


def label_of(value: object, field: str = "label") -> Winner | float | None:
    """A label in the native spelling: "a", "b" or "tie", or a rating."""
    if value is None:
        return None
    if value in WINNERS:
        winner: Winner = value
        return winner
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise FieldError(field, f'expected "a", "b", "tie" or a number, found {_short(value)}')


def scenario_of(row: dict[str, Any]) -> str | None:
    """A row's scenario in the taxonomy's spelling; a name of the user's own stays as it is."""
    if row.get("scenario") is None:
        return None
    name = require_text(row, "scenario")
    try:
        return resolve_scenario(name)
    except UnknownComponent:
        return name


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
