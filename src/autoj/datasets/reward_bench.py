"""RewardBench: `prompt`, `chosen`, `rejected`, and the models that wrote them.

Texts are strings or lists of messages; of such a list the last message is the response and those
before it are the conversation, which must have a single turn.

**Source**: allenai/reward-bench on the Hugging Face Hub and its preference sets (arXiv 2403.13787).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    FieldError,
    Row,
    as_pair,
    make_case,
    optional_text,
    read_file,
    require,
    require_text,
)
from autoj.records import Case, Response

__all__ = ["FIELDS", "matches", "read", "to_case"]

FIELDS = '"chosen" and "rejected", strings or lists of messages'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    if not {"chosen", "rejected"} <= row.keys():
        return False
    chosen = row["chosen"]
    return not isinstance(chosen, list) or not all(isinstance(item, str) for item in chosen)


def read(path: Path) -> Iterator[Row]:
    """The pairs of a file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row; the release does not say which comes first, so `as_pair` decides."""
    asked, better = _split(row, "chosen")
    asked_too, worse = _split(row, "rejected")
    if asked != asked_too:
        raise FieldError("rejected", "answers another conversation than the chosen one")
    query = _prompt(row) if row.get("prompt") is not None else asked
    if query is None:
        raise FieldError("prompt", "is missing; expected a string or a list of messages")
    responses, label = as_pair(
        query,
        Response(text=better, model=optional_text(row, "chosen_model")),
        Response(text=worse, model=optional_text(row, "rejected_model")),
    )
    subset = optional_text(row, "subset")
    has_id = row.get("id") is not None
    number = require(row, "id", (str, int), "a string") if has_id else line
    return make_case(
        id=f"reward-bench-{number}",
        query=query,
        responses=responses,
        line=line,
        label=label,
        source="reward-bench",
        meta={"subset": subset} if subset else {},
    )


def _prompt(row: dict[str, Any]) -> str:
    if isinstance(row["prompt"], str):
        return require_text(row, "prompt")
    return _question(_messages(row, "prompt"), "prompt")


def _split(row: dict[str, Any], field: str) -> tuple[str | None, str]:
    """The query that a text answers, if it includes it, and the text."""
    if isinstance(row.get(field), str):
        return None, row[field]
    messages = _messages(row, field)
    if not messages or messages[-1]["role"] != "assistant":
        raise FieldError(field, "expected the last message to be the assistant's")
    asked = messages[:-1]
    return (_question(asked, field) if asked else None), messages[-1]["content"]


def _messages(row: dict[str, Any], field: str) -> list[dict[str, str]]:
    messages: list[Any] = require(row, field, list, "a string or a list of messages")
    for index, message in enumerate(messages):
        if (
            not isinstance(message, dict)
            or not isinstance(message.get("role"), str)
            or not isinstance(message.get("content"), str)
        ):
            raise FieldError(f"{field}[{index}]", "expected a message with role and content")
    return messages


def _question(messages: list[dict[str, str]], field: str) -> str:
    if len(messages) != 1 or messages[0]["role"] != "user":
        raise FieldError(field, "conversations of several turns cannot be judged yet")
    return messages[0]["content"]
