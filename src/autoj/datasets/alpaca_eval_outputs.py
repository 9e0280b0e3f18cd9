"""AlpacaEval's outputs of one model: `instruction`, `output` and `generator`.

**Source**: tatsu-lab/alpaca_eval, results/*/model_outputs.json.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    ReadRow,
    make_case,
    optional_text,
    query_of,
    read_file,
    require,
    require_text,
)
from autoj.records import Case, Response

FIELDS = '"instruction" with "output"'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return {"instruction", "output"} <= row.keys()


def read(path: Path) -> Iterator[ReadRow]:
    """The outputs of one model."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row: one response, to be rated.

    Its id is the query's number, the same in each model's file: `pid` if present, else the row's
    index in the file, counted from 0.
    """
    has_number = row.get("pid") is not None
    number = require(row, "pid", (int, str), "a number") if has_number else line - 1
    dataset = optional_text(row, "dataset")
    return make_case(
        id=f"alpaca-eval-{number}",
        query=query_of(row, "\n\n"),
        responses=(
            Response(text=require_text(row, "output"), model=optional_text(row, "generator")),
        ),
        line=line,
        source="alpaca-eval",
        meta={"dataset": dataset} if dataset else {},
    )
