"""WebGPT's comparisons: `question`, `answer_0`, `answer_1` and their scores from -1 to 1.

Both scores sum to 0, the answer with the higher one was preferred, and 0 is a tie. Answers cite the
quotes that their model had found (`[1]`), which people saw and which are not read. The questions
are of one kind, mostly those of ELI5, and have one scenario, open_question: the paper names none.

**Source**: openai/webgpt_comparisons on the Hugging Face Hub (19,578 rows; arXiv 2112.09332,
appendix K). OpenAI's own `comparisons.jsonl` has a list of two records a line; it becomes this
layout by `jq -c '{question: .[0].question, answer_0: .[0].answer, score_0: .[0].score,
answer_1: .[1].answer, score_1: .[1].score}'`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    FieldError,
    ReadRow,
    make_case,
    read_file,
    require,
    require_in,
    require_text,
)
from autoj.records import Case, Response, Winner

FIELDS = '"question" with "answer_0", "answer_1", "score_0" and "score_1"'

_OWN = frozenset({"answer_0", "answer_1", "score_0", "score_1", "tokens_0", "tokens_1"})
_N_OWN = 3


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return "question" in row and len(_OWN & row.keys()) >= _N_OWN


def read(path: Path) -> Iterator[ReadRow]:
    """The comparisons of a file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one comparison; a question may have several."""
    question: str = require_in(row, "question", "full_text", str, "a string")
    scores = [_score(row, field) for field in ("score_0", "score_1")]
    asked = {name: row["question"].get(name) for name in ("id", "dataset")}
    return make_case(
        query=question.strip(),
        responses=tuple(
            Response(text=require_text(row, field).strip()) for field in ("answer_0", "answer_1")
        ),
        line=line,
        label=_better(*scores),
        scenario="open_question",
        source="webgpt",
        meta={
            "score_a": scores[0],
            "score_b": scores[1],
            **{f"question_{name}": said for name, said in asked.items() if isinstance(said, str)},
        },
    )


def _score(row: dict[str, Any], field: str) -> float:
    value = require(row, field, (int, float), "a number from -1 to 1")
    if not -1 <= value <= 1:
        raise FieldError(field, f"expected a number from -1 to 1, found {value:g}")
    return float(value)


def _better(first: float, second: float) -> Winner:
    if first == second:
        return "tie"
    return "a" if first > second else "b"
