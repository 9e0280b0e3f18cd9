"""MT-Bench's votes on pairs of conversations: `conversation_a`, `conversation_b`, `winner`, `turn`.

A vote on the first turn is a case. A vote on a later turn is about conversations that differ in
their earlier turns, which cannot be judged yet: it is a bad row here, and `published_verdicts`
reads the votes of both turns. The 80 queries serve testing (paper, section 3.3).

**Source**: lmsys/mt_bench_human_judgments on the Hugging Face Hub; lm-sys/FastChat,
fastchat/llm_judge/compute_agreement.py (arXiv 2306.05685).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets import chatbot_arena
from autoj.datasets._preferences import decode
from autoj.datasets.base import (
    FieldError,
    ReadRow,
    make_case,
    optional_text,
    read_file,
    require,
)
from autoj.errors import LaterTurn
from autoj.records import Case, Response

TESTING_ONLY = True
"""Its queries are those of a benchmark: `autoj collect` takes them for a test set alone."""
FIELDS = '"conversation_a", "conversation_b" and "winner"'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    both = {"conversation_a", "conversation_b"} <= row.keys()
    return both and not chatbot_arena.matches(row)


def read(path: Path) -> Iterator[ReadRow]:
    """The votes of a file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one vote; several people may have voted on the same pair."""
    turn = require(row, "turn", int, "1 or 2")
    if turn != 1:
        raise FieldError(
            "turn", "conversations of several turns cannot be judged yet", kind=LaterTurn
        )
    texts = [_turn(row, name) for name in ("conversation_a", "conversation_b")]
    if texts[0][0] != texts[1][0]:
        raise FieldError("conversation_b", "begins with another query than conversation_a")
    return make_case(
        query=texts[0][0],
        responses=tuple(
            Response(text=texts[index][1], model=optional_text(row, name))
            for index, name in enumerate(("model_a", "model_b"))
        ),
        line=line,
        label=decode("mt-bench", row.get("winner"), "winner"),
        source="mt-bench",
        meta={name: row[name] for name in ("question_id", "judge", "turn") if name in row},
    )


def _turn(row: dict[str, Any], field: str) -> tuple[str, str]:
    """The user's first question and the model's answer."""
    messages = require(row, field, list, "a list of messages")[:2]
    for index, role in enumerate(("user", "assistant")):
        message = messages[index] if index < len(messages) else None
        if (
            not isinstance(message, dict)
            or message.get("role") != role
            or not isinstance(message.get("content"), str)
        ):
            raise FieldError(f"{field}[{index}]", f"expected a message of the {role}")
    return messages[0]["content"], messages[1]["content"]
