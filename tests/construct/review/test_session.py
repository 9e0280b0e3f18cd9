"""A person's pass over guessed scenarios, as it is typed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoj.construct.review.answers import (
    REVIEWS,
    Corrections,
    Review,
    count_reviews,
    read_corrections,
    read_reviews,
)
from autoj.construct.review.opening import drawn_rows
from autoj.construct.review.session import ReviewSession
from autoj.errors import DataError
from autoj.records import Case, Response, normalise_query
from autoj.scenarios import scenario_names, shipped_library
from autoj.scenarios.seeds import query_digest


def guessed(number: int, scenario: str = "planning", query: str | None = None) -> Case:
    query = f"Plan trip number {number}." if query is None else query
    return Case(
        id=f"own/{number}",
        query=query,
        cluster=normalise_query(query),
        responses=(Response(text="a"), Response(text="b")),
        scenario=scenario,
        meta={"scenario_by": "fast", "scenario_probability": 0.5},
    )


def typed(folder: Path, rows: Iterable[Case], *words: str) -> list[str]:
    """Types words into a session, and gives the answers that it kept, in the rows' order."""
    rows = list(rows)
    with ReviewSession(folder, rows, shipped_library()) as session:
        for word in words:
            session.answer(word)
    reviews = read_reviews(folder)
    found = (reviews.get(query_digest(row.query)) for row in rows)
    return ["" if one is None else one.scenario or one.answer for one in found]


ROWS = [guessed(number) for number in range(4)]


def test_each_key_does_what_it_says(tmp_path: Path) -> None:
    # The group's names are numbered in the taxonomy's order, and chitchat is the ninth.
    assert typed(tmp_path, ROWS, "", "x", "9", "small talk") == [
        "planning", "dropped", "chitchat", "chitchat",
    ]  # fmt: skip
    answers = [review.answer for review in read_reviews(tmp_path).values()]
    assert answers == ["right", "dropped", "renamed", "renamed"]


def test_the_guess_itself_typed_out_is_right(tmp_path: Path) -> None:
    typed(tmp_path, ROWS, "Planning")
    assert [review.answer for review in read_reviews(tmp_path).values()] == ["right"]


def test_back_answers_again_and_the_last_answer_counts(tmp_path: Path) -> None:
    assert typed(tmp_path, ROWS, "x", "b", "", "b", "b", "") == ["planning", "", "", ""]
    with ReviewSession(tmp_path, ROWS, shipped_library()) as session:
        # An earlier session's row is one step back.
        session.answer("b")
        assert session.current == ROWS[0]
        assert session.answer("b").said == "this is the first row"
    assert len((tmp_path / REVIEWS).read_text().splitlines()) == 3


def test_what_is_skipped_comes_again_at_the_end(tmp_path: Path) -> None:
    assert typed(tmp_path, ROWS, "s", "") == ["skipped", "planning", "", ""]
    with ReviewSession(tmp_path, ROWS, shipped_library()) as session:
        assert session.n_open == 3
        shown = []
        while session.current is not None:
            shown.append(session.current.id)
            session.answer("")
    assert shown == ["own/2", "own/3", "own/0"]
    assert session.n_open == 0


def test_a_word_of_several_names_lists_them_and_a_number_takes_one(tmp_path: Path) -> None:
    with ReviewSession(tmp_path, ROWS, shipped_library()) as session:
        reply = session.answer("exam")
        assert reply.shows == "names"
        assert session.names[:2] == (
            "solving_exam_question_with_math", "solving_exam_question_without_math",
        )  # fmt: skip
        assert session.answer("2").said == "solving_exam_question_without_math"
        # The next row has its own group again.
        assert "planning" in session.names


def test_what_means_nothing_is_said_and_keeps_nothing(tmp_path: Path) -> None:
    with ReviewSession(tmp_path, ROWS, shipped_library()) as session:
        for word in ("zzz", "0", "99", "9" * 400, "²"):
            reply = session.answer(word)
            assert reply.said is not None
            assert not reply.quits
        assert session.answer("?").shows == "help"
        assert session.names == scenario_names()
        assert session.answer("V").shows == "query"
        assert session.answer("q").quits
    assert read_reviews(tmp_path) == {}


