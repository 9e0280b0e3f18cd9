"""`autoj construct review` as a person meets it: in the terminal, and by a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from autoj.construct.pipeline import construct
from autoj.construct.recipe import ConstructRecipe, read_construct_recipe
from autoj.jsonl import write_records

from ..construct.scripted_teacher import Teacher, recipe, teacher

__all__ = ["recipe", "teacher"]

HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold red]x[/bold red]\u202egnp"
_RECIPE = """
title: queries of our own
sources: [{data: pairs.jsonl, name: "=own"}]
stages: [{stage: collect}, {stage: classify}]
"""


@pytest.fixture
def typed(monkeypatch):
    """Lets the next command read lines from its stdin."""

    def lines(*words: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{word}\n" for word in words)))

    return lines


@pytest.fixture
def out(run, tmp_path: Path) -> Path:
    """A construction of four queries, one of them hostile and one long."""
    queries = (
        "Plan a trip to Bern.",
        HOSTILE,
        "Translate to French: " + " ".join(f"word{number}" for number in range(2_000)),
        "How do I boil an egg?",
    )
    rows = [
        {"id": f"{number}", "query": query, "responses": ["a", "b"], "label": "a"}
        for number, query in enumerate(queries)
    ]
    write_records(tmp_path / "pairs.jsonl", rows)
    (tmp_path / "queries.yaml").write_text(_RECIPE)
    construct(read_construct_recipe(tmp_path / "queries.yaml"), tmp_path / "mine")
    return tmp_path / "mine"


def test_rows_come_one_at_a_time_and_quitting_keeps_the_answers(run, out, typed) -> None:
    typed("", "x", "q")
    code, text, err = run("construct", "review", "mine")
    assert code == 0
    assert "row 1 of 4; 1 of 1 with this guess" in text
    assert "row 3 of 4" in text
    assert "1 right, 0 renamed, 1 dropped" in text
    assert "2 rows are open; the same command goes on" in err
    typed("writing email", "")
    code, text, err = run("construct", "review", "mine")
    assert "row 1 of 4" not in text
    assert "row 3 of 4" in text
    assert "open" not in err
    assert "2 right, 1 renamed, 1 dropped" in text
    # Nothing is left to ask: the shares are shown.
    typed()
    assert "2 right, 1 renamed" in run("construct", "review", "mine")[1]
    shown = run("construct", "show", "mine")[1]
    assert "reviewed  4 queries: 2 right, 1 renamed, 1 dropped" in shown
    assert "writing_email 1" in shown


def test_an_ended_input_quits(run, out, typed) -> None:
    typed("")
    code, _, err = run("construct", "review", "mine")
    assert code == 0
    assert "3 rows are open" in err


def test_hostile_text_neither_moves_the_cursor_nor_is_markup(run, out, typed) -> None:
    typed(*["v", "s"] * 4)
    code, text, _ = run("construct", "review", "mine")
    assert code == 0
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert "[bold red]x[/bold red]" in text
    assert "\\x1b[2J" in text


def test_a_long_query_is_cut_in_its_middle_and_shown_whole_on_request(run, out, typed) -> None:
    typed("s", "s", "s", "s")
    text = run("construct", "review", "mine")[1]
    assert "word0" in text
    assert "word1999" in text
    assert "word1000" not in text
    assert "v shows all" in text
    typed("v", "s", "v", "s", "v", "s", "v", "s")
    assert "word1000" in run("construct", "review", "mine")[1]


def _sheet(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def _fill(path: Path, rows: list[dict[str, str]], delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_sheet_goes_out_and_comes_back(run, out, delimiter) -> None:
    code, _, err = run("construct", "review", "mine", "--to-csv", "sheet.csv")
    assert code == 0
    assert "4 rows" in err
    rows = _sheet(Path("sheet.csv"))
    # No cell is a formula to a spreadsheet, and no text is longer than one holds.
    assert all(row["id"].startswith("'=own/") for row in rows)
    assert max(len(row["query"]) for row in rows) < 2_100
    said = {"Plan": " OK ", "How": "Writing Email", "Translate": "DROP"}
    for row in rows:
        row["review"] = next(
            (word for key, word in said.items() if row["query"][: len(key)] == key), ""
        )
    _fill(Path("filled.csv"), rows, delimiter)
    code, text, err = run("construct", "review", "mine", "--from-csv", "filled.csv")
    assert code == 0
    assert "4 rows: 3 new answers, 1 without one" in err
    assert "1 right, 1 renamed, 1 dropped" in text
    # Again it changes nothing, and a new sheet is filled in.
    assert "0 new answers" in run("construct", "review", "mine", "--from-csv", "filled.csv")[2]
    run("construct", "review", "mine", "--to-csv", "next.csv")
    assert sorted(row["review"] for row in _sheet(Path("next.csv"))) == [
        "", "drop", "ok", "writing_email",
    ]  # fmt: skip


def test_a_sheet_that_may_be_filled_is_not_written_over(run, out) -> None:
    Path("sheet.csv").write_text("id,review\n")
    code, _, err = run("construct", "review", "mine", "--to-csv", "sheet.csv")
    assert code == 2
    assert "exists, and may have somebody's answers" in err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("id,review\n=own/0,planing\n", "filled.csv:2:review: expected ok, drop or a scenario"),
        ("id,review\n=own/0,planing\n", "Did you mean planning"),
        ("id,review\n=own/0,\n=own/9,ok\n", "filled.csv:3:id: no guessed row has the id '=own/9'"),
        ("id,review\n=own/0,ok\n01-Feb,ok\nx,y\n", "1 more row has a fault"),
        ("id;guess\n=own/0;planning\n", "filled.csv:1: has no column 'review'"),
        ("", "filled.csv: is empty"),
        ('id,review\n"=own/0,ok\n', "never closed"),
        ("id,review\n=own/0,ok,more\n", "filled.csv:2: has 3 cells"),
    ],
)
def test_a_wrong_sheet_is_named_with_its_line_and_changes_nothing(run, out, content, said) -> None:
    Path("filled.csv").write_text(content)
    code, _, err = run("construct", "review", "mine", "--from-csv", "filled.csv")
    assert code == 2
    assert said in " ".join(err.split())
    assert not (out / "02-classify" / "reviews.jsonl").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "is not a construction"),
        (("mine", "--stage", "collect"), "stage collect names no scenarios"),
        (("mine", "--stage", "mix"), "no finished stage 'mix'"),
        (("mine", "--to-csv", "a", "--from-csv", "b"), "cannot be used together"),
        (("mine", "--from-csv", "missing.csv"), "there is no such file"),
    ],
)
def test_a_mistake_is_a_user_error(run, out, arguments, said) -> None:
    code, _, err = run("construct", "review", *arguments)
    assert code == 2
    assert said in err


def test_json_is_alone_on_stdout_and_asks_nothing(run, out, typed) -> None:
    assert json.loads(run("construct", "review", "mine", "--json")[1]) is None
    typed("", "", "q")
    run("construct", "review", "mine")
    found = json.loads(run("construct", "review", "mine", "--json")[1])
    assert (found["n_right"], found["right"]["n"]) == (2, 2)
    assert json.loads(run("construct", "show", "mine", "--json")[1])["reviewed"] == found


def test_names_are_reviewed_before_a_teacher_is_asked(run, recipe: ConstructRecipe, typed) -> None:
    run("construct", "construct.yaml", "--out", "mine", "--until", "classify")
    assert not Teacher.asked
    typed("chitchat", "q")
    run("construct", "review", "mine")
    code, out, err = run("construct", "construct.yaml", "--out", "mine")
    assert code == 0
    assert "before the last review" not in err
    assert "stale" not in out
    code, _, err = run("construct", "construct.yaml", "--out", "mine", "--until", "classy")
    assert code == 2
    assert "there is no stage 'classy'" in err
