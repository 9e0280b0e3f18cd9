"""Judged text on a terminal: nothing in it is obeyed."""

from __future__ import annotations

from autoj.reports.text import excerpt, visible, visible_text

from .pages import HOSTILE, page


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
