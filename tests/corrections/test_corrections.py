"""Corrections of a word, and the sentence that names one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.corrections import (
    WORD,
    Correction,
    beyond_finding,
    correction,
    goes_on_alike,
    said_of,
)
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
        ("über Lyon", "Lyon", " Paris, ", "über Paris"),
        ("It is.", "is", " is.", None),
        ("It is.", "is", " ** is", None),
        ("240 kJ.", "kJ", " 000 J", None),
        ("In 1813.", "1813", " June.", None),
        ("It Is so", "Is", " is so", None),
        ("not 3 but", "not", " 3 but", "3 but"),
        ("It costs 1,831 now.", "1,831", " 1,813 now", "It costs 1,813 now."),
        ("It costs 1,831 now.", "1,831", " 1831 now", None),
        ("It’s so.", "It’s", "It's so", None),
        ("The answer is correct.", "correct", " not correct", None),
        ("The answer is correct.", "correct", " not c", None),
        ("It is here.", "here", "\n\nThe library", None),
        ("It is _not_ so.", "not", "very so", None),
        ("max_value is 3", "max", "min_value", "min_value is 3"),
        ("return a-b", "a-b", " a + b", None),
        ("x.append(y)", "x.append", "x.extend(y", "x.extend(y)"),
        ("यह किताब है", "किताब", " कलम है", None),
        ("two cafe\u0301s here", "cafe", " bars here", None),
        ("see " + "a" * 60 + " now", "a" * 60, " b now", None),
        ("答案是七。", "案", "八。", None),
    ],
)
def test_what_was_expected_replaces_one_word(
    response: str, old: str, expected: str, after: str | None
) -> None:
    assert corrected(response, old, expected) == after


@pytest.mark.parametrize(
    ("old", "new", "is_named"),
    [
        ("cake", "a", False),
        ("Kindly", "The", False),
        ("your appliance", "it", False),
        ("holds", "is", False),
        # A title, but another one.
        ("Ms", "landlord", False),
        ("Mr", "Ms", True),
        # Both without content, a denial, a place, and more than one word.
        ("he", "she", True),
        ("is", "are", True),
        ("may", "not", True),
        ("on", "under", True),
        ("cake", "the fair", True),
        ("cake", "b", True),
        # A denial, a number, an answer's letter, an abbreviation, a typing error, a condition.
        ("isn't", "is", True),
        ("three", "a", True),
        ("nobody", "they", True),
        ("B", "A", True),
        ("UK", "US", True),
        ("teh", "the", True),
        ("unless", "and", True),
    ],
)
def test_a_word_without_content_is_no_correction_of_one_with_some(
    old: str, new: str, *, is_named: bool
) -> None:
    made = correction(f"So far {old} goes on well.", 6, f" {new} goes on well.")
    assert (made is not None) is is_named


def test_the_beginning_of_a_word_stays() -> None:
    assert corrected("In 1831 it", "1831", "13 it", inside=2) == "In 1813 it"
    assert corrected("In 1831 it", "1831", " was", inside=2) is None


def test_the_whole_number_is_replaced_where_it_was_expected_to_go_on_otherwise() -> None:
    assert corrected("It costs 1,831 now.", "1,831", "13 now", inside=3) == "It costs 1,813 now."
    made = correction("It costs 7.50 now.", 11, "05 now")
    assert made is not None
    assert (made.old, made.new) == ("7.50", "7.05")


def test_a_word_that_goes_on_is_not_cut() -> None:
    assert correction("In 1831 it", 6, ". It") is None
    assert correction("It has 46 desks", 14, ", and") is None


def test_a_new_word_needs_a_space_where_a_word_would_end() -> None:
    assert correction("It has desks", 6, "hadow of") is None


def test_a_finding_is_told_from_the_rest() -> None:
    response = "The desks rose to 64 in June."
    for new in ("46", ""):
        said = said_of(Correction(start=18, old="64", new=new), response)
        assert beyond_finding(f"{said} Clear.") == " Clear."
    assert beyond_finding(f"Clear. {said}") == f"Clear. {said}"


TEXTS = st.text(st.sampled_from("ab1 .,'\"\n[]é🕛七"), max_size=30)


@pytest.mark.parametrize(
    ("response", "old", "expected", "replaced"),
    [
        ("All saw it.", "All", "No one noticed it.", ("All saw", "No one noticed")),
        ("return n * f(n);", ");", " - 1);", ("f(n)", "f(n - 1)")),
        ("WHERE x = NULL is", " =", " IS NULL is", ("=", "IS")),
        ("It takes O(n²), as it", "(", "(log n), as", ("O(n²)", "O(log n)")),
        ("It takes O(n²), as it", "²", " log n). So", ("O(n²)", "O(n log n)")),
        ("It should be so now.", " be", " not be so", ("be", "not be")),
        ("It should be so now.", " be", " always be so", None),
        ("It is so, and then some", " so", " thus, and", ("so", "thus")),
        ("It has 46, no 8 desks", ",", " desks or", None),
        ("It is never, ever so", " never", " ever so", None),
        ("It was for ever so good", " for", " so good", None),
        ("To jobs@leaf.example now", ".", ".co.uk now", None),
        ("It takes 240 kJ of heat", " kJ", " 000 joules of heat", None),
        ("It was (never) so good", "never", ") so good", None),
        ("It was never so good", " never", " so good", ("never", "")),
        ("I won't go there", "'t", " go there", None),
        ("It ended, and so on", ",", " then and so", ("ended,", "ended then")),
        ("It was re\u0301d then", " re", " blue then", None),
        ("It was 6\u202e4 then", " 6", " 46 then", None),
        ("in 1831. It", "31", "13. Then", ("1831", "1813")),
        ("It was\nred then", "\nred", " red then", None),
        ("It was red then", " red", "\nblue then", None),
        ("It was red [[1]] then", " red", " blue [[1]] then", ("red", "blue")),
        ("It was [red] then", " [", " (red) then", None),
        ('It was "red" then', ' "', " blue then", None),
        ("It was red then", " red", " " + "a" * 70 + " then", None),
        ("It was 1,000 then", " 1", " 1000 then", None),
        ("It is Well-known now", " Well", " well known now", None),
    ],
)  # fmt: skip
def test_what_stands_there_until_both_go_on_alike_is_replaced(
    response: str, old: str, expected: str, replaced: tuple[str, str] | None
) -> None:
    made = correction(response, response.index(old), expected)
    assert (made and (made.old, made.new)) == replaced
    if made is not None:
        assert response[made.start : made.end] == made.old


@pytest.mark.parametrize(
    ("expected", "is_alike"),
    [(" no one", False), (" no one noticed", False), (" no one noticed it", False),
     (" no one noticed it.", True), (" everyone there sa", False), (" everyone there saw i", True)],
)  # fmt: skip
def test_short_words_do_not_tell_that_both_go_on_alike(expected: str, *, is_alike: bool) -> None:
    assert goes_on_alike("Almost everybody saw it.", 6, expected) == is_alike


@given(TEXTS, st.integers(0, 30), TEXTS)
def test_a_correction_changes_what_stands_there(response: str, place: int, expected: str) -> None:
    made = correction(response, min(place, len(response)), expected)
    if made is None:
        return
    assert response[made.start : made.end] == made.old != made.new
    assert not set('"[]\n`') & set(made.old + made.new)
    after = made.made_in(response)
    assert after.startswith(response[: made.start] + made.new)
    assert after.endswith(response[made.end :].lstrip(" "))


def test_what_is_too_much_is_left_out_with_one_space() -> None:
    made = correction("It was never so good", 6, " so good")
    assert made is not None
    assert made.made_in("It was never so good") == "It was so good"


@given(TEXTS, st.integers(0, 30))
def test_what_is_said_quotes_words_that_stand_there_and_no_marks(response: str, at: int) -> None:
    old = WORD.search(response, at)
    if old is None:
        return
    made = Correction(start=old.start(), old=old[0], new="46")
    said = said_of(made, response)
    passage = said.split('"')[1]
    assert old[0] in passage
    assert passage in response
    assert said.count('"') == 6
    assert not set("[]\n`") & set(said)


@pytest.mark.parametrize(
    "response", ["x=" * 2_500 + "64" + "&y" * 3_000, "=" * 40_000 + " a b c d 64 x", "64 " * 9_000]
)
def test_the_passage_is_short_and_found_quickly(response: str) -> None:
    made = Correction(start=response.index("64"), old="64", new="46")
    started = time.monotonic()
    assert len(said_of(made, response)) < 300
    assert time.monotonic() - started < 1


def test_what_is_said_claims_an_error() -> None:
    response = "The desks rose to 64 [[10]] in June."
    for new in ("46", ""):
        said = said_of(Correction(start=18, old="64", new=new), response)
        (sentence,) = read_sentences(said)
        assert sentence.claims_error
        assert not sentence.praises
    assert said == '"desks rose to 64" seems wrong: it should not say "64".'
