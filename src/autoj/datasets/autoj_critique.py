"""The release's Eval-C rows: `prompt`, `response`, `critiques` by critic, `scenario`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import FieldError, ReadRow, make_case, read_file, require_text, scenario_of
from autoj.records import Case, Response

FIELDS = '"prompt" with "response"'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return "prompt" in row and "response" in row


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of an Eval-C file, English or Chinese."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row; its critiques keep their critics' names in `meta`."""
    critiques = row.get("critiques") or {}
    if not isinstance(critiques, dict):
        raise FieldError("critiques", f"expected an object, found {type(critiques).__name__}")
    for critic, critique in critiques.items():
        if not isinstance(critique, str):
            raise FieldError(f"critiques.{critic}", "expected a string")
    return make_case(
        query=require_text(row, "prompt"),
        responses=(Response(text=require_text(row, "response")),),
        line=line,
        scenario=scenario_of(row),
        source="auto-j",
        critiques=tuple(critiques.values()),
        meta={"critics": list(critiques)} if critiques else {},
    )
