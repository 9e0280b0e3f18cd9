"""Judged text: nothing in it is obeyed by a terminal, or runs as a formula in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.reports.text import excerpt, guarded, visible, visible_text

from .pages import HOSTILE, page

FORMULA = "=1+1"
FORMULAS = [
    FORMULA, "+1+1", "-1+1", "@SUM(A1)", "＝1+1", "\t=1+1", "\r=1+1", " =1+1", '"=1+1', "'=1+1",
    "so;=1+1", "so; =1+1", 'so;"=1+1', "so\t@A1", "so\n=1+1;", "so\r\n-1+1", "so\n\n  +1+1",
    ";;=1+1", "a;b;=cmd|' /C calc'!A0;c", "x;\t \n=1+1", "- a\n- b;+c", "=1+1;=2+2;=3+3",
]  # fmt: skip


def test_control_characters_are_spelled_out_and_lines_are_kept():
    assert visible(HOSTILE) == "[bold]x[/bold] :smile: \\x1b[2Jred\\u202ereversed\\rback"
    assert visible("one\r\ntwo\tthree\n") == "one\ntwo\tthree\n"
    assert visible("") == ""


def test_markup_is_shown_as_it_is():
    assert page(visible_text("[bold]x[/bold] :smile:")) == "[bold]x[/bold] :smile:\n"


def test_an_excerpt_is_one_line_of_so_many_characters():
    assert excerpt("one\n  two", 7).plain == "one two"
    assert excerpt("one\n  two", 6).plain == "one t…"
    assert excerpt("", 6).plain == ""


def cells_of(text: str) -> list[str]:
    """All cells that a spreadsheet may see in a row of ours that holds a text."""
    stream = io.StringIO(newline="")
    csv.writer(stream).writerow(["id", text, "end"])
    content = stream.getvalue()
    cells = [cell for row in csv.reader(io.StringIO(content, newline="")) for cell in row]
    for delimiter in ";\t":
        # As a reader cuts that knows quotes, and as one that does not.
        cells += [
            cell
            for row in csv.reader(io.StringIO(content, newline=""), delimiter=delimiter)
            for cell in row
        ]
        cells += re.split(rf"[{delimiter}\r\n]", content)
    return cells


def runs(cell: str) -> bool:
    bare = cell.lstrip(' \t\r\n"`\ufeff').lstrip()
    return bare.startswith(tuple("=+-@＝＋－＠"))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_runs_in_no_cell_of_any_cut(text: str) -> None:
    assert any(map(runs, cells_of(text.lstrip("'"))))
    assert not any(map(runs, cells_of(guarded(text))))


@given(st.text(alphabet="a1=+-@＝;\t\r\n \"'`,", max_size=30))
def test_no_text_runs_in_any_cell_of_any_cut(text: str) -> None:
    assert not any(map(runs, cells_of(guarded(text))))


@pytest.mark.parametrize("text", ["", "1 = 1", "a-b", "x; y", "1,-2", "a\nb", "good - bad", "(=1)"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert guarded(text) == text


def test_a_guarded_text_differs_by_apostrophes_alone() -> None:
    for text in FORMULAS:
        assert guarded(text).replace("'", "") == text.replace("'", "")


def test_long_runs_of_blanks_take_no_time_to_speak_of() -> None:
    # Quadratic, each would take minutes.
    for text in (" " * 300_000 + "x", "\n" * 300_000, '";' * 300_000, "=" * 300_000):
        assert len(guarded(text)) >= len(text)
