"""Conversations of several turns as the texts that a judge is shown.

No protocol of the paper has a place for earlier turns, so the texts of a case hold them: the shared
beginning is the query, and the rest of each conversation is its response.
"""

from collections.abc import Sequence

from autoj.records import Message

_NAMES = {"user": "User", "assistant": "Assistant", "system": "System"}


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
