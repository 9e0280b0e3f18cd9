"""ShareGPT's conversations: `conversations` with `from` and `value`; the first question alone.

Such a case has a query and nothing to judge: the answers are of one model that is not named, so
judging and rating refuse it, and `autoj classify` and `autoj collect --queries` read it. Long
conversations stand in several rows (`ID_0`, `ID_6`, …), of which only the first has the beginning.

**Source**: anon8231489123/ShareGPT_Vicuna_unfiltered on the Hugging Face Hub
(`ShareGPT_V3_unfiltered_cleaned_split.json`) and copies in its layout. RyokoAI/ShareGPT52K holds
its texts as HTML, which is read as it stands.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    FieldError,
    ReadRow,
    make_case,
    read_file,
    require,
    require_text,
)
from autoj.errors import LaterTurn
from autoj.records import Case

FIELDS = '"conversations" with "from" and "value"'

_USERS = ("human", "user")
_LATER_PART = re.compile(r".{7}_[1-9]\d*", re.DOTALL)
"""Ids are of seven characters; a part's begins at the message of this number."""


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return "conversations" in row and not {"chosen", "rejected"} & row.keys()


def read(path: Path) -> Iterator[ReadRow]:
    """The first questions of a file of conversations."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one conversation: its first question, without responses."""
    number = str(require(row, "id", (str, int), "a string")) if row.get("id") is not None else None
    if number is not None and _LATER_PART.fullmatch(number):
        raise FieldError("id", "is that of a later part of a conversation", kind=LaterTurn)
    messages: list[Any] = require(row, "conversations", list, "a list of messages")
    for index, message in enumerate(messages):
        field = f"conversations[{index}]"
        if not isinstance(message, dict):
            raise FieldError(field, "expected a message with from and value")
        try:
            speaker, text = require_text(message, "from"), require_text(message, "value")
        except FieldError as error:
            raise FieldError(f"{field}.{error.field}", error.message) from None
        if speaker in _USERS:
            return make_case(
                query=text,
                responses=(),
                line=line,
                source="sharegpt",
                meta={"n_messages": len(messages)},
                **({} if number is None else {"id": number}),
            )
        if speaker != "system":
            raise FieldError(field, "an answer comes before the first question", kind=LaterTurn)
    raise FieldError("conversations", "holds no question of the user")
