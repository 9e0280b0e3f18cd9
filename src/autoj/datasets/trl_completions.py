"""TRL's prompts with completions: `prompt` and `completion`, strings or lists of messages.

Each is a response to rate. `label`, true or false in sets of unpaired preferences, is no rating: it
is kept in `meta`. Preference sets (`prompt`, `chosen`, `rejected`) are read as RewardBench's.

**Source**: TRL, "Dataset formats and types" (prompt-completion and unpaired preference).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from autoj.datasets._conversations import as_texts, check_conversation, messages_in
from autoj.datasets.base import (
    ReadRow,
    label_of,
    make_case,
    optional_text,
    read_file,
    require,
    require_text,
    scenario_of,
)
from autoj.records import Case, Message, Response

_FIELDS: tuple[tuple[str, Literal["user", "assistant"]], ...] = (
    ("prompt", "user"),
    ("completion", "assistant"),
)
FIELDS = '"prompt" with "completion", strings or lists of messages'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return {"prompt", "completion"} <= row.keys() and "response" not in row


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of a file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row: one response, to be rated."""
    query, (text,) = as_texts([_conversation(row)])
    label = row.get("label")
    meta = {"label": label} if isinstance(label, bool) else {}
    number = (
        {"id": str(require(row, "id", (str, int), "a string"))} if row.get("id") is not None else {}
    )
    return make_case(
        query=query,
        responses=(Response(text=text, model=optional_text(row, "model")),),
        line=line,
        label=None if meta else label_of(label),
        scenario=scenario_of(row),
        source=optional_text(row, "source"),
        meta=meta,
        **number,
    )


def _conversation(row: dict[str, Any]) -> tuple[Message, ...]:
    asked, said = (
        (Message(role=role, content=require_text(row, field)),)
        if isinstance(row.get(field), str)
        else messages_in(row, field)
        for field, role in _FIELDS
    )
    check_conversation((*asked, *said), "completion")
    return (*asked, *said)
