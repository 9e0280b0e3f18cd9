"""Tables at the width of a terminal: texts give way, numbers do not, and no text is markup."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.text import Text

from autoj.reports import render
from autoj.reports.render import Column, FigureRow, Listing

from ..pages import HOSTILE, LONG, check_pages, estimate, page, rows


def listing(name: str) -> Listing:
    found = Listing(
        Column.text("case", 16), Column.word("winner"), Column.number("P"), Column.text("query", 40)
    )
    found.add(name, "unknown", "0.123", name)
    found.add(None, Text("a", style="bold"), 1234, "short")
    return found


def test_cells_are_counts_texts_or_nothing_known():
    assert rows(page(listing("x"))) == [
        ["case", "winner", "P", "query"],
        ["x", "unknown", "0.123", "x"],
        ["-", "a", "1,234", "short"],
    ]


def test_a_row_has_a_cell_for_each_column():
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        Listing(Column.text("case"), Column.number("n")).add("x")


def test_texts_are_clipped_before_numbers():
    check_pages(listing, "unknown", "0.123", "1,234")


def test_columns_that_do_not_fit_stand_in_a_table_below():
    names = [f"judge-{number}" for number in range(9)]

    def wide(name: str) -> Listing:
        found = Listing(Column.text("part", 23), *map(Column.number, names), spacing="flush")
        found.add(name, *(f"{number}0.0 [20, 80]" for number in range(9)))
        return found

    check_pages(wide, *names, *(f"{number}0.0 [20, 80]" for number in range(9)))
    heads = [words for words in rows(page(wide("plain"))) if words[0] == "part"]
    assert [name for words in heads for name in words[1:]] == names
    assert len(heads) > 1


def test_a_p_value_stays_with_its_figure():
    columns = (Column.number("less random"), Column.number("p", follows=True)) * 3
    found = Listing(Column.text("judge"), *columns)
    found.add("plain", *("+0.123 [+0.10, +0.15]", "<0.001") * 3)
    for words in rows(page(found, 60))[::2]:
        assert words == ["judge", *["less", "random", "p"] * (len(words) // 3)]


def test_labels_have_their_values_beside_them():
    check_pages(lambda name: render.facts([("judge", name), ("cases", 1234)]), "1,234")
    text = page(render.facts([("judge", LONG)]), 60)
    assert "".join(text.split()) == "judge" + LONG


def test_figures_are_found_by_their_names():
    """A part that lacks a figure, or has it elsewhere, has every number under its own heading."""
    win, agree = estimate("win rate", 0.5, 0.4, 0.6), estimate("agreement", 0.8, 0.7, 0.9)
    parts = [
        FigureRow(name="both", estimates=(win, agree)),
        FigureRow(name="turned", estimates=(agree, win)),
        FigureRow(name="one", estimates=(agree,)),
    ]
    headings = {"win rate": "wins", "agreement": "agree"}
    assert rows(page(render.figures(Column.text("part"), headings, parts))) == [
        ["part", "n", "wins", "agree"],
        ["both", "90", "50.0", "[40,", "60]", "80.0", "[70,", "90]"],
        ["turned", "90", "50.0", "[40,", "60]", "80.0", "[70,", "90]"],
        ["one", "90", "-", "80.0", "[70,", "90]"],
    ]


def test_n_counts_cases_scored_or_not():
    row = FigureRow(name="x", estimates=(estimate("win", 0.5, n=1000, n_unscored=234),))
    assert rows(page(render.figures(Column.text(""), {"win": "win"}, [row])))[1][1] == "1,234"


def test_a_list_says_where_the_rest_of_it_is():
    file = Path("runs") / "verdicts.jsonl"
    assert page(render.with_more(listing("x"), 0, file)) == page(listing("x"))
    assert page(render.with_more(listing("x"), 1200, file)).endswith(f" … 1,200 more in {file}\n")


def test_notes_and_citations_are_no_markup():
    assert page(render.notes([HOSTILE])[0], 120).startswith("[bold]x[/bold] :smile: \\x1b[2J")
    assert rows(page(render.citations([(1, "[bold]A[/bold] 2023")]))) == [
        ["[1]", "[bold]A[/bold]", "2023"]
    ]
