"""Boards as rows of a CSV file: values in full, and nothing that a spreadsheet would run."""

from __future__ import annotations

from autoj.reports.leaderboard_csv import CSV_FIELDS, csv_rows

from .pages import HOSTILE
from .test_leaderboard import board


def test_rows_have_values_and_no_formula():
    found = list(csv_rows(board("=1+1", "group")))
    assert all(set(row) <= set(CSV_FIELDS) for row in found)
    assert found[0]["judge"] == "'=1+1"
    assert (found[0]["figure"], found[0]["value"], found[0]["low"]) == ("agreement", 0.5, 0.4)
    assert [row["printed"] for row in found if row["judge"] == "gpt-4"] == ["41.65", "75/100"] * 2
    assert next(csv_rows(board(HOSTILE)))["judge"] == (
        "[bold]x[/bold] :smile: \\x1b[2Jred\\u202ereversed\\rback"
    )
