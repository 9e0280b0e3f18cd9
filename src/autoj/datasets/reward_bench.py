"""RewardBench and TRL's preference sets: `prompt`, `chosen`, `rejected`.

Texts are strings or lists of messages. A conversation of several turns is shown as text: what both
share is the query. Without a prompt, strings are dialogues in the form of HH-RLHF.

**Source**: allenai/reward-bench on the Hugging Face Hub and its preference sets (arXiv 2403.13787);
TRL, "Dataset formats and types" (preference).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets._conversations import as_texts, check_conversation, in_dialogue, messages_in
from autoj.datasets.base import (
    FieldError,
    ReadRow,
    as_pair,
    make_case,
    optional_text,
    read_file,
    require,
)
from autoj.records import Case, Message, Response

FIELDS = '"chosen" and "rejected", strings or lists of messages'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    if not {"chosen", "rejected"} <= row.keys():
        return False
    chosen = row["chosen"]
    return not isinstance(chosen, list) or not all(isinstance(item, str) for item in chosen)


def read(path: Path) -> Iterator[ReadRow]:
    """The pairs of a file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row; the release does not say which comes first, so `as_pair` decides."""
    better, worse = (_conversation(row, field) for field in ("chosen", "rejected"))
    if better[0] != worse[0]:
        raise FieldError("rejected", "answers another conversation than the chosen one")
    query, texts = as_texts([better, worse])
    responses, label = as_pair(
        query,
        Response(text=texts[0], model=optional_text(row, "chosen_model")),
        Response(text=texts[1], model=optional_text(row, "rejected_model")),
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
        # Other preference sets have this layout and no subsets.
        source="reward-bench" if subset else None,
        meta={"subset": subset} if subset else {},
    )


def _conversation(row: dict[str, Any], field: str) -> tuple[Message, ...]:
    """The conversation that ends with a response: of the field alone, or after the prompt."""
    if isinstance(row.get(field), str):
        prompt = row.get("prompt")
        if prompt is None and (dialogue := in_dialogue(row[field])) is not None:
            said = dialogue
        else:
            said = (*_prompt(row), Message(role="assistant", content=row[field]))
    else:
        said = messages_in(row, field)
        # TRL has only the answer here; RewardBench and others repeat the prompt.
        if said and all(message.role == "assistant" for message in said):
            said = (*_prompt(row), *said)
    check_conversation(said, field)
    return said


def _prompt(row: dict[str, Any]) -> tuple[Message, ...]:
    if row.get("prompt") is None:
        raise FieldError("prompt", "is missing; expected a string or a list of messages")
    if isinstance(row["prompt"], str):
        return (Message(role="user", content=row["prompt"]),)
    return messages_in(row, "prompt")
