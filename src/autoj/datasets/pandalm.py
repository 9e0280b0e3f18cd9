"""PandaLM's test set: `instruction`, `input`, `response1`, `response2`, three annotators' labels.

An annotator says 1 (first), 2 (second) or 0 (similar). The label is the one that two of them agree
on, as in the release's table (422 first, 472 second, 105 similar); a row without two that agree has
none. Six responses of the release are the JSON value true, read as the text "True" that it was.

**Source**: WeOpenML/PandaLM, README.md and data/testset-v1.json (arXiv 2306.05087).
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets._preferences import decode
from autoj.datasets.base import (
    FieldError,
    ReadRow,
    make_case,
    optional_text,
    query_of,
    read_file,
    require,
    require_text,
)
from autoj.records import Case, Response, Winner

FIELDS = '"instruction" with "response1", "response2" and "annotator1"'

_ANNOTATORS = ("annotator1", "annotator2", "annotator3")


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return "annotator1" in row and ("response1" in row or "response2" in row)


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of the test set."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row; `meta` keeps each annotator's label."""
    labels = [_label(row, name) for name in _ANNOTATORS]
    ((label, n_votes), *_) = Counter(labels).most_common()
    number = require(row, "idx", (int, str), "a number") if row.get("idx") is not None else line
    models = (optional_text(row, "cmp_key") or "").split("_")
    first, second = models if len(models) == 2 else (None, None)
    return make_case(
        id=f"pandalm-{number}",
        query=query_of(row, "\n\n"),
        responses=(
            Response(text=_text(row, "response1"), model=first),
            Response(text=_text(row, "response2"), model=second),
        ),
        line=line,
        label=label if n_votes > 1 else None,
        source="pandalm",
        meta={"votes": labels},
    )


def _text(row: dict[str, Any], field: str) -> str:
    value = row.get(field)
    return str(value) if isinstance(value, bool) else require_text(row, field)


def _label(row: dict[str, Any], field: str) -> Winner:
    if field not in row:
        raise FieldError(field, "is missing; expected 1 (first), 2 (second) or 0 (tie)")
    winner = decode("pandalm", row[field], field)
    if winner is None:
        raise FieldError(field, f"expected 1 (first), 2 (second) or 0 (tie), found {row[field]!r}")
    return winner
