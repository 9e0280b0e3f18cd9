"""Rows of users' JSON files: a row a line, or one value; errors name file, line and field."""

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from autoj.errors import DataError
from autoj.inputs.limits import json_limit, row_limit, too_long
from autoj.inputs.opening import local_file, open_file, skip_blank_lines, skip_line

DEEPEST = 100
"""The most levels of lists and objects in a row; writers of JSON end at 254."""
_MOST_VALUES = 20_000_000
_CROWDED = f"holds more than {_MOST_VALUES:,} values"


def read_lines(path: Path) -> Iterator[tuple[int, bytes | DataError]]:
    """The lines of a file that are not blank, numbered from 1, without a byte-order mark.

    Yields:
        The number of the line, and the line, or the error of one that is too long.

    Raises:
        DataError: the file is missing, is a folder, or is a broken gzip file.
    """
    limit = row_limit()
    with open_file(path) as stream:
        number = 0
        while line := stream.readline(limit + 1):
            number += 1
            if len(line) > limit:
                deque(skip_line(stream, line), maxlen=0)
                yield number, too_long(path, number)
                continue
            bare = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if bare.strip():
                yield number, bare
            else:
                number += skip_blank_lines(stream)


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
    """The rows of a user's file; each is a JSON object or the error that was found in it.

    A file whose name ends in `.json` may be one JSON value: a list of rows; an object that holds
    them under `examples`, or lists of them under names of its own; or a single row. Any other file
    has one row a line.

    Yields:
        The number of the line, or of the row in the list, counted from 1, and the row's JSON object
        or its error.

    Raises:
        DataError: the file as a whole cannot be read.
    """
    name = local_file(path).name
    if name.endswith((".json", ".json.gz")) and (values := _whole_value(path)) is not None:
        for number, value in enumerate(values, start=1):
            yield number, _object(path, number, value)
        return
    for number, line in read_lines(path):
        yield number, line if isinstance(line, DataError) else _row(path, number, line)


def _row(path: Path, number: int, line: bytes) -> dict[str, Any] | DataError:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return DataError(
            f"is not UTF-8 (byte {error.start + 1} of the line is {line[error.start]:#04x})",
            path=path,
            line=number,
            hint="Convert the file, for example with: iconv -f latin1 -t utf-8",
        )
    if _is_crowded(line):
        return DataError(_CROWDED, path=path, line=number)
    try:
        value = orjson.loads(line)
    except ValueError as error:
        return DataError(f"is not JSON ({error})", path=path, line=number)
    return _object(path, number, value)


def _is_crowded(text: bytes) -> bool:
    """True where JSON may hold so many values that they fill memory: each takes 50 bytes there."""
    return len(text) > _MOST_VALUES and text.count(b",") > _MOST_VALUES


def _object(path: Path, number: int, value: Any) -> dict[str, Any] | DataError:
    if isinstance(value, dict):
        return checked_row(value, path, number)
    return DataError(
        f"expected a JSON object, found {type(value).__name__}", path=path, line=number
    )


def checked_row(row: dict[str, Any], path: Path, number: int) -> dict[str, Any] | DataError:
    """A row, or its error where it is nested too deep."""
    if not is_deep(row):
        return row
    field = next((name for name, value in row.items() if is_deep([value])), None)
    return DataError(f"is nested deeper than {DEEPEST} levels", path=path, line=number, field=field)


def is_deep(value: Any) -> bool:
    """True where lists and objects are nested so deep that they could not be written again.

    >>> is_deep({"a": [1, {"b": 2}]}), is_deep(orjson.loads(b"[" * 200 + b"]" * 200))
    (False, True)
    """
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [
            item
            for node in level
            for item in (node.values() if isinstance(node, dict) else node)
            if isinstance(item, dict | list)
        ]
        if not level:
            return False
    return True


def _whole_value(path: Path) -> list[Any] | None:
    """The rows of a file that is one JSON value; None for a file with one value a line."""
    limit = json_limit()
    with open_file(path) as stream:
        text = stream.read(limit + 1).removeprefix(b"\xef\xbb\xbf").lstrip()
        whole = not stream.peek(1)
    if not text.startswith((b"[", b"{")):
        return None
    if not whole or _is_crowded(text):
        if text.startswith(b"{") and _is_one_value_a_line(text):
            return None
        raise DataError(
            _CROWDED if whole else f"is one JSON value of more than {limit / 1e6:,.0f} MB",
            path=path,
            hint="Write one row a line, which is read row by row: jq -c '.[]' FILE > FILE.jsonl"
            + ("" if whole else "; or AUTOJ_MAX_JSON_MB=N before the command raises the limit."),
        )
    try:
        value = orjson.loads(text)
    except ValueError as error:
        if text.startswith(b"["):
            raise DataError(f"is not JSON ({error})", path=path) from None
        return None
    if isinstance(value, list):
        return value
    if isinstance(value.get("examples"), list):
        return list(value["examples"])
    if value and all(_is_rows(item) for item in value.values()):
        return [row for rows in value.values() for row in rows]
    return [value]


def _is_one_value_a_line(text: bytes) -> bool:
    try:
        orjson.loads(text.partition(b"\n")[0])
    except ValueError:
        return False
    return True


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)
