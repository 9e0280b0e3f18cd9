"""RewardBench 2: `prompt` with lists of `chosen` and of `rejected` responses, and their numbers.

A row is one case with all its responses, to be rated (`autoj rate`) or picked from (`autoj select`,
`autoj bench eval-r`), as in the benchmark: a chosen one must rank above all rejected ones. Chosen
responses have the reference score 1, rejected ones 0; most rows have one and three, those of the
subset Ties any number of both. `num_correct` distinguishes such rows from RM-Bench's.

**Source**: allenai/reward-bench-2 on the Hugging Face Hub (arXiv 2506.01937).
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    FieldError,
    ReadRow,
    make_case,
    optional_text,
    read_file,
    require,
    require_text,
)
from autoj.records import Case, Response

FIELDS = '"prompt" with "chosen" and "rejected", lists of strings, and "num_correct"'

_COUNTS = {"chosen": "num_correct", "rejected": "num_incorrect"}


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return {"prompt", "rejected", "num_correct"} <= row.keys() and isinstance(
        row.get("chosen"), list
    )


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of a file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row.

    The file lists the chosen responses first. In the case the order follows from the texts alone,
    so that a judge that takes the first of equals is not rewarded.
    """
    query = require_text(row, "prompt")
    responses = [Response(text=text, reference_score=1.0) for text in _texts(row, "chosen")]
    responses += [Response(text=text, reference_score=0.0) for text in _texts(row, "rejected")]
    responses.sort(key=lambda response: _lot(query, response.text))
    subset = optional_text(row, "subset")
    number = require(row, "id", (str, int), "a string") if row.get("id") is not None else line
    return make_case(
        id=f"reward-bench-2-{number}",
        query=query,
        responses=tuple(responses),
        line=line,
        source="reward-bench-2",
        meta={"subset": subset} if subset else {},
    )


def _texts(row: dict[str, Any], field: str) -> list[str]:
    texts: list[Any] = require(row, field, list, "a list of strings")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise FieldError(f"{field}[{index}]", f"expected a string, found {type(text).__name__}")
    if not texts:
        raise FieldError(field, "expected at least one response, found none")
    count = row.get(_COUNTS[field])
    if count is not None and count != len(texts):
        raise FieldError(
            field, f"expected {count!r} responses ({_COUNTS[field]}), found {len(texts)}"
        )
    return texts


def _lot(query: str, text: str) -> bytes:
    content = f"{query}\0{text}"
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()
