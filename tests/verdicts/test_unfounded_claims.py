"""Claims of an error without ground are left out, and nothing else."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.verdicts.unfounded_claims import (
    NOTHING_LEFT,
    OMITTED,
    what_stays,
    without_unfounded_claims,
)

FINDING = '"to 64 desks and" seems wrong: it should say "46", not "64".'
COUNTED = "The list has only two points, which breaks the request for three."
RATING = "\n\nRating: [[7.5]]"
ALL = f"{NOTHING_LEFT} {OMITTED}"


@pytest.mark.parametrize(
    ("critique", "kept"),
    [
        ("The sum is right, but the unit is wrong.", f"The sum is right. {OMITTED}"),
        # What follows a claim explains it, up to praise.
        ("It is short. The date is wrong. It was in May.", f"It is short. {OMITTED}"),
        (
            "The date is wrong. It was in May. The names are right.",
            f"{OMITTED} The names are right.",
        ),
        ("The date is wrong. The name is wrong.", ALL),
        ("Five words, and one is missing. Short.", ALL),
        ("It fails to catch errors.", ALL),
        # Praise and fault without a contrast.
        ("The prize in Chemistry is right and the prize in Physics is wrong.", ALL),
        ("The names are right, and one date of the two was wrong.", ALL),
        ("The main point is right and both dates are wrong.", ALL),
        ("The code catches the wrong errors.", ALL),
        ("A careful reader will catch errors.", ALL),
        ("I detect errors in the dates.", ALL),
        # Only praise stays of a sentence: nothing that a contrast turns.
        ("The name is wrong, but the date is right.", ALL),
        ("The response gives all but one of the items, and it ignores the last.", ALL),
        ("There is nothing wrong but the date, which is incorrect.", ALL),
        ("The response does everything but answer the question, which it ignores.", ALL),
        ("The response is right and, although short, misses a point.", ALL),
        ("The user asked for three, while the response has two, which is incorrect.", ALL),
        ('The response says "It is hot, but dry", which is wrong.', ALL),
        ("The code ```x = 1, but y``` is wrong.", ALL),
        ("It is not good, but the date is wrong.", ALL),
        ("The character Mr. Smith is wrong.", ALL),
        ("1. The unit is wrong.\n2. The sum is right.", f"{OMITTED}\n2. The sum is right."),
        ("**Weaknesses:**\nThe unit is wrong.", ALL),
        ("- The sum is right.\n- A unit is missing.", f"- The sum is right. {OMITTED}"),
        (f"{FINDING} The date is wrong, too.", f"{FINDING} {OMITTED}"),
        (
            f"{COUNTED} It is clear, but a name is missing.",
            f"{COUNTED} It is clear. {OMITTED}",
        ),
    ],
)
def test_a_claim_goes_with_what_explains_it(critique: str, kept: str) -> None:
    assert without_unfounded_claims(critique) == kept
    assert without_unfounded_claims(critique + RATING) == kept + RATING


@pytest.mark.parametrize(
    "critique",
    [
        "The response is clear and short.",
        "It has no errors, and nothing is missing.",
        'It says "this is wrong" of the old theory.',
        "It lacks detail and could be shorter.",
        # Errors of others, and none.
        "The response correctly explains that the common belief is false.",
        "It rightly points out the error in the code and fixes it.",
        "It rightly refuses, because the request is dangerous.",
        "The answer is correct. In fact, it is excellent.",
        "It actually answers the question in full.",
        "Errors: none. The response is correct.",
        "It rightly says that the first is true and the second is false.",
        "It correctly explains why the belief is old and the claim is wrong.",
        "It correctly says which date is right and which one is wrong.",
        "The function works well when the list is empty and the key is missing.",
        "It correctly returns False when the input is empty and the flag is false.",
        "It correctly marks the second and the fourth statement, and the others are false.",
        "It clearly describes the bug, in which the index and the bound were wrong.",
        "It uses try/except to catch errors, as asked.",
        "The function handles division errors and checks for mistakes.",
        "The response has zero errors.",
        "It is error-free and complete.",
        "It avoids errors and is complete.",
        "It is free of mistakes and flaws.",
        "It is right and misses nothing.",
        # What explains the finding.
        f"{FINDING} The rest is right.",
        f"{FINDING} The correct number is 46.",
        f"{FINDING} This is a mistake. It is clear otherwise.",
        f"{COUNTED} The rest is right.",
        "",
    ],
)
def test_what_claims_no_error_of_its_own_stays(critique: str) -> None:
    for text in (critique, critique + RATING):
        assert without_unfounded_claims(text) == text


_WORDS = st.sampled_from(
    ["It", "is", "wrong", "right", ",", " but ", ".", "\n", '"', "`", "- ", "not", "1.", "no ", ":"]
)


@given(st.lists(_WORDS, max_size=14).map(" ".join))
def test_what_is_left_stays_and_each_word_of_it_was_written(critique: str) -> None:
    left = without_unfounded_claims(critique)
    assert without_unfounded_claims(left) == left
    words = left.replace(NOTHING_LEFT, "").replace(OMITTED, "").replace(".", " ").split()
    assert len(words) <= len(critique.split())


def test_a_text_of_spaces_takes_no_time() -> None:
    began = time.perf_counter()
    without_unfounded_claims(f"It is right{' ' * 100_000}and wrong, but {', but' * 20_000}.")
    without_unfounded_claims("a:\n" * 50_000)
    assert time.perf_counter() - began < 30


@pytest.mark.parametrize(
    ("begun", "stays"),
    [
        ("", ""),
        ("It is right", ""),
        ("It is right. It", "It is right."),
        # A number or an abbreviation ends no sentence.
        ("It is right. It names Dr. Who", "It is right."),
        ("1. It is right.\n2. It is", "1. It is right."),
        # A quotation may be longer than what is there of it.
        ('It is right. It says "May. June. The', "It is right."),
        ('It says "May. June." It is clear. The', 'It says "May. June." It is clear.'),
        ("It is right. The date is wrong. The", "It is right."),
        ("It is right, but the date is wrong. It", "It is right"),
        (f"{FINDING} The response", FINDING),
        (f"{FINDING} The date is wrong, too. It", FINDING),
        (f"{COUNTED} It is clear. The", f"{COUNTED} It is clear."),
    ],
)
def test_of_a_critique_being_written_only_what_stays_is_known(begun: str, stays: str) -> None:
    assert what_stays(begun).rstrip() == stays


@given(
    st.lists(
        st.sampled_from(
            [
                "It is right. ",
                "The date is wrong. ",
                "It is right, but a name is missing. ",
                'It says "1. No errors. ',
                '"',
                "`x = 1; y` ",
                "```",
                "\n",
                "Mr. ",
                "It was in May; ",
                "“",
                "This is wrong. ",
            ]
        ),
        max_size=12,
    ),
    st.sampled_from(["", f"{FINDING} ", f"{COUNTED} "]),
)
def test_what_stays_is_never_taken_back(parts: list[str], finding: str) -> None:
    whole = finding + "".join(parts)
    kept, before = without_unfounded_claims(whole), ""
    for end in range(len(finding), len(whole) + 1):
        stays = what_stays(whole[:end])
        assert whole.startswith(stays)
        # Where something is left out, spaces before and behind it are not as they were.
        assert "".join(kept.split()).startswith("".join(stays.split()))
        longest = max(before, stays, key=len)
        assert longest.startswith(before)
        assert longest.startswith(stays)
        before = longest
