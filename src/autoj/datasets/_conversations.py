"""Conversations of several turns: lists of messages, and the texts of them that a judge is shown.

No protocol of the paper has a place for earlier turns, so the texts of a case hold them: the shared
beginning is the query, and the rest of each conversation is its response.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal

from autoj.datasets.base import FieldError, require
from autoj.records import Message

_NAMES = {"user": "User", "assistant": "Assistant", "system": "System"}
_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system", "developer": "system", "user": "user", "human": "user",
    "assistant": "assistant", "gpt": "assistant", "model": "assistant",
}  # fmt: skip
_SPEAKER = re.compile(r"\n\n(Human|Assistant):")


def as_texts(conversations: Sequence[Sequence[Message]]) -> tuple[str, tuple[str, ...]]:
    """The query of several conversations, and each one's response to it.

    Conversations of one turn become its two texts unchanged. Of longer ones that agree up to their
    last message, everything before it is the query. Where they differ earlier, the query is what
    comes before the first difference, and each response is the rest of its conversation.

    Args:
        conversations: at least one; each begins with the same turn of the user and ends with the
            assistant's.

    Returns:
        The query, and a response per conversation. Where either holds several messages, each
        begins with its speaker (`User:`, `Assistant:`), except a response's first.

    **Source**: MT-Bench shows its judges of the second turn the whole conversation of each model
    (lm-sys/FastChat, fastchat/llm_judge, `pair-v2-multi-turn`).

    >>> one = [Message(role="user", content="Why?"), Message(role="assistant", content="So.")]
    >>> as_texts([one])
    ('Why?', ('So.',))
    """
    n_shared = _n_shared(conversations)
    shared = conversations[0][:n_shared]
    responses = tuple(_rest(messages[n_shared:]) for messages in conversations)
    return (shared[0].content if len(shared) == 1 else _script(shared)), responses


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


def _n_shared(conversations: Sequence[Sequence[Message]]) -> int:
    """The number of messages that all begin with; the last of these is the user's."""
    longest = min(len(messages) for messages in conversations) - 1
    n_shared = 0
    while n_shared < longest and len({messages[n_shared] for messages in conversations}) == 1:
        n_shared += 1
    while n_shared > 1 and conversations[0][n_shared - 1].role != "user":
        n_shared -= 1
    return n_shared


def _rest(messages: Sequence[Message]) -> str:
    first, *others = messages
    return "\n\n".join([first.content, *([_script(others)] if others else [])])


def _script(messages: Sequence[Message]) -> str:
    return "\n\n".join(f"{_NAMES[message.role]}: {message.content}" for message in messages)
