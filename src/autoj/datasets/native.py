"""Native rows: `{"id", "query", "responses": [...], "label", "source", "meta"?}`.

A response is a string, or an object with `text` and, if known, `model`, `logprob` and
`reference_score`. `"response": "…"` may stand for one response, `id` may be left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    FieldError,
    Row,
    label_of,
    make_case,
    optional_text,
    read_file,
    require,
    require_text,
    scenario_of,
)
from autoj.records import Case, Response

__all__ = ["FIELDS", "matches", "read", "to_case"]

FIELDS = '"query" with "responses" or "response"'


def matches(row: dict[str, Any]) -> bool:
    """Whether a row looks like one of these."""
    return "query" in row or "responses" in row


def read(path: Path) -> Iterator[Row]:
    """The rows of a file of native rows."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row."""
    if row.get("history"):
        raise FieldError("history", "conversations of several turns cannot be judged yet")
    fields: dict[str, Any] = {}
    if row.get("id") is not None:
        fields["id"] = str(require(row, "id", (str, int), "a string"))
    responses, label = _responses(row), label_of(row.get("label"))
    # 0, 1 and 2 are labels elsewhere; read as ratings here, they would match no winner.
    if len(responses) == 2 and isinstance(label, float):
        raise FieldError("label", f'expected "a", "b" or "tie" for a pair, found {label:g}')
    return make_case(
        query=require_text(row, "query"),
        responses=responses,
        line=line,
        label=label,
        scenario=scenario_of(row),
        source=optional_text(row, "source"),
        meta=require(row, "meta", dict, "an object") if row.get("meta") is not None else {},
        **fields,
    )


def _responses(row: dict[str, Any]) -> tuple[Response, ...]:
    if "responses" not in row:
        return (Response(text=require_text(row, "response"), model=optional_text(row, "model")),)
    values = require(row, "responses", list, "a list of responses")
    if not values:
        raise FieldError("responses", "expected at least one response, found none")
    scores = _per_response(row, "reference_scores", len(values))
    models = _per_response(row, "models", len(values))
    return tuple(
        _response(value, index, models[index], scores[index]) for index, value in enumerate(values)
    )


def _per_response(row: dict[str, Any], name: str, n_responses: int) -> list[Any]:
    """A list in `meta` that runs along the responses; Nones where there is none."""
    meta = row.get("meta")
    values = meta.get(name) if isinstance(meta, dict) else None
    if isinstance(values, list) and len(values) == n_responses:
        return values
    return [None] * n_responses


def _response(value: object, index: int, model: Any, score: Any) -> Response:
    field = f"responses[{index}]"
    if isinstance(value, str):
        return Response(
            text=value,
            model=model if isinstance(model, str) else None,
            reference_score=float(score) if isinstance(score, int | float) else None,
        )
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise FieldError(field, f"expected a string, found {type(value).__name__}")
    for name in ("logprob", "reference_score"):
        number = value.get(name)
        if not isinstance(number, int | float | None) or isinstance(number, bool):
            raise FieldError(f"{field}.{name}", f"expected a number, found {number!r}")
    if not isinstance(value.get("model"), str | None):
        raise FieldError(f"{field}.model", f"expected a string, found {value['model']!r}")
    return Response(
        text=value["text"],
        model=value.get("model"),
        logprob=value.get("logprob"),
        reference_score=value.get("reference_score"),
    )
