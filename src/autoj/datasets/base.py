"""Shared parts of the data set formats: checked fields, and rows as cases or errors."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from autoj.datasets._columns import winner_of
from autoj.datasets._rows import read_rows
from autoj.errors import DataError, UnknownComponent, shortened
from autoj.jsonl import encode
from autoj.records import WINNERS, Case, Response, Winner, normalise_query
from autoj.scenarios import resolve_scenario

_MOST_NAMES, _LONGEST_NAME = 20, 40


class FieldError(Exception):
    """A missing or invalid field; `read_file` adds the file and the line.

    Args:
        field: the field; None for the whole row.
        message: what is wrong with it.
        kind: the kind of error that it becomes.
    """

    def __init__(
        self, field: str | None, message: str, *, kind: type[DataError] = DataError
    ) -> None:
        super().__init__(message)
        self.field = field
        self.message = message
        self.kind = kind


class ReadRow(NamedTuple):
    """A row of a file: its case, or its error."""

    line: int
    """Counted from 1."""
    case: Case | DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """A recognised data set."""

    format: str
    """The name of the format."""
    paths: tuple[Path, ...]
    read: Callable[[], Iterator[ReadRow]]
    """Reads it from the start, lazily."""
    derivation: str | None = None
    """The way its cases were made from the files; a run folder with another one cannot be
    resumed."""
    name: str | None = None
    """The name of its runs; None is the first file's name."""
    note: str | None = None
    """A remark for the user on the way it was read."""
    testing_only: bool = False
    """True for the data of a benchmark that a judge is measured by."""

    @property
    def place(self) -> Path:
        """The place named in messages: its first file, or that the cases came from a program."""
        return self.paths[0] if self.paths else Path("(cases)")

    def readable(self) -> Iterator[tuple[int, Case]]:
        """Reads it from the start, lazily, where every row must be a case; yields lines with cases.

        Raises:
            DataError: a row cannot be read.
        """
        for line, case in self.read():
            if isinstance(case, DataError):
                raise case
            yield line, case


def cases_of(cases: Iterable[Case], name: str = "cases") -> Cases:
    """Cases that a program holds, as a data set.

    Args:
        cases: read once and kept in memory.
        name: what a run of them is called.
    """
    kept = tuple(cases)
    digest = hashlib.sha256()
    for case in kept:
        digest.update(encode(case))
    return Cases(
        format="cases in memory",
        paths=(),
        read=lambda: (ReadRow(line, case) for line, case in enumerate(kept, start=1)),
        derivation=f"{len(kept)} cases, {digest.hexdigest()}",
        name=name,
    )


ToCase = Callable[[dict[str, Any], int], Case]
"""From a row and its line number, counted from 1, to a case; raises `FieldError`."""


ToCases = Callable[[dict[str, Any], int], Iterable[Case]]
"""From a row to several cases; a partly wrong row gives none."""


def read_file(path: Path, to_case: ToCase, *, as_texts: bool = False) -> Iterator[ReadRow]:
    """Reads the rows of a file, lazily; a bad row is yielded as its error.

    Args:
        path: the file.
        to_case: makes a row's case.
        as_texts: True reads all cells of a table as texts, without known columns of numbers.

    Raises:
        DataError: the file as a whole cannot be read.
    """
    return read_file_of_several(path, lambda row, line: (to_case(row, line),), as_texts=as_texts)


def read_file_of_several(
    path: Path, to_cases: ToCases, *, as_texts: bool = False
) -> Iterator[ReadRow]:
    """Reads a file whose rows hold several cases each, which share their line.

    Raises:
        DataError: the file as a whole cannot be read.
    """
    for line, row in read_rows(path, as_texts=as_texts):
        if isinstance(row, DataError):
            yield ReadRow(line, row)
            continue
        try:
            cases = tuple(to_cases(row, line))
        except FieldError as error:
            yield ReadRow(line, error.kind(error.message, path=path, line=line, field=error.field))
        else:
            yield from (ReadRow(line, case) for case in cases)


