"""Native rows: `{"id", "query", "responses": [...], "label", "source", "reference"?, "meta"?}`.

A response is a string, or an object with `text` and, if known, `model`, `logprob` and
`reference_score`. A single response may be given as `"response": "…"`, and `id` may be left out.
For responses that are strings, `meta` may hold models and reference scores as the lists `models`
and `reference_scores`.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from autoj.datasets._columns import layout_of
from autoj.datasets.base import (
    FieldError,
    ReadRow,
    label_of,
    make_case,
    optional_text,
    read_file,
    require,
    require_text,
    scenario_of,
)
from autoj.records import Case, Response

FIELDS = '"query" with "responses" or "response"'
_LARGEST = 1e100
"""Sums of products of larger scores, as in correlations, overflow."""


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    if "responses" in row or "query" not in row:
        return "responses" in row
    layout = layout_of(row)
    return "response_a" not in row and (layout is None or "a" not in layout.columns)


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of a file of native rows."""
    return read_file(path, to_case)


def is_score(value: object) -> TypeGuard[float]:
    """True where a value is a number that is not too large to compute with.

    >>> is_score(-3), is_score(True), is_score(float("nan")), is_score(1e200)
    (True, False, False, False)
    """
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and -_LARGEST <= value <= _LARGEST
    )


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row."""
    if row.get("history"):
        raise FieldError("history", "conversations of several turns cannot be judged yet")
    fields: dict[str, Any] = {}
    if row.get("id") is not None:
        fields["id"] = str(require(row, "id", (str, int), "a string"))
    responses = _responses(row)
    label = label_of(row.get("label"), is_pair=len(responses) == 2)
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
        reference=_reference(row),
        language="zh" if row.get("language") == "zh" else "en",
        meta=require(row, "meta", dict, "an object") if row.get("meta") is not None else {},
        **fields,
    )


def _reference(row: dict[str, Any]) -> str | None:
    """The reference answer; None where there is none, or a blank one."""
    if row.get("reference") is None:
        return None
    found = str(require(row, "reference", (str, int, float), "a string"))
    return found if found.strip() else None


def _responses(row: dict[str, Any]) -> tuple[Response, ...]:
    if "responses" not in row:
        return (Response(text=require_text(row, "response"), model=optional_text(row, "model")),)
    values = require(row, "responses", list, "a list of responses")
    if not values:
        raise FieldError("responses", "expected at least one response, found none")
    scores = _per_response(row, "reference_scores", len(values))
    models = _per_response(row, "models", len(values))
    return tuple(
        _response(value, f"responses[{index}]", models[index], scores[index])
        for index, value in enumerate(values)
    )


_OF_RESPONSE: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "model": ("a string", lambda value: isinstance(value, str)),
    "logprob": (f"a number from {-_LARGEST:g} to {_LARGEST:g}", is_score),
    "reference_score": (f"a number from {-_LARGEST:g} to {_LARGEST:g}", is_score),
}
"""Optional fields of a response: the expected type in words, and a check of it."""


def _optional(value: Any, name: str, field: str) -> Any:
    wanted, is_right = _OF_RESPONSE[name]
    if value is not None and not is_right(value):
        raise FieldError(field, f"expected {wanted}, found {value!r}")
    return float(value) if is_score(value) else value


def _per_response(row: dict[str, Any], plural: str, n_responses: int) -> list[Any]:
    """A list in `meta` with one value per response; Nones where there is none."""
    meta = row.get("meta")
    values = meta.get(plural) if isinstance(meta, dict) else None
    if values is None:
        return [None] * n_responses
    field = f"meta.{plural}"
    if not isinstance(values, list) or len(values) != n_responses:
        found = f"{len(values)}" if isinstance(values, list) else type(values).__name__
        raise FieldError(field, f"expected a list of {n_responses} values, found {found}")
    return [
        _optional(value, plural.removesuffix("s"), f"{field}[{index}]")
        for index, value in enumerate(values)
    ]


def _response(value: object, field: str, model: str | None, score: float | None) -> Response:
    if isinstance(value, str):
        return Response(text=value, model=model, reference_score=score)
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise FieldError(field, f"expected a string, found {type(value).__name__}")
    known = {name: _optional(value.get(name), name, f"{field}.{name}") for name in _OF_RESPONSE}
    return Response(text=value["text"], **known)