@settings(max_examples=25)
@given(words=st.lists(st.text(max_size=12), max_size=6))
def test_no_text_breaks_a_session(tmp_path_factory: pytest.TempPathFactory, words) -> None:
    typed(tmp_path_factory.mktemp("any"), [guessed(n) for n in range(8)], *words)


def test_a_killed_session_loses_nothing_but_its_last_half_line(tmp_path: Path) -> None:
    typed(tmp_path, ROWS, "", "x")
    with (tmp_path / REVIEWS).open("a") as stream:
        stream.write('{"id": "own/2", "que')
    assert typed(tmp_path, ROWS, "chitchat") == ["planning", "dropped", "chitchat", ""]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    (tmp_path / REVIEWS).write_text('{"id": 3}\n')
    with pytest.raises(DataError, match=r"reviews\.jsonl:1"):
        read_reviews(tmp_path)


def test_rows_are_drawn_by_the_seed_and_a_larger_draw_holds_the_smaller() -> None:
    rows = [guessed(n, ("chitchat", "planning", "my_own")[n % 3]) for n in range(300)]
    stated = [Case(id="own/s", query="Hi", cluster="hi", responses=(), scenario="chitchat")]
    again = [guessed(900, "chitchat", "plan TRIP number 0")]
    few = drawn_rows([*rows, *stated, *again], 5, 1, scenario_names())
    expected = [name for name in ("chitchat", "planning", "my_own") for _ in range(5)]
    assert [row.scenario for row in few] == expected
    assert all(not row.responses for row in few)
    many = drawn_rows(reversed([*rows, *stated, *again]), 50, 1, scenario_names())
    assert {normalise_query(row.query) for row in few} <= {
        normalise_query(row.query) for row in many
    }
    assert "own/s" not in {row.id for row in many}
    assert len({normalise_query(row.query) for row in many}) == len(many) == 150
    assert drawn_rows(rows, 5, 2, scenario_names()) != few


def test_an_answer_holds_for_all_guessed_rows_with_the_query(tmp_path: Path) -> None:
    typed(tmp_path, ROWS, "chitchat", "x", "")
    corrections = read_corrections(tmp_path)
    same = guessed(70, query="plan TRIP number 0")
    found = corrections.apply(same)
    assert found is not None
    assert (found.scenario, found.meta) == ("chitchat", {"scenario_by": "review"})
    assert corrections.apply(guessed(1)) is None
    assert corrections.apply(guessed(2)) == guessed(2)
    stated = Case(id="s", query=ROWS[1].query, cluster="s", responses=(), scenario="planning")
    assert corrections.apply(stated) == stated


def test_right_answers_alone_change_nothing(tmp_path: Path) -> None:
    typed(tmp_path, ROWS, "", "", "s")
    assert read_corrections(tmp_path).digest is None
    assert Corrections().digest is None
    typed(tmp_path, ROWS, "chitchat")
    assert read_corrections(tmp_path).digest is not None


def test_shares_count_what_got_a_name(tmp_path: Path) -> None:
    assert count_reviews(tmp_path) is None
    rows = [*ROWS, *(guessed(n, "open_question") for n in range(10, 14))]
    typed(tmp_path, rows, "", "", "", "x", "planning", "planning", "chitchat", "s")
    counts = count_reviews(tmp_path)
    assert counts is not None
    assert (counts.n_reviewed, counts.n_right, counts.n_renamed) == (7, 3, 3)
    assert (counts.n_dropped, counts.n_skipped) == (1, 1)
    assert counts.right.n == 6
    assert counts.right.value == 0.5
    assert counts.right.low is not None
    assert counts.right.low < 0.5
    worst, best = counts.scenarios
    assert (worst.scenario, worst.right.value) == ("open_question", 0.0)
    assert worst.taken_for == (("planning", 2), ("chitchat", 1))
    assert (best.scenario, best.right.value) == ("planning", 1.0)


def test_a_review_of_dropped_queries_alone_has_no_share(tmp_path: Path) -> None:
    typed(tmp_path, ROWS, "x")
    counts = count_reviews(tmp_path)
    assert counts is not None
    assert counts.right.value is None
    assert counts.right.reason is not None


def test_the_record_is_plain(tmp_path: Path) -> None:
    typed(tmp_path, ROWS, "")
    (review,) = read_reviews(tmp_path).values()
    assert review == Review(
        id="own/0",
        query_sha256=query_digest(ROWS[0].query),
        guessed="planning",
        answer="right",
        scenario="planning",
    )
