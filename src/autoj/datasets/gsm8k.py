"""GSM8K: `question` and `answer`, a worked solution that ends with `#### ` and the result.

The solution's calculator notes, such as `<<48/2=24>>`, are not a part of its text; the solution
with them is in `meta.worked`.

**Source**: openai/gsm8k on the Hub, configurations main and socratic (arXiv 2110.14168).
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import FieldError, ReadRow, make_case, read_file, require_text
from autoj.records import Case, Response

FIELDS = '"question" and "answer", which ends with "#### " and the result'

_NOTE = re.compile(r"<<[^<>\n]{0,200}>>")
_END = "####"


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    answer = row.get("answer")
    return "question" in row and isinstance(answer, str) and _END in answer


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of the file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row: the worked solution is its response."""
    worked = require_text(row, "answer")
    steps, end, result = worked.rpartition(_END)
    if not end or not result.strip():
        raise FieldError("answer", 'has no result after "####"')
    text = f"{_NOTE.sub('', steps).strip()}\n\nThe answer is {result.strip()}."
    return make_case(
        query=require_text(row, "question"),
        responses=(Response(text=text.strip()),),
        line=line,
        scenario="math_reasoning",
        source="gsm8k",
        reference=result.strip(),
        meta={"worked": worked},
    )
