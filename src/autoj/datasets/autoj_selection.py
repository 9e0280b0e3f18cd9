"""The release's Eval-R rows: `prompt`, and under `outputs` the responses of each base model.

A row is a case per base model, named in `meta["base_model"]`; judges' ratings that were published
with the file are in `meta["scores"]`, one list per judge.

**Source**: GAIR-NLP/auto-j, README, "Best-of-N selection".
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    FieldError,
    ReadRow,
    make_case,
    read_file_of_several,
    require_text,
    scenario_of,
)
from autoj.records import Case, Response

FIELDS = '"prompt" with "outputs", an object of base models'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return "prompt" in row and isinstance(row.get("outputs"), dict)


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of an Eval-R file."""
    return read_file_of_several(path, to_cases)


def to_cases(row: dict[str, Any], line: int) -> list[Case]:
    """The cases of one row, one per base model, in the row's order."""
    query, scenario = require_text(row, "prompt"), scenario_of(row)
    blocks = row.get("outputs")
    if not isinstance(blocks, dict) or not blocks:
        raise FieldError("outputs", "expected an object with at least one base model")
    return [_case(query, scenario, line, base_model, block) for base_model, block in blocks.items()]


def _case(query: str, scenario: str | None, line: int, base_model: str, block: object) -> Case:
    where = f"outputs.{base_model}"
    if not isinstance(block, dict):
        raise FieldError(where, f"expected an object, found {type(block).__name__}")
    texts = block.get("outputs")
    if not isinstance(texts, list) or not texts:
        raise FieldError(f"{where}.outputs", "expected a list of at least one response")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            found = type(text).__name__
            raise FieldError(f"{where}.outputs[{index}]", f"expected a string, found {found}")
    logprobs = _numbers(block.get("logprobs"), f"{where}.logprobs", len(texts))
    return make_case(
        id=f"line-{line}/{base_model}",
        query=query,
        responses=tuple(
            Response(text=text, model=base_model, logprob=logprob)
            for text, logprob in zip(texts, logprobs, strict=True)
        ),
        line=line,
        scenario=scenario,
        source="auto-j",
        meta={"base_model": base_model, **_more(block, where, len(texts))},
    )


def _more(block: dict[str, Any], where: str, n_responses: int) -> dict[str, Any]:
    """The block's other data: published ratings, how each response ended, its id."""
    scores = block.get("scores") or {}
    if not isinstance(scores, dict):
        raise FieldError(f"{where}.scores", f"expected an object, found {type(scores).__name__}")
    more: dict[str, Any] = {
        "scores": {
            judge: _numbers(values, f"{where}.scores.{judge}", n_responses)
            for judge, values in scores.items()
        }
    }
    for name in ("finish_reasons", "id"):
        if block.get(name) is not None:
            more[name] = block[name]
    return more if scores else {name: value for name, value in more.items() if name != "scores"}


def _numbers(values: object, field: str, n_responses: int) -> list[float | None]:
    """A list with one number per response; None for null or a missing list."""
    if values is None:
        return [None] * n_responses
    if not isinstance(values, list) or len(values) != n_responses:
        found = f"{len(values)}" if isinstance(values, list) else type(values).__name__
        raise FieldError(
            field, f"expected a list of {n_responses} numbers, one per response, found {found}"
        )
    for index, value in enumerate(values):
        if not isinstance(value, int | float | None) or isinstance(value, bool):
            raise FieldError(f"{field}[{index}]", f"expected a number, found {value!r}")
    return [None if value is None else float(value) for value in values]
