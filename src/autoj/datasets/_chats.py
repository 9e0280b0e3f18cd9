"""Lists of messages, as TRL, RewardBench and others write conversations."""

import re
from collections.abc import Sequence
from typing import Any, Literal

from autoj.datasets.base import FieldError, require
from autoj.records import Message

_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system", "developer": "system", "user": "user", "human": "user",
    "assistant": "assistant", "gpt": "assistant", "model": "assistant",
}  # fmt: skip
_SPEAKER = re.compile(r"\n\n(Human|Assistant):")


def messages_in(row: dict[str, Any], field: str) -> tuple[Message, ...]:
    """The messages of a field, each with `role` and `content`.

    Raises:
        FieldError: it is no list of messages, or holds more than texts.
    """
    items: list[Any] = require(row, field, list, "a string or a list of messages")
    return tuple(_message(item, f"{field}[{index}]") for index, item in enumerate(items))


def _message(item: object, field: str) -> Message:
    role = item.get("role") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(role, str):
        raise FieldError(field, "expected a message with role and content")
    if role not in _ROLES:
        raise FieldError(f"{field}.role", f"expected user, assistant or system, found {role!r}")
    return Message(role=_ROLES[role], content=_text(item.get("content"), field))


def _text(content: object, field: str) -> str:
    """A text, which may be a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) and content else [None]
    texts = [part.get("text") if isinstance(part, dict) else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise FieldError(
            field, "expected a message with role and content, and a content of text alone"
        )
    return "\n".join(str(text) for text in texts)


def in_dialogue(text: str) -> tuple[Message, ...] | None:
    r"""The messages of a text in the form of Anthropic's HH-RLHF; None for another text.

    **Source**: Anthropic/hh-rlhf on the Hugging Face Hub (arXiv 2204.05862).

    >>> [message.content for message in in_dialogue("\n\nHuman: Why?\n\nAssistant: So.") or ()]
    ['Why?', 'So.']
    """
    before, *parts = _SPEAKER.split(text)
    if before.strip() or len(parts) < 4 or parts[0] != "Human":
        return None
    return tuple(
        Message(role="user" if speaker == "Human" else "assistant", content=said.strip())
        for speaker, said in zip(parts[::2], parts[1::2], strict=True)
    )


def check_conversation(messages: Sequence[Message], field: str) -> None:
    """Checks that a conversation begins with the user (or a system message), and is answered.

    Raises:
        FieldError: it is not one.
    """
    if not messages or messages[-1].role != "assistant":
        raise FieldError(field, "expected the last message to be the assistant's")
    spoken = [message.role for message in messages if message.role != "system"]
    if spoken[0] != "user":
        raise FieldError(field, "expected the first message to be the user's")
