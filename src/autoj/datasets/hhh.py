"""HHH alignment: `input` with two choices, one of them right, in two layouts.

BIG-bench has `target_scores`, an object of choice and score; the Hugging Face Hub has `targets`
with `choices` and `labels`. Neither says which choice comes first, so `as_pair` decides. In a file
in a folder named after a subset (`harmless`, `helpful`, `honest`, `other`) cases have it in `meta`.

**Source**: google/BIG-bench, benchmark_tasks/hhh_alignment/*/task.json; HuggingFaceH4/hhh_alignment
on the Hugging Face Hub (arXiv 2112.00861).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    FieldError,
    ReadRow,
    as_pair,
    make_case,
    read_file,
    require,
    require_text,
)
from autoj.records import Case, Response

FIELDS = '"input" with "target_scores" or "targets"'

_SUBSETS = ("harmless", "helpful", "honest", "other")


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return "input" in row and ("target_scores" in row or "targets" in row)


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of a file of one subset."""
    folder = path.absolute().parent.name
    subset = folder if folder in _SUBSETS else None
    return read_file(path, lambda row, line: to_case(row, line, subset))


def to_case(row: dict[str, Any], line: int, subset: str | None = None) -> Case:
    """The case of one row."""
    query = require_text(row, "input").strip()
    right, wrong = _choices(row)
    responses, label = as_pair(query, Response(text=right), Response(text=wrong))
    return make_case(
        query=query,
        responses=responses,
        line=line,
        label=label,
        source="hhh_alignment",
        meta={"subset": subset} if subset else {},
        **({"id": f"hhh-{subset}-{line}"} if subset else {}),
    )


def _choices(row: dict[str, Any]) -> tuple[str, str]:
    """The right choice and the wrong one."""
    if "target_scores" in row:
        field, scores = "target_scores", require(row, "target_scores", dict, "an object")
        choices = list(scores.items())
    else:
        field, targets = "targets", require(row, "targets", dict, "an object")
        texts = require(targets, "choices", list, "a list of choices")
        labels = require(targets, "labels", list, "a list of labels")
        if len(texts) != len(labels):
            raise FieldError(field, f"has {len(texts)} choices and {len(labels)} labels")
        choices = list(zip(texts, labels, strict=True))
    right = [text for text, score in choices if _is(score, 1)]
    wrong = [text for text, score in choices if _is(score, 0)]
    if len(choices) != 2 or len(right) != 1 or len(wrong) != 1:
        raise FieldError(field, "expected two choices, one with 1 (right) and one with 0 (wrong)")
    if not isinstance(right[0], str) or not isinstance(wrong[0], str):
        raise FieldError(field, "expected choices that are strings")
    return right[0], wrong[0]


def _is(score: object, wanted: int) -> bool:
    return isinstance(score, int | float) and not isinstance(score, bool) and score == wanted
