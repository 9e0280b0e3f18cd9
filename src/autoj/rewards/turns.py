"""Prompts and completions of other tools, texts or conversations, as a query and a response."""

from collections.abc import Mapping, Sequence
from typing import Any

from autoj.datasets._conversations import as_texts
from autoj.errors import DataError
from autoj.records import Message

Turns = str | Sequence[Mapping[str, Any]]
"""A text, or the messages of a conversation, each with `role` and `content`."""


def query_of(prompt: Turns, number: int) -> str:
    """The query of a prompt: all that leads to the user's last message, each with its speaker.

    Args:
        prompt: a text or a conversation.
        number: the number of the row, for messages.

    Raises:
        DataError: no message is a user's, or one holds other things than text.
    """
    if isinstance(prompt, str):
        return prompt
    last = max((i for i, turn in enumerate(prompt) if turn.get("role") == "user"), default=None)
    if last is None:
        raise DataError(f"row {number}: no message of a user", path="(call)", field="prompts")
    turns = [
        Message(role=turn["role"], content=_content(turn, number, "prompts"))
        for turn in prompt[: last + 1]
        if turn.get("role") in ("system", "user", "assistant")
    ]
    query, _ = as_texts([[*turns, Message(role="assistant", content="")]])
    return query


def response_of(completion: Turns, number: int) -> str:
    """The response in a completion: the text, or the last message of a conversation.

    Raises:
        DataError: the message holds other things than text.
    """
    if isinstance(completion, str):
        return completion
    return _content(completion[-1], number, "completions") if completion else ""


def _content(turn: Mapping[str, Any], number: int, field: str) -> str:
    content = turn.get("content")
    if content is None:
        return ""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if any(part.get("type") != "text" for part in parts):
        raise DataError(
            f"row {number}: a message holds other things than text, which a judge of texts "
            "cannot read",
            path="(call)",
            field=field,
        )
    return "".join(part["text"] for part in parts)
