"""Rows of any layout, with a map from the fields of a case to the columns that hold them.

`query=question,a=answer_1,b=answer_2,label=winner` names the columns of pairs. A column's name may
be a path into nested fields: `messages.0.content`, `messages.-1.content`.
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autoj.datasets._columns import winner_of
from autoj.datasets.base import FieldError, make_case, scenario_of
from autoj.errors import ConfigError, DataError, UnknownComponent, shortened
from autoj.records import Case, Response, Winner

_TARGETS = (
    "query", "a", "b", "response", "responses", "label", "id", "scenario", "source", "reference",
    "model", "model_a", "model_b",
)  # fmt: skip
_NEXT = re.compile(rf",(?=(?:{'|'.join(_TARGETS)})=)")
_CODES = re.compile(r"(.+):([^/:]+(?:/[^/:]+){1,2})\Z", re.DOTALL)
# At most nine digits: Python makes no number of 5,000, and no list is as long.
_INDEX = re.compile(r"-?\d{1,9}", re.ASCII)
_LONGEST_SHOWN = 200
_MEANINGS: tuple[Winner, ...] = ("a", "b", "tie")


def parse_map(texts: Sequence[str], *, queries_alone: bool = False) -> "ColumnMap":
    """Parses `--map`, given as one text or several.

    Args:
        texts: `TARGET=COLUMN`, with commas between. A label may be followed by the codes of "a",
            "b" and, where there is one, "tie": `label=winner:1/2/0`.
        queries_alone: True where nothing is judged, so that no response must be named.

    Raises:
        ConfigError: the map is invalid, or lacks a column that a case needs.

    >>> parse_map(["query=question,a=one,b=two,label=winner:1/2/0"]).codes
    {'1': 'a', '2': 'b', '0': 'tie'}
    """
    columns: dict[str, str] = {}
    for part in (part for text in texts for part in _NEXT.split(text)):
        target, equals, column = part.partition("=")
        target = target.strip()
        if not equals or not column:
            raise ConfigError(
                f"--map: expected TARGET=COLUMN, found {part!r}",
                hint="For example: --map query=question,a=answer_1,b=answer_2,label=winner",
            )
        if target not in _TARGETS:
            raise UnknownComponent("target of --map", target, _TARGETS)
        if target in columns:
            raise ConfigError(f"--map names {target} twice: {columns[target]!r} and {column!r}")
        columns[target] = column
    codes = _take_codes(columns)
    return ColumnMap(columns=columns, codes=codes, queries_alone=queries_alone)


def _take_codes(columns: dict[str, str]) -> Mapping[str, Winner]:
    """The codes behind a label's column; they are removed from the column's name."""
    found = _CODES.match(columns.get("label", ""))
    if found is None:
        return {}
    columns["label"] = found[1]
    codes = found[2].split("/")
    if len(set(codes)) < len(codes):
        raise ConfigError(f"--map: one code has two meanings in {found[2]!r}")
    return dict(zip(codes, _MEANINGS, strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMap:
    """A map from the fields of a case to columns."""

    columns: Mapping[str, str]
    """Per target the name of a column, or a path into nested fields."""
    codes: Mapping[str, Winner] = field(default_factory=dict)
    """Meanings of the label's values; empty where they are plain winners."""
    queries_alone: bool = False
    """True where a map without a response is complete."""

    def __post_init__(self) -> None:
        named = self.columns.keys()
        if "query" not in named:
            raise ConfigError("--map must name the column of the query")
        ways = [way for way in ({"a", "b"}, {"response"}, {"responses"}) if way & named]
        if not ways and self.queries_alone:
            return
        if len(ways) != 1 or not ways[0] <= named:
            raise ConfigError(
                "--map must name either a and b (a pair), response (one), or responses (a list)"
            )
        if self.codes and "a" not in named:
            raise ConfigError("--map: label codes need a pair: name the columns of a and b")

    def __str__(self) -> str:
        codes = f":{'/'.join(self.codes)}" if self.codes else ""
        return ",".join(
            f"{target}={column}{codes if target == 'label' else ''}"
            for target, column in sorted(self.columns.items())
        )

    def check(self, path: Path, rows: Iterable[dict[str, Any]]) -> None:
        """Checks the map against some rows of a file: each column must be in one of them.

        Raises:
            DataError: no row has a column; the message lists the existing ones.
        """
        missing: dict[str, FieldError] = {}
        for index, row in enumerate(rows):
            for target, column in self.columns.items():
                try:
                    _value(row, column)
                except FieldError as error:
                    if index == 0:
                        missing[target] = error
                else:
                    missing.pop(target, None)
        for target, fault in missing.items():
            raise DataError(f"{fault.message} (--map {target})", path=path)

    def to_case(self, row: dict[str, Any], line: int) -> Case:
        """The case of one row.

        Raises:
            FieldError: a column that a case needs is missing, or has another type.
        """
        optional = {
            name: self._optional_text(row, name) for name in ("scenario", "source", "reference")
        }
        fields: dict[str, Any] = {name: value for name, value in optional.items() if value}
        if "scenario" in fields:
            fields["scenario"] = scenario_of(fields)
        if number := self._optional_text(row, "id"):
            fields["id"] = number
        responses = self._responses(row)
        return make_case(
            query=self._text(row, "query"),
            responses=responses,
            line=line,
            label=self._label(row, responses),
            **fields,
        )

    def _responses(self, row: dict[str, Any]) -> tuple[Response, ...]:
        if "responses" in self.columns:
            column = self.columns["responses"]
            texts = _value(row, column)
            if not isinstance(texts, list) or not texts:
                raise FieldError(column, f"expected a list of strings, found {_shown(texts)}")
            return tuple(
                Response(text=_string(text, f"{column}.{index}"))
                for index, text in enumerate(texts)
            )
        if "response" in self.columns:
            model = self._optional_text(row, "model")
            return (Response(text=self._text(row, "response"), model=model),)
        if "a" not in self.columns:
            return ()
        return tuple(
            Response(text=self._text(row, side), model=self._optional_text(row, f"model_{side}"))
            for side in ("a", "b")
        )

    def _text(self, row: dict[str, Any], target: str) -> str:
        column = self.columns[target]
        return _string(_value(row, column), column)

    def _optional_text(self, row: dict[str, Any], target: str) -> str | None:
        """A text, or a number as text; None where the column is absent, null or empty."""
        value = self._optional(row, target)
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            raise FieldError(self.columns[target], f"expected a string, found {_shown(value)}")
        return None if value is None else str(value)

    def _optional(self, row: dict[str, Any], target: str) -> Any:
        if target not in self.columns:
            return None
        try:
            value = _value(row, self.columns[target])
        except FieldError:
            return None
        return None if value == "" else value

    def _label(self, row: dict[str, Any], responses: tuple[Response, ...]) -> Winner | float | None:
        value = self._optional(row, "label")
        if value is None:
            return None
        column = self.columns["label"]
        if not responses:
            return None
        if len(responses) == 2:
            return self._winner(value, column, responses)
        if len(responses) == 1 and (rating := _number(value)) is not None:
            return rating
        raise FieldError(column, f"expected a rating, found {_shown(value)}")

    def _winner(self, value: Any, column: str, responses: tuple[Response, ...]) -> Winner:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = str(value)
        if self.codes:
            if text not in self.codes or isinstance(value, bool):
                menu = ", ".join(f"{code} ({winner})" for code, winner in self.codes.items())
                raise FieldError(column, f"expected {menu}, found {_shown(value)}")
            return self.codes[text]
        names: dict[str, Winner] = {}
        for side, response in zip(_MEANINGS, responses, strict=False):
            names[self.columns.get(side, side)] = side
            if response.model is not None:
                names[response.model] = side
        winner = names.get(text) or (winner_of(value) if isinstance(value, str) else None)
        if winner is None:
            raise FieldError(
                column,
                f'expected "a", "b", "tie", a model or a column, found {_shown(value)}; for codes, '
                f"say which mean a, b and tie: --map label={column}:1/2/0",
            )
        return winner


