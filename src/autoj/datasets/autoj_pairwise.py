"""The release's Eval-P rows: `prompt`, `response 1`, `response 2`, `label` 0/1/2, `scenario`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import FieldError, ReadRow, make_case, read_file, require_text, scenario_of
from autoj.records import WINNERS, Case, Response, Winner

FIELDS = '"prompt" with "response 1" and "response 2"'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return "prompt" in row and ("response 1" in row or "response 2" in row)


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of an Eval-P file, English or Chinese."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row."""
    return make_case(
        query=require_text(row, "prompt"),
        responses=tuple(Response(text=require_text(row, f"response {n}")) for n in (1, 2)),
        line=line,
        label=_label(row.get("label")),
        scenario=scenario_of(row),
        source="auto-j",
    )


def _label(value: object) -> Winner | None:
    if value is None:
        return None
    if value not in (0, 1, 2) or isinstance(value, bool | float):
        raise FieldError("label", f"expected 0 (first), 1 (second) or 2 (tie), found {value!r}")
    return WINNERS[value]
