"""Claims of an error without ground are left out, and nothing else."""

from __future__ import annotations

import pytest

from autoj.verdicts.claims import read_sentences
from autoj.verdicts.unfounded_claims import OMITTED, without_unfounded_claims

FINDING = '"to 64 desks and" seems wrong: it should say "46", not "64".'
COUNTED = "The list has only two points, which breaks the request for three."
RATING = "\n\nRating: [[7.5]]"


@pytest.mark.parametrize(
    ("critique", "kept"),
    [
        ("The sum is right, but the unit is wrong.", "The sum is right. […]"),
        # What follows a claim explains it.
        ("It is short. The date is wrong. It was in May.", "It is short. […]"),
        ("Five words, and one is missing. Clear.", "Nothing surely wrong was found. […]"),
        ("The name is wrong, but the date is right.", "Nothing surely wrong was found. […]"),
        # Two words are no clause.
        ("It is, but wrong.", "Nothing surely wrong was found. […]"),
        (f"{FINDING} The date is wrong, too.", f"{FINDING} […]"),
        (f"{COUNTED} It is clear, but a name is missing.", f"{COUNTED} It is clear. […]"),
        ("It says “no man is wrong”, however it omits a name.", "It says “no man is wrong”. […]"),
    ],
)
def test_a_claim_goes_with_what_follows_it(critique: str, kept: str) -> None:
    assert without_unfounded_claims(critique) == kept
    assert without_unfounded_claims(critique + RATING) == kept + RATING


@pytest.mark.parametrize(
    "critique",
    [
        "The response is clear and short.",
        "It has no errors, and nothing is missing.",
        'It says "this is wrong" of the old theory.',
        "It lacks detail and could be shorter.",
        f"{FINDING} The rest is right.",
        f"{COUNTED} The rest is right.",
        "",
    ],
)
def test_what_claims_no_error_of_its_own_stays(critique: str) -> None:
    for text in (critique, critique + RATING):
        assert without_unfounded_claims(text) == text


def test_what_is_left_claims_nothing_and_is_left_as_it_is() -> None:
    left = without_unfounded_claims(f"Wrong. It ignores the question.{RATING}")
    assert OMITTED in left
    assert not any(each.claims_error for each in read_sentences(left))
    assert without_unfounded_claims(left) == left
