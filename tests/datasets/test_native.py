"""Native rows: the reference answer that a row may have."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.errors import DataError
from autoj.jsonl import write_records

ROW = {"query": "2 + 2?", "responses": ["4", "5"]}


@pytest.mark.parametrize(
    ("given", "expected"),
    [("Four.", "Four."), (4, "4"), (None, None), ("", None), (" \n", None)],
)
def test_a_reference_answer_is_read(tmp_path: Path, given: object, expected: str | None) -> None:
    path = tmp_path / "rows.jsonl"
    write_records(path, [ROW | {"reference": given}, ROW])
    cases = [row.case for row in open_cases(path).read()]
    assert [getattr(case, "reference", "no case") for case in cases] == [expected, None]


@pytest.mark.parametrize("given", [["Four."], {"text": "Four."}, True])
def test_one_that_is_no_text_is_a_bad_row(tmp_path: Path, given: object) -> None:
    path = tmp_path / "rows.jsonl"
    write_records(path, [ROW | {"reference": given}])
    ((_, error),) = open_cases(path).read()
    assert isinstance(error, DataError)
    assert (error.line, error.field) == (1, "reference")
