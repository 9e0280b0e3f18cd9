"""The release's scenario-classifier rows: `category`, `instruction`, `input`; no response.

Such a case has a query and its scenario and nothing to judge: judging and rating refuse it,
`overlap` and the scenario classifier read it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import ReadRow, make_case, query_of, read_file, require_text, scenario_of
from autoj.records import Case

FIELDS = '"category" with "instruction"'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return {"category", "instruction"} <= row.keys() and "output" not in row


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of a file of queries and their scenarios."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row."""
    return make_case(
        query=query_of(row, " "),
        responses=(),
        line=line,
        scenario=scenario_of({"scenario": require_text(row, "category")}),
        source="auto-j",
    )
