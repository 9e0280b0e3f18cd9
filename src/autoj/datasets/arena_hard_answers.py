"""Arena-Hard 2.0's answers of one model: `uid` and `messages`, which include the question.

Version 0.1 and MT-Bench have their questions in another file: `_answers` reads those with them.

**Source**: lmarena/arena-hard-auto, gen_answer.py, and lmarena-ai/arena-hard-auto on the Hugging
Face Hub, data/*/model_answer/*.jsonl.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets._answers import said_in
from autoj.datasets._conversations import as_texts
from autoj.datasets.base import ReadRow, make_case, optional_text, read_file, require
from autoj.records import Case, Response

FIELDS = '"uid" with "messages"'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return {"uid", "messages"} <= row.keys()


def read(path: Path) -> Iterator[ReadRow]:
    """The answers of one model."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row: the last answer, to be rated, or joined with another model's."""
    number = require(row, "uid", (str, int), "a string")
    query, (text,) = as_texts([said_in(row)])
    return make_case(
        id=f"arena-hard-{number}",
        query=query,
        responses=(Response(text=text, model=optional_text(row, "model")),),
        line=line,
        source="arena-hard",
        meta={"question_id": number},
    )
