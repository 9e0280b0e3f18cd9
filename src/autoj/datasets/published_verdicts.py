"""Other judges' published verdicts: files of judgments, read as `Verdict`s and not as cases.

Each layout writes winners in its own codes (`_preferences.CONVENTIONS`) and frames; here all are in
the case's frame, where `a` is the first of `models`. `Verdict.rule` is a name from
`verdicts.resolve.RULES`: a tool that calls a disagreement of both orders a tie has "tie".
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from autoj.datasets._verdict_layouts import VERDICT_FORMATS, PublishedVerdict, Strength
from autoj.datasets.base import FieldError
from autoj.errors import DataError, UnknownComponent
from autoj.inputs import read_rows

__all__ = [
    "VERDICT_FORMATS",
    "PublishedVerdict",
    "Strength",
    "VerdictRow",
    "read_verdicts",
    "verdict_format_of",
]


class VerdictRow(NamedTuple):
    """A row of a file of verdicts: its verdict, or its error."""

    line: int
    """Counted from 1."""
    item: PublishedVerdict | DataError


def read_verdicts(path: Path, format: str | None = None) -> Iterator[VerdictRow]:
    """Reads the verdicts of a file, lazily; a bad row is yielded as its error.

    Args:
        path: a JSONL file or a JSON list.
        format: a name in `VERDICT_FORMATS`; None recognises it from the fields of the first row.

    Raises:
        DataError: the file cannot be read, is empty, or is of no known layout.
        UnknownComponent: there is no such format.
    """
    if format is not None and format not in VERDICT_FORMATS:
        raise UnknownComponent("format of verdicts", format, VERDICT_FORMATS)
    chosen = format
    n_rows = 0
    for line, row in read_rows(path):
        n_rows += 1
        if isinstance(row, DataError):
            yield VerdictRow(line, row)
            continue
        if chosen is None and (chosen := verdict_format_of(row)) is None:
            raise _unknown(path, line, row)
        try:
            yield VerdictRow(line, VERDICT_FORMATS[chosen].read(row, line))
        except FieldError as error:
            fault = DataError(error.message, path=path, line=line, field=error.field)
            yield VerdictRow(line, fault)
    if n_rows == 0:
        raise DataError("is empty: it holds no rows", path=path)


def verdict_format_of(row: dict[str, Any]) -> str | None:
    """The name of the format that a row fits."""
    return next((name for name, form in VERDICT_FORMATS.items() if form.matches(row)), None)


def _unknown(path: Path, line: int, row: dict[str, Any]) -> DataError:
    expected = "\n    ".join(f"{name}: {form.fields}" for name, form in VERDICT_FORMATS.items())
    return DataError(
        f"the fields {', '.join(map(repr, row)) or '(none)'} fit no known format of verdicts",
        path=path,
        line=line,
        hint=f"Expected one of:\n    {expected}",
    )
