"""The release's independent critiques: `output`, and the case in `meta`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import ReadRow, make_case, read_file, require, require_text, scenario_of
from autoj.records import Case, Response

FIELDS = '"output" with "prompt" and "response" in "meta"'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    meta = row.get("meta")
    return "output" in row and isinstance(meta, dict) and {"prompt", "response"} <= meta.keys()


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of a file of independent critiques."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row; the critique is its own."""
    meta: dict[str, Any] = require(row, "meta", dict, "an object")
    return make_case(
        query=require_text(meta, "prompt"),
        responses=(Response(text=require_text(meta, "response")),),
        line=line,
        scenario=scenario_of(meta),
        source="auto-j",
        critiques=(require_text(row, "output"),),
    )
