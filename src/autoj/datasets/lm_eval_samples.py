"""The samples of lm-evaluation-harness (`--log_samples`): `doc_id`, `arguments` and `resps`.

The query is the prompt that the model was given, with its examples; the responses are all that it
generated for it, to be rated, or joined with another model's by `--a` and `--b`. The target is the
reference, and metrics are kept in `meta`. Tasks that compare log-likelihoods generate no responses:
their rows are bad rows.

**Source**: EleutherAI/lm-evaluation-harness 0.4, lm_eval/evaluator.py and
lm_eval/loggers/evaluation_tracker.py.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets._conversations import as_texts, messages_in
from autoj.datasets.base import FieldError, ReadRow, make_case, read_file, require
from autoj.records import Case, Message, Response

FIELDS = '"doc_id" with "arguments" and "resps"'

_NOT_METRICS = {"doc_id", "doc_hash", "prompt_hash", "target_hash", "task_name"}


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return {"doc_id", "arguments", "resps"} <= row.keys()


def read(path: Path) -> Iterator[ReadRow]:
    """The samples of one task."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one sample; a task with several filters has a sample for each."""
    number = require(row, "doc_id", (int, str), "a number")
    filtered = row.get("filter")
    named = f"-{filtered}" if isinstance(filtered, str) and filtered != "none" else ""
    target = row.get("target")
    metrics = {
        name: value
        for name, value in row.items()
        if isinstance(value, int | float) and name not in _NOT_METRICS
    }
    return make_case(
        id=f"lm-eval-{number}{named}",
        query=_query(row),
        responses=tuple(Response(text=text) for text in _generated(row)),
        line=line,
        source="lm-eval",
        reference=target if isinstance(target, str) and target.strip() else None,
        meta={"metrics": metrics} if metrics else {},
    )


def _query(row: dict[str, Any]) -> str:
    """The prompt of the first request: a text, or the JSON of a conversation for a chat API."""
    found: Any = row.get("arguments")
    # {"gen_args_0": {"arg_0": …}} in files; [[…, {…}]] before 0.4.3.
    for _ in range(3):
        if isinstance(found, dict):
            found = found.get("gen_args_0", found.get("arg_0"))
        elif isinstance(found, list):
            found = found[0] if found else None
    if not isinstance(found, str):
        raise FieldError("arguments", "expected a request with its prompt")
    try:
        messages = json.loads(found) if found.startswith('[{"') else None
    except (ValueError, RecursionError):
        return found
    if not isinstance(messages, list):
        return found
    asked = messages_in({"arguments": messages}, "arguments")
    return as_texts([(*asked, Message(role="assistant", content=""))])[0]


def _generated(row: dict[str, Any]) -> list[str]:
    requests: list[Any] = require(row, "resps", list, "a list of responses")
    if len(requests) != 1:
        raise FieldError(
            "resps",
            f"holds {len(requests)} requests, as of a task that compares log-likelihoods; expected "
            "the text that was generated for one",
        )
    texts = requests[0] if isinstance(requests[0], list) else requests
    if not texts or not all(isinstance(text, str) for text in texts):
        raise FieldError("resps", "expected generated texts, not log-likelihoods")
    return texts
