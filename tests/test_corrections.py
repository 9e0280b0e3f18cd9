"""Corrections of a word, and the sentence that names one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.corrections import WORD, Correction, correction, said_of
from autoj.verdicts.claims import read_sentences


def corrected(response: str, old: str, expected: str, *, inside: int = 0) -> str | None:
    """The response after what was expected in the place of a word, or of its end."""
    place = response.index(old) + inside
    # A tokenizer puts the space before a word into the word's first token.
    place -= not inside and place > 0 and response[place - 1] == " "
    made = correction(response, place, expected)
    return None if made is None else made.made_in(response)


@pytest.mark.parametrize(
    ("response", "old", "expected", "after"),
    [
        ("It has 64 desks.", "64", " 46 desks", "It has 46 desks."),
        ("It costs 7.50 now.", "7.50", " 7.05 now", "It costs 7.05 now."),
        ("It costs 7.50.", "7.50", " 8.", "It costs 8."),
        ("Ask O'Brien first.", "O'Brien", " Smith first", "Ask Smith first."),
        ("It may not be.", "not", " be so", "It may be."),
        ("not so", "not", "so it", "so"),
        ("Canberra is", "Canberra", "Sydney is", "Sydney is"),
        ("über Lyon", "Lyon", " Paris,", "über Paris"),
        ("It is.", "is", " is.", None),
        ("It is.", "is", " ** is", None),
        ("答案是七。", "案", "八。", None),
    ],
)
def test_what_was_expected_replaces_one_word(
    response: str, old: str, expected: str, after: str | None
) -> None:
    assert corrected(response, old, expected) == after


def test_the_beginning_of_a_word_stays() -> None:
    assert corrected("In 1831 it", "1831", "13 it", inside=2) == "In 1813 it"
    assert corrected("In 1831 it", "1831", " was", inside=2) is None


def test_a_new_word_needs_a_space_where_a_word_would_end() -> None:
    assert correction("It has desks", 6, "hadow of") is None


TEXTS = st.text(st.sampled_from("ab1 .,'\"\n[]é🕛七"), max_size=30)


@given(TEXTS, st.integers(0, 30), TEXTS)
def test_a_correction_changes_one_word(response: str, place: int, expected: str) -> None:
    made = correction(response, min(place, len(response)), expected)
    if made is None:
        return
    assert WORD.fullmatch(made.old)
    assert response[made.start : made.end] == made.old != made.new
    after = made.made_in(response)
    assert after.startswith(response[: made.start] + made.new)
    assert after.endswith(response[made.end :].lstrip(" "))


@given(TEXTS, st.integers(0, 30))
def test_what_is_said_quotes_words_that_stand_there_and_no_marks(response: str, at: int) -> None:
    old = WORD.search(response, at)
    if old is None:
        return
    said = said_of(Correction(start=old.start(), old=old[0], new="46"), response)
    passage = said.split('"')[1]
    assert old[0] in passage
    assert passage in response
    assert said.count('"') == 6
    assert not set("[]\n`") & set(said)


def test_what_is_said_claims_an_error() -> None:
    response = "The desks rose to 64 [[10]] in June."
    for new in ("46", ""):
        said = said_of(Correction(start=18, old="64", new=new), response)
        (sentence,) = read_sentences(said)
        assert sentence.claims_error
        assert not sentence.praises
    assert said == '"desks rose to 64" seems wrong: it should not say "64".'
