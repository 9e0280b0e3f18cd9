"""Two files of one response per query become pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj.datasets import open_joined
from autoj.datasets.base import Row
from autoj.errors import DataError
from autoj.records import Case

FILES = Path(__file__).parent / "files"


def texts(rows: list[Row]) -> list[tuple[str, ...]]:
    cases = [row.case for row in rows if isinstance(row.case, Case)]
    return [(case.query, *(response.text for response in case.responses)) for case in cases]


def errors(rows: list[Row]) -> list[DataError]:
    return [row.case for row in rows if isinstance(row.case, DataError)]


def files(folder: Path, *contents: list[dict[str, Any]]) -> tuple[Path, Path]:
    first, second = folder / "a.jsonl", folder / "b.jsonl"
    for path, rows in zip((first, second), contents, strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return first, second


def one(query: str, response: str, **fields: Any) -> dict[str, Any]:
    return {"query": query, "response": response, **fields}


def test_the_kth_of_a_query_meets_the_kth_of_the_other_file_in_the_order_of_the_first() -> None:
    joined = open_joined(FILES / "one-a.jsonl", FILES / "one-b.jsonl")
    assert joined.format == "native joined with native"
    assert texts(list(joined.read())) == [
        ("Name a colour.", "Red.", "Blue."),
        ("Name a bird.", "Owl.", "Wren."),
        ("Name a colour.", "Pink.", "Grey."),
    ]


def test_rows_without_a_partner_are_bad_rows_of_their_own_file() -> None:
    a, b = FILES / "one-a.jsonl", FILES / "one-b.jsonl"
    told = errors(list(open_joined(a, b).read()))
    assert [(error.path, error.line, error.field) for error in told] == [
        (a, 4, "query"),
        (b, 2, "query"),
    ]
    assert str(b) in told[0].reason


def test_reading_again_gives_the_same_pairs() -> None:
    joined = open_joined(FILES / "one-a.jsonl", FILES / "one-b.jsonl")
    assert texts(list(joined.read())) == texts(list(joined.read()))


def test_a_query_that_stands_more_often_in_one_file_has_rows_left(tmp_path: Path) -> None:
    a, b = files(tmp_path, [one("q", "x"), one("q", "y")], [one("q", "z")])
    rows = list(open_joined(a, b).read())
    assert texts(rows) == [("q", "x", "z")]
    assert [(error.path, error.line) for error in errors(rows)] == [(a, 2)]
    rows = list(open_joined(b, a).read())
    assert texts(rows) == [("q", "z", "x")]
    assert [(error.path, error.line) for error in errors(rows)] == [(a, 2)]


def test_files_without_a_common_query_are_an_error_that_names_both(tmp_path: Path) -> None:
    a, b = files(tmp_path, [one("p", "x")], [one("q", "y")])
    with pytest.raises(DataError, match=r"a\.jsonl: no query of it is in .*b\.jsonl"):
        list(open_joined(a, b).read())


def test_queries_are_joined_by_their_exact_text(tmp_path: Path) -> None:
    a, b = files(tmp_path, [one("Q?", "x"), one("same", "x")], [one("q", "y"), one("same", "y")])
    rows = list(open_joined(a, b).read())
    assert texts(rows) == [("same", "x", "y")]
    assert len(errors(rows)) == 2


def test_a_row_with_two_responses_cannot_be_joined(tmp_path: Path) -> None:
    pair = {"query": "q", "responses": ["x", "y"]}
    a, b = files(tmp_path, [pair, one("p", "x")], [one("p", "y"), pair])
    rows = list(open_joined(a, b).read())
    assert texts(rows) == [("p", "x", "y")]
    assert [(error.path, error.line, error.field) for error in errors(rows)] == [
        (b, 2, "responses"),
        (a, 1, "responses"),
    ]
    assert all("holds 2 responses" in error.reason for error in errors(rows))


def test_a_row_that_cannot_be_read_stays_a_bad_row(tmp_path: Path) -> None:
    a, b = files(tmp_path, [one("q", "x"), one(" ", "x")], [one("q", "y"), {"query": "r"}])
    rows = list(open_joined(a, b).read())
    assert texts(rows) == [("q", "x", "y")]
    assert {(error.path, error.line) for error in errors(rows)} == {(a, 2), (b, 2)}


def test_a_label_of_one_response_is_no_label_of_the_pair(tmp_path: Path) -> None:
    a, b = files(tmp_path, [one("q", "x", label=9, model="m1")], [one("q", "y", model="m2")])
    ((_, case),) = open_joined(a, b).read()
    assert isinstance(case, Case)
    assert case.label is None
    assert [response.model for response in case.responses] == ["m1", "m2"]


def test_files_of_different_formats_are_joined_too(tmp_path: Path) -> None:
    a, b = files(tmp_path, [one("q", "x")], [{"prompt": "q", "response": "y"}])
    joined = open_joined(a, b)
    assert joined.format == "native joined with autoj-critique"
    assert texts(list(joined.read())) == [("q", "x", "y")]
