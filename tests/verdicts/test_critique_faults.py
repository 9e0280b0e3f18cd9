"""Loops and contradictions are cut and marked; honest critiques stay as they are."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.records import Case, Response, Verdict, Winner
from autoj.verdicts import critique_faults
from autoj.verdicts.critique_faults import count_faults, cut_loop, shown_critiques


def case(*texts: str) -> Case:
    return Case(
        id="1", query="Why?", cluster="why", responses=tuple(Response(text=text) for text in texts)
    )


def rated(critique: str | None, rating: float | None, response: str = "Because.") -> Verdict:
    return Verdict(case_id="1", judge="j", ratings=(rating,), critiques=(critique,))


def test_a_loop_is_cut_before_its_second_round_and_its_rating_stays() -> None:
    text = "It is off the point." + " The response is not helpful." * 30 + "\n\nRating: [[2]]"
    (found,) = shown_critiques(case("x"), rated(text, 2.0))
    assert found is not None
    assert found.text == "It is off the point. The response is not helpful.\n\nRating: [[2]]"
    assert found.faults == ("repeats itself",)
    assert found.mark == "cut: it repeats itself"


@pytest.mark.parametrize(
    "text",
    [
        "The date is wrong. The name is wrong. The place is wrong.",
        "- accuracy: it is right.\n- tone: it is right.\n- length: it is right.",
        "Yes. Yes. Yes. Yes.",
        "It says it twice. It says it twice.",
        "----------------------------------------",
        "The sum is 1111111111.",
        "",
    ],
)
def test_a_text_that_does_not_loop_stays(text: str) -> None:
    assert cut_loop(text) == text


_SOUNDS = st.text("ab .\n", max_size=14)


@given(_SOUNDS, st.text("ab .\n", min_size=2, max_size=12), st.integers(1, 5), _SOUNDS)
def test_looking_for_repeated_words_first_misses_no_loop(before, unit, n, after):
    text = before + unit * n + after
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(critique_faults, "_may_loop", lambda words: True)
        slowly = cut_loop(text)
    assert cut_loop(text) == slowly


def test_long_hostile_texts_are_read_quickly() -> None:
    started = time.monotonic()
    for text in ("ab" * 20_000, "a b c. " * 10_000, "".join(map(chr, range(33, 20_000)))):
        cut_loop(text)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("critique", "rating", "contradicts"),
    [
        ("It is correct and helpful.\n\nRating: [[2]]", 2.0, True),
        ("The year is wrong.\n\nRating: [[9]]", 9.0, True),
        ("The year is wrong.", 2.0, False),
        ("It is correct and helpful.", 9.0, False),
        ("It is clear.", 2.0, False),
        ("It is clear, but the year is wrong.", 9.0, False),
        ("It is correct and helpful.", 5.5, False),
        ("It is correct. The year is wrong.", 2.0, False),
        ('"in 1831" seems wrong: it should say "1813", not "1831".', 8.0, False),
        ('"in 1831" seems wrong: it should not say "in". The name is wrong.', 8.0, True),
        ("The list has only two points, which breaks the request for three.", 8.0, False),
        ('"3 + 4 = 8" is wrong: it comes to 7. The name is wrong.', 8.0, True),
        ("It is correct and helpful.", None, False),
    ],
)
def test_prose_against_its_rating_is_left_out(
    critique: str, rating: float | None, contradicts: bool
) -> None:
    (found,) = shown_critiques(case("x"), rated(critique, rating))
    assert found is not None
    assert ("contradicts its verdict" in found.faults) == contradicts
    if contradicts:
        assert "helpful" not in found.text
        assert "wrong" not in found.text
    else:
        assert found.text == critique


@pytest.mark.parametrize(
    ("winner", "critique", "contradicts"),
    [
        ("a", "Response 2 is better.", True),
        ("b", "Response 2 is clearly better overall.", False),
        ("tie", "The better response is Response 1.", True),
        ("a", "Response 2 is better in tone, but wrong.", False),
        ("a", "Response 1 is better. Response 2 is better.", False),
        (None, "Response 2 is better.", False),
    ],
)
def test_a_pair_s_critique_for_the_loser_is_left_out(
    winner: Winner | None, critique: str, contradicts: bool
) -> None:
    verdict = Verdict(case_id="1", judge="j", winner=winner, critiques=(critique,))
    (found,) = shown_critiques(case("x", "y"), verdict)
    assert found is not None
    assert (found.faults, found.text) == (
        (("contradicts its verdict",), "") if contradicts else ((), critique)
    )


def test_orders_that_differ_each_argue_for_their_own_winner() -> None:
    verdict = Verdict(
        case_id="1", judge="j", winner=None, winners=("a", "b"),
        critiques=("Response 1 is better.", "Response 2 is better."),
    )  # fmt: skip
    assert all(each and not each.faults for each in shown_critiques(case("x", "y"), verdict))


def test_an_empty_response_gets_only_the_fact() -> None:
    (found,) = shown_critiques(case(" \n"), rated("It is correct and helpful. [[1]]", 1.0))
    assert found is not None
    assert (found.text, found.faults, found.mark) == (
        "The response is empty.", ("empty response",), None,
    )  # fmt: skip


def test_faults_are_counted_and_no_critique_has_none() -> None:
    shown = (
        *shown_critiques(case("x"), rated("It is very good. " * 5, 2.0)),
        *shown_critiques(case("x"), rated(None, None)),
    )
    assert count_faults(shown) == {"repeats itself": 1, "contradicts its verdict": 1}
