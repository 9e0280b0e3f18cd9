"""Queries alone: rows without responses, lines of text, and queries of any file of cases."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from autoj.datasets import open_queries, parse_map
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.records import Case


def queries(path: Path, **settings: object) -> list[tuple[str, str, str | None]]:
    found = [row.case for row in open_queries(path, **settings).read()]  # type: ignore[arg-type]
    assert all(isinstance(case, Case) for case in found), found
    return [(case.id, case.query, case.scenario) for case in found if isinstance(case, Case)]


def test_each_line_of_a_text_that_is_not_blank_is_a_query(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_bytes("\ufeffPlan it\r\n\n  \n{not json\n最後\n".encode())
    expected = [
        ("line-1", "Plan it", None),
        ("line-4", "{not json", None),
        ("line-5", "最後", None),
    ]
    assert queries(path) == expected
    zipped = tmp_path / "q.txt.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert queries(zipped) == expected


def test_a_line_that_is_not_utf_8_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_bytes(b"Plan it\ncaf\xe9\n")
    first, second = open_queries(path).read()
    assert isinstance(first.case, Case)
    assert isinstance(second.case, DataError)
    assert second.case.line == 2


def test_rows_may_hold_a_query_alone(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    write_records(
        path, [{"id": 7, "query": "Why?", "note": [1]}, {"query": "Hi", "scenario": "default"}]
    )
    assert open_queries(path).format == "queries"
    assert queries(path) == [("7", "Why?", None), ("line-2", "Hi", "others")]


@pytest.mark.parametrize(
    ("row", "format", "query"),
    [
        ({"query": "Why?", "response": "So."}, "native", "Why?"),
        ({"category": "planning", "instruction": "Sing"}, "autoj-scenarios", "Sing"),
        ({"instruction": "Why?", "output": "So.", "generator": "m"}, "alpaca-eval-outputs", "Why?"),
    ],
)  # fmt: skip
def test_the_queries_of_any_file_of_cases_are_read(tmp_path, row, format, query) -> None:
    path = tmp_path / "rows.jsonl"
    write_records(path, [row])
    assert open_queries(path).format == format
    assert queries(path)[0][1] == query


def test_a_map_of_the_query_is_enough_here_and_nowhere_else(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("number,question\n3,Why?\n")
    columns = parse_map(["query=question,id=number"], queries_alone=True)
    assert queries(path, columns=columns) == [("3", "Why?", None)]
    with pytest.raises(ConfigError, match="must name either"):
        parse_map(["query=question"])
    with pytest.raises(ConfigError, match="must name either"):
        parse_map(["query=question,a=number"], queries_alone=True)


def test_a_missing_text_and_an_empty_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        open_queries(tmp_path / "none.txt")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(DataError, match="is empty"):
        open_queries(tmp_path / "empty.jsonl")
