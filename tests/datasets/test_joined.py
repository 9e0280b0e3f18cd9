"""Two files of one response per query become pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj.datasets import Join, open_joined, parse_map
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
    joined = open_joined(FILES / "one-a.jsonl", FILES / "one-b.jsonl", join="inner")
    assert joined.format == "native joined with native"
    assert texts(list(joined.read())) == [
        ("Name a colour.", "Red.", "Blue."),
        ("Name a bird.", "Owl.", "Wren."),
        ("Name a colour.", "Pink.", "Grey."),
    ]


def test_files_that_do_not_match_are_refused_with_how_many_and_which() -> None:
    a, b = FILES / "one-a.jsonl", FILES / "one-b.jsonl"
    with pytest.raises(DataError) as told:
        open_joined(a, b)
    assert f"1 of 4 queries of {a} are not in {b} ('Only in a.')" in told.value.reason
    assert f"1 of 4 queries of {b} are not in {a} (" in told.value.reason
    assert told.value.hint == "--join inner uses the 3 that both files have."


def test_of_many_queries_without_a_partner_the_first_are_named_in_part(tmp_path: Path) -> None:
    rows = [one(f"query {number} " + "x" * 100, "x") for number in range(50)]
    a, b = files(tmp_path, [one("q", "x"), *rows], [one("q", "y")])
    with pytest.raises(DataError, match="50 of 51 queries") as told:
        open_joined(a, b)
    assert "'query 2 x" in told.value.reason
    assert "'query 3 x" not in told.value.reason
    assert told.value.reason.count("\n") == 0
    assert len(told.value.reason) < 3 * len(str(a)) + 3 * 61 + 100


def test_inner_goes_on_with_what_both_have_and_says_what_is_left_out() -> None:
    a, b = FILES / "one-a.jsonl", FILES / "one-b.jsonl"
    joined = open_joined(a, b, join="inner")
    assert errors(list(joined.read())) == []
    assert joined.note is not None
    assert "1 of 4 queries of" in joined.note
    assert joined.derivation == "inner join"


def test_where_the_files_match_both_ways_of_joining_are_the_same(tmp_path: Path) -> None:
    a, b = files(tmp_path, [one("q", "x"), one("r", "x")], [one("r", "y"), one("q", "y")])
    strict, inner = open_joined(a, b), open_joined(a, b, join="inner")
    assert list(strict.read()) == list(inner.read())
    assert (inner.note, inner.derivation) == (None, None) == (strict.note, strict.derivation)


def test_reading_again_gives_the_same_pairs() -> None:
    joined = open_joined(FILES / "one-a.jsonl", FILES / "one-b.jsonl", join="inner")
    assert texts(list(joined.read())) == texts(list(joined.read()))


def test_a_query_that_stands_more_often_in_one_file_has_rows_left(tmp_path: Path) -> None:
    a, b = files(tmp_path, [one("q", "x"), one("q", "y")], [one("q", "z")])
    with pytest.raises(DataError, match="1 of 2 queries of"):
        open_joined(a, b)
    assert texts(list(open_joined(a, b, join="inner").read())) == [("q", "x", "z")]
    assert texts(list(open_joined(b, a, join="inner").read())) == [("q", "z", "x")]


@pytest.mark.parametrize("join", ["strict", "inner"])
def test_files_without_a_common_query_are_an_error_that_names_both(
    tmp_path: Path, join: Join
) -> None:
    a, b = files(tmp_path, [one("p", "x")], [one("q", "y")])
    with pytest.raises(DataError, match=r"a\.jsonl: has no queries in common with .*b\.jsonl"):
        open_joined(a, b, join=join)


def test_queries_are_joined_by_their_exact_text(tmp_path: Path) -> None:
    a, b = files(tmp_path, [one("Q?", "x"), one("same", "x")], [one("q", "y"), one("same", "y")])
    assert texts(list(open_joined(a, b, join="inner").read())) == [("same", "x", "y")]


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


def test_two_files_of_pairs_are_told_so(tmp_path: Path) -> None:
    pair = {"query": "q", "responses": ["x", "y"]}
    a, b = files(tmp_path, [pair], [pair])
    with pytest.raises(DataError, match=r"a\.jsonl:1:responses: holds 2 responses"):
        open_joined(a, b)


def test_a_row_that_cannot_be_read_stays_a_bad_row(tmp_path: Path) -> None:
    a, b = files(
        tmp_path, [one("q", "x"), one(" ", "x")], [one("q", "y"), {"query": "r", "response": 5}]
    )
    rows = list(open_joined(a, b).read())
    assert texts(rows) == [("q", "x", "y")]
    assert {(error.path, error.line) for error in errors(rows)} == {(a, 2), (b, 2)}


def test_a_partner_that_cannot_be_read_is_told_with_the_mismatch(tmp_path: Path) -> None:
    a, b = files(tmp_path, [one("q", "x"), one("r", "x")], [one("q", "y"), {"query": "r"}])
    with pytest.raises(
        DataError, match=r"1 rows cannot be read; the first error is: .*b\.jsonl:2:response"
    ):
        open_joined(a, b)


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


def test_columns_are_mapped_in_both_files(tmp_path: Path) -> None:
    a, b = files(tmp_path, [{"ask": "q", "say": "x"}], [{"ask": "q", "say": "y"}])
    joined = open_joined(a, b, columns=parse_map(["query=ask,response=say"]))
    assert texts(list(joined.read())) == [("q", "x", "y")]
    assert joined.derivation == "map query=ask,response=say"


def test_alpaca_evals_lists_of_two_models_meet_on_the_instruction(tmp_path: Path) -> None:
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    rows = [{"instruction": f"q{n}", "output": "x", "generator": "m1"} for n in range(3)]
    a.write_text(json.dumps(rows), encoding="utf-8")
    others = [row | {"output": "y", "generator": "m2"} for row in reversed(rows)]
    b.write_text(json.dumps(others), encoding="utf-8")
    rows_read = [row.case for row in open_joined(a, b).read()]
    assert texts(list(open_joined(a, b).read())) == [(f"q{n}", "x", "y") for n in range(3)]
    assert all(
        isinstance(case, Case) and [r.model for r in case.responses] == ["m1", "m2"]
        for case in rows_read
    )