def _value(row: dict[str, Any], column: str) -> Any:
    """The value in a column, or at the end of a path into nested fields.

    Raises:
        FieldError: there is no such column; the message lists the existing ones.
    """
    if column in row:
        return row[column]
    found: Any = row
    done: list[str] = []
    for part in column.split("."):
        if isinstance(found, dict) and part in found:
            found = found[part]
        elif isinstance(found, list) and _INDEX.fullmatch(part):
            index = int(part)
            if not -len(found) <= index < len(found):
                place = ".".join(done)
                raise FieldError(column, f"{place!r} has {len(found)} items and no item {part}")
            found = found[index]
        else:
            raise FieldError(column, _missing(column, part, ".".join(done), found))
        done.append(part)
    return found


def _missing(column: str, part: str, place: str, found: Any) -> str:
    column, part = shortened(column, _LONGEST_SHOWN), shortened(part, _LONGEST_SHOWN)
    if not isinstance(found, dict):
        wanted = "an item's number" if isinstance(found, list) else "an object with fields"
        return f"there is no {column!r}: {place!r} is {_shown(found)}, expected {wanted}"
    names = [str(name) for name in found]
    wanted = column if not place else part
    near = difflib.get_close_matches(wanted, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    there = ", ".join(map(repr, names)) or "(none)"
    if not place:
        return f"there is no column {column!r}; {hint}The columns are {there}"
    return f"there is no {part!r} in {place!r}; {hint}It has {there}"


def _string(value: Any, column: str) -> str:
    if not isinstance(value, str):
        raise FieldError(column, f"expected a string, found {_shown(value)}")
    return value


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _shown(value: Any) -> str:
    text = f"{type(value).__name__} {value!r}"
    return text if len(text) <= 60 else text[:57] + "…"
