"""Rows under the usual names of columns: a query with two responses, or with one.

`query`, `response_a`, `response_b` and `label`, as `autoj export` writes them; or `Prompt`,
`Model A`, `Model B` and `Winner`; or Chatbot Arena's `prompt`, `response_a`, `response_b`,
`winner_model_a`, `winner_model_b` and `winner_tie`. Optional columns are `id`, `scenario`,
`source`, `reference`, `model_a` and `model_b`; an empty cell is no value, and other columns are
ignored. Columns of other names are read with `--map`.

A label is `a`, `b` or `tie` in the usual words (`Model A`, `[[B]]`, `both bad`, `C` for a tie). A
number is not: some files count from 0 and some from 1.

**Source**: lmsys/lmsys-arena-human-preference-55k on the Hugging Face Hub, where the texts of all
turns are JSON lists in the cells (arXiv 2403.04132).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from autoj.datasets._columns import Layout, layout_of
from autoj.datasets._conversations import as_texts
from autoj.datasets._mapping import ColumnMap
from autoj.datasets._rows import first_row, read_rows
from autoj.datasets.base import FieldError, ReadRow, read_file
from autoj.errors import DataError
from autoj.records import Case, Message, Response, Winner

FIELDS = '"query" or "prompt" with "response_a", "response_b" (or "Model A", …), or one "response"'

# Rows with these are of other formats, whose columns have other meanings.
_OTHERS = frozenset({
    "annotator1", "bias", "chosen", "conversation_a", "conversation_b", "rejected", "responses",
    "target_scores", "targets", "turn", "usrmsg", "usermsg",
})  # fmt: skip
_OTHER_LAYOUTS = (
    {"prompt", "response"}, {"prompt", "completion"}, {"prompt", "response 1"},
    {"prompt", "response 2"}, {"input", "output_1", "output_2"},
    {"instruction", "output_1", "output_2"}, {"instruction", "output"}, {"uid", "messages"},
)  # fmt: skip
_N_CHECKED = 100
_SIDES: tuple[Winner, ...] = ("a", "b", "tie")
_EXACT = Layout(columns={"query": "query", "a": "response_a", "b": "response_b"})


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    if _OTHERS & row.keys() or any(fields <= row.keys() for fields in _OTHER_LAYOUTS):
        return False
    layout = layout_of(row)
    # A query with one response is a native row.
    return layout is not None and ("a" in layout.columns or "query" not in row)


def read(path: Path) -> Iterator[ReadRow]:
    """The rows of a table.

    Raises:
        DataError: the file cannot be read, or the columns of texts hold names of models.
    """
    return _read(path, first_turn=False)


def read_first_turns(path: Path) -> Iterator[ReadRow]:
    """The rows of a table; of cells that are lists of turns the first turn alone.

    Raises:
        DataError: as `read`.
    """
    return _read(path, first_turn=True)


def _read(path: Path, *, first_turn: bool) -> Iterator[ReadRow]:
    _, row = first_row(path)
    layout = layout_of(row) or _EXACT
    if layout.models_as_texts:
        _check_texts(path, layout)
    # Rows may leave fields out, and name others.
    return read_file(path, lambda row, line: _case(row, line, layout_of(row) or layout, first_turn))


def describe(row: dict[str, Any]) -> str | None:
    """The columns that are read, where they do not have our names."""
    layout = layout_of(row)
    if layout is None or layout.columns.items() >= _EXACT.columns.items():
        return None
    return f"columns: {layout}"


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one row."""
    return _case(row, line, layout_of(row) or _EXACT)


def _case(row: dict[str, Any], line: int, layout: Layout, first_turn: bool = False) -> Case:
    plain, turns = _without_lists(row, layout)
    # Its texts are those of the first turn.
    case = ColumnMap(columns=layout.columns).to_case(plain, line)
    if turns is not None and first_turn:
        case = replace(case, meta={**case.meta, "n_turns": len(turns[0]) // 2})
    elif turns is not None:
        query, texts = as_texts(turns)
        responses = tuple(
            Response(text=text, model=response.model)
            for text, response in zip(texts, case.responses, strict=True)
        )
        case = replace(case, query=query, responses=responses)
    return replace(case, label=_vote(row, layout.votes)) if layout.votes else case


def _vote(row: dict[str, Any], columns: tuple[str, ...]) -> Winner | None:
    """The winner whose column holds 1; None where all are empty, as in a test set."""
    found = [row.get(column) for column in columns]
    if all(value is None or value == "" for value in found):
        return None
    flags = [str(value).strip().lower() in ("1", "1.0", "true") for value in found]
    if flags.count(True) != 1:
        raise FieldError(columns[0], f"expected 1 in one of {', '.join(columns)}, and 0 in others")
    return _SIDES[flags.index(True)]


def _without_lists(
    row: dict[str, Any], layout: Layout
) -> tuple[dict[str, Any], list[list[Message]] | None]:
    """The row with the first turn of cells that are JSON lists, and the whole conversations."""
    targets = [name for name in ("query", "a", "b", "response") if name in layout.columns]
    columns = [layout.columns[name] for name in targets]
    lists = [_turns(row.get(column)) for column in columns]
    if any(texts is None for texts in lists):
        return row, None
    asked, *said = [texts for texts in lists if texts is not None]
    if not asked or any(len(texts) != len(asked) for texts in said):
        raise FieldError(columns[0], "the query and the responses have different numbers of turns")
    conversations = [
        [
            message
            for query, text in zip(asked, texts, strict=True)
            for message in (
                Message(role="user", content=query),
                Message(role="assistant", content=text),
            )
        ]
        for texts in said
    ]
    first = {column: texts[0] for column, texts in zip(columns, [asked, *said], strict=True)}
    return row | first, conversations


def _turns(cell: object) -> list[str] | None:
    """The texts of a JSON list of texts, of which some may be null; None for any other cell."""
    items: object = cell
    if isinstance(cell, str) and cell.startswith("[") and cell.endswith("]"):
        try:
            items = json.loads(cell)
        except (ValueError, RecursionError):
            return None
    if not isinstance(items, list) or not all(isinstance(item, str | None) for item in items):
        return None
    # Half of a surrogate pair, as the release has, can be written nowhere else.
    return [(item or "").encode("utf-8", "replace").decode("utf-8") for item in items]


def _check_texts(path: Path, layout: Layout) -> None:
    """Refuses columns such as `model_a` whose values are names of models and not responses.

    Raises:
        DataError: no value of them has a blank in it.
    """
    columns = [layout.columns[side] for side in ("a", "b")]
    rows = [row for _, row in islice(read_rows(path), _N_CHECKED) if isinstance(row, Mapping)]
    values = [str(row.get(column, "")) for row in rows for column in columns]
    if any(" " in value or "\n" in value for value in values):
        return
    raise DataError(
        f"the columns {columns[0]!r} and {columns[1]!r} may hold names of models or responses "
        f"(such as {', '.join(map(repr, sorted(set(values))[:3]))[:80]})",
        path=path,
        hint=f"If they are the responses: --map {_as_map(layout)!r}",
    )


def _as_map(layout: Layout) -> str:
    return ",".join(f"{target}={column}" for target, column in layout.columns.items())
