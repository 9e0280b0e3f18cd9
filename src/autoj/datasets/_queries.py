"""Queries alone: rows without anything to judge, or a text file with a query on each line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    FieldError,
    ReadRow,
    make_case,
    optional_text,
    read_file,
    require,
    require_text,
    scenario_of,
)
from autoj.errors import DataError
from autoj.inputs import local_file, read_lines
from autoj.records import Case

_WITH_RESPONSES = ("response", "responses", "response_a", "response_b")


def is_query(row: dict[str, Any]) -> bool:
    """True where a row holds a query and no response."""
    return "query" in row and not any(name in row for name in _WITH_RESPONSES)


def is_text_file(path: Path) -> bool:
    """True where a file's name is that of a plain text file."""
    return local_file(path).name.removesuffix(".gz").endswith(".txt")


def read_queries(path: Path) -> Iterator[ReadRow]:
    """Reads the rows of a file of queries; other fields are ignored."""
    return read_file(path, to_query)


def to_query(row: dict[str, Any], line: int) -> Case:
    """The case of one row: without responses."""
    fields: dict[str, Any] = {}
    if row.get("id") is not None:
        fields["id"] = str(require(row, "id", (str, int), "a string"))
    return make_case(
        query=require_text(row, "query"),
        responses=(),
        line=line,
        scenario=scenario_of(row),
        source=optional_text(row, "source"),
        language="zh" if row.get("language") == "zh" else "en",
        **fields,
    )


def read_text_file(path: Path) -> Iterator[ReadRow]:
    """Reads the lines of a text file that are not blank, each as a query.

    Raises:
        DataError: the file as a whole cannot be read.
    """
    for number, line in read_lines(path):
        if isinstance(line, DataError):
            yield ReadRow(number, line)
            continue
        try:
            query = line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            yield ReadRow(number, DataError("is not UTF-8", path=path, line=number))
            continue
        try:
            yield ReadRow(number, make_case(query=query, responses=(), line=number))
        except FieldError as error:
            yield ReadRow(number, DataError(error.message, path=path, line=number))
