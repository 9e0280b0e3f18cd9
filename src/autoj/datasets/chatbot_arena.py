"""Chatbot Arena's votes on conversations: `conversation_a`, `conversation_b`, `winner`, `language`.

A vote is about whole conversations. `read` keeps them whole: what both share is the query, the rest
of each is its response. `read_first_turns` takes the first question with both first answers, and
the vote as their label; `meta.n_turns` says how many turns people had seen.

Also read are the later releases in this layout (`lmarena-ai/arena-human-preference-100k`, and
`-140k`, where a message's content is a list of texts and a tie may be `both_bad`).

**Source**: lmsys/chatbot_arena_conversations on the Hugging Face Hub (33,000 votes of April to June
2023; arXiv 2306.05685).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets._columns import winner_of
from autoj.datasets._conversations import as_texts, check_conversation, messages_in
from autoj.datasets.base import (
    FieldError,
    ReadRow,
    make_case,
    missing,
    optional_text,
    read_file,
    require,
)
from autoj.records import Case, Message, Response, Winner

FIELDS = '"conversation_a", "conversation_b" and "winner" with "language", "anony" or "tstamp"'

_CONVERSATIONS = ("conversation_a", "conversation_b")
_OWN = frozenset({"anony", "language", "timestamp", "tstamp"})
"""Fields that MT-Bench's votes, of the same layout otherwise, do not have."""


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return any(name in row for name in _CONVERSATIONS) and not _OWN.isdisjoint(row)


def read(path: Path) -> Iterator[ReadRow]:
    """The votes of a file, on whole conversations."""
    return read_file(path, to_case)


def read_first_turns(path: Path) -> Iterator[ReadRow]:
    """The votes of a file, each with the first turn of its conversations alone."""
    return read_file(path, lambda row, line: to_case(row, line, first_turn=True))


def to_case(row: dict[str, Any], line: int, *, first_turn: bool = False) -> Case:
    """The case of one vote, with whole conversations or with their first turn alone."""
    whole = [_conversation(row, name) for name in _CONVERSATIONS]
    if whole[0][0] != whole[1][0]:
        raise FieldError("conversation_b", "begins with another query than conversation_a")
    query, texts = as_texts([said[:2] if first_turn else said for said in whole])
    has_id = row.get("question_id", row.get("id")) is not None
    language = optional_text(row, "language")
    return make_case(
        query=query,
        responses=tuple(
            Response(text=text, model=optional_text(row, name))
            for text, name in zip(texts, ("model_a", "model_b"), strict=True)
        ),
        line=line,
        label=_label(row),
        source="chatbot-arena",
        language="zh" if language in ("Chinese", "zh") else "en",
        meta={"n_turns": max(map(len, whole)) // 2},
        **({"id": _id(row)} if has_id else {}),
    )


def _id(row: dict[str, Any]) -> str:
    name = "question_id" if row.get("question_id") is not None else "id"
    return str(require(row, name, (str, int), "a string"))


def _conversation(row: dict[str, Any], field: str) -> tuple[Message, ...]:
    messages = messages_in(row, field)
    check_conversation(messages, field)
    if [message.role for message in messages[:2]] != ["user", "assistant"]:
        raise FieldError(field, "expected it to begin with a question and its answer")
    return messages


def _label(row: dict[str, Any]) -> Winner | None:
    """The vote; None where nobody has voted."""
    if "winner" not in row:
        raise missing(row, "winner", '"model_a", "model_b" or "tie"')
    value = row["winner"]
    if value is None:
        return None
    winner = winner_of(value) if isinstance(value, str) else None
    if winner is None:
        raise FieldError("winner", f'expected "model_a", "model_b" or "tie", found {value!r:.60}')
    return winner
