"""EvalBiasBench: `bias`, `instruction`, `response1`, `response2` and `label`, 1 or 2.

The release is one object with a list of pairs for each bias, and its label is always 1: a judge
that always names the first response looks right, so judge both orders.

**Source**: ncsoft/offsetbias, data/evalbiasbench/biasbench.json (arXiv 2407.06551).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import ReadRow, make_case, number_of, read_file, require_text
from autoj.records import Case, Response

FIELDS = '"bias" and "instruction" with "response1", "response2"'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return {"bias", "instruction"} <= row.keys() and ("response1" in row or "response2" in row)


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of the file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row."""
    return make_case(
        id=f"evalbias-{line}",
        query=require_text(row, "instruction"),
        responses=tuple(Response(text=require_text(row, f"response{n}")) for n in (1, 2)),
        line=line,
        label=number_of(row, "label", {1: "a", 2: "b"}),
        source="evalbiasbench",
        meta={"bias": require_text(row, "bias")},
    )
