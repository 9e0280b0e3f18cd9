"""Which of N responses is picked, and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.records import Response
from autoj.verdicts.selection import PICK_RULES, Pick, among_equals, best_by_rating, pick


def responses(*logprobs: float | None) -> list[Response]:
    return [Response(text=f"r{n}", logprob=logprob) for n, logprob in enumerate(logprobs)]


@pytest.mark.parametrize(
    ("ratings", "logprobs", "expected"),
    [
        ((3.0, 7.0, 5.0), (None, None, None), (1, "rating")),
        ((7.0, 7.0, 5.0), (-9.0, -2.0, -1.0), (1, "output probability")),
        ((7.0, 7.0, 5.0), (-2.0, -9.0, -1.0), (0, "output probability")),
        ((5.0, 7.0, 7.0), (-1.0, None, -2.0), (1, "first")),
        ((7.0, 7.0, 7.0), (-9.0, None, -2.0), (0, "first")),
        ((5.0, 7.0, 7.0), (-1.0, -3.0, -3.0), (1, "first")),
        ((None, -3.0, None), (-1.0, None, None), (1, "rating")),
        ((6.0,), (None,), (0, "rating")),
    ],
)
def test_the_highest_then_the_likelier_where_all_are_known_then_the_first(
    ratings, logprobs, expected
):
    best = best_by_rating(ratings, responses(*logprobs))
    assert best is not None
    assert (best.index, best.rule) == expected
    assert best.rule in PICK_RULES
    assert pick(ratings, responses(*logprobs)) == expected[0]


def test_without_a_rating_nothing_is_picked():
    assert best_by_rating([None, None], responses(-1.0, -2.0)) is None
    assert pick([], []) is None


def test_equals_are_named_by_their_place_among_all():
    assert among_equals([1, 3], responses(-0.1, -5.0, -0.1, -4.0)) == Pick(
        index=3, rule="output probability"
    )


@given(st.lists(st.none() | st.floats(1, 10), min_size=1, max_size=8))
def test_a_pick_is_rated_and_no_other_is_rated_higher(ratings):
    index = pick(ratings, responses(*[None] * len(ratings)))
    known = [rating for rating in ratings if rating is not None]
    if index is None:
        assert not known
    else:
        assert ratings[index] == max(known)
        assert ratings.index(max(known)) == index