def make_case(*, query: str, responses: tuple[Response, ...], line: int, **fields: Any) -> Case:
    """Makes a case, with the fields that follow from others.

    Args:
        query: the user's request; not blank.
        responses: the responses to judge.
        line: the row's line number, the id of a row that has none.
        fields: any other fields of `Case`.
    """
    if not query.strip():
        raise FieldError("query", "the query is empty")
    fields.setdefault("id", f"line-{line}")
    return Case(query=query, responses=responses, cluster=normalise_query(query), **fields)


def require(row: dict[str, Any], field: str, kind: type | tuple[type, ...], wanted: str) -> Any:
    """A required field of a row, checked for its type.

    Raises:
        FieldError: it is missing or of another type.
    """
    if field not in row:
        raise missing(row, field, wanted)
    value = row[field]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise FieldError(field, f"expected {wanted}, found {type(value).__name__} {_short(value)}")
    return value


def missing(row: dict[str, Any], field: str, wanted: str) -> FieldError:
    """The error of a field that a row lacks, with the fields that it has."""
    names = [repr(shortened(str(name), _LONGEST_NAME)) for name in islice(row, _MOST_NAMES)]
    more = f" and {len(row) - _MOST_NAMES:,} more" if len(row) > _MOST_NAMES else ""
    there = f"{', '.join(names)}{more}" if names else "nothing"
    return FieldError(field, f"is missing; expected {wanted}; the row has {there}")


def require_in(
    row: dict[str, Any], outer: str, field: str, kind: type | tuple[type, ...], wanted: str
) -> Any:
    """A required field of an object in a row, checked for its type.

    Raises:
        FieldError: either is missing or of another type; the field is told as `outer.field`.
    """
    inner = require(row, outer, dict, "an object")
    try:
        return require(inner, field, kind, wanted)
    except FieldError as error:
        raise FieldError(f"{outer}.{field}", error.message) from None


def require_text(row: dict[str, Any], field: str) -> str:
    """A field that must be a string; it may be empty."""
    text: str = require(row, field, str, "a string")
    return text


def optional_text(row: dict[str, Any], field: str) -> str | None:
    """A field that is a string if present and not null."""
    return None if row.get(field) is None else require_text(row, field)


def number_of(row: dict[str, Any], field: str, winners: dict[int, Winner]) -> Winner:
    """A label that a file writes as a whole number.

    Raises:
        FieldError: it is missing or not one of the numbers.
    """
    menu = ", ".join(f"{number} ({winner})" for number, winner in winners.items())
    if field not in row:
        raise missing(row, field, menu)
    value = row[field]
    if not isinstance(value, int) or isinstance(value, bool) or value not in winners:
        raise FieldError(field, f"expected {menu}, found {_short(value)}")
    return winners[value]


def query_of(row: dict[str, Any], joint: str) -> str:
    """A query split over two fields: the instruction and, where there is one, its input."""
    instruction, rest = require_text(row, "instruction"), optional_text(row, "input")
    return f"{instruction}{joint}{rest}" if rest else instruction


def as_pair(
    query: str, better: Response, worse: Response
) -> tuple[tuple[Response, Response], Winner]:
    """Orders a pair of which a file says only which is better, and gives its label.

    The order follows from the texts alone, so that a judge that always names the first is not
    rewarded, and every reading of the file gives the same order.
    """
    content = "\0".join((query, better.text, worse.text))
    if hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()[0] % 2:
        return (worse, better), "b"
    return (better, worse), "a"


def label_of(
    value: object, field: str = "label", *, is_pair: bool = False
) -> Winner | float | None:
    """A label: "a", "b" or "tie", or a rating; of a pair also the usual words for these."""
    if value is None:
        return None
    if is_pair and isinstance(value, str) and (named := winner_of(value)) is not None:
        return named
    if value in WINNERS:
        winner: Winner = value
        return winner
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise FieldError(field, f'expected "a", "b", "tie" or a number, found {_short(value)}')


def scenario_of(row: dict[str, Any]) -> str | None:
    """A row's scenario in the taxonomy's spelling; a user's own name stays as it is."""
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
