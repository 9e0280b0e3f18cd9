"""Mistakes that counting and adding up show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.mistakes import beyond_mistake, mistake_by_rules
from autoj.verdicts.claims import read_sentences


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ("10 - 7 = 4, so four are left.", '"10 - 7 = 4" is wrong: it comes to 3.'),
        ("It is 12 × $7 = $94.", '"12 × $7 = $94" is wrong: it comes to 84.'),
        ("2 + 3 × 4 = 20", '"2 + 3 × 4 = 20" is wrong: it comes to 14.'),
        (r"so $$12 \times 3 = 37$$", r'"12 \times 3 = 37" is wrong: it comes to 36.'),
        ("1,200 + 34 = 1,324.", '"1,200 + 34 = 1,324" is wrong: it comes to 1,234.'),
        ("y = 9 - 2 = 6.", '"9 - 2 = 6" is wrong: it comes to 7.'),
        ("7.5 / 2 = 3.5", '"7.5 / 2 = 3.5" is wrong: it comes to 3.75.'),
        ("10 - 7 = 3, so three are left.", None),
        ("10 / 3 = 3.33 and 2 / 3 = 0.66 and 17 / 5 = 3", None),
        ("17 / 5 = 3 remainder 2, or 3 r 2: 17 / 5 = 3 r 2", None),
        ("5 × 2 = 10 + 4 = 14", None),
        ("2 × (3 + 4) = 14 and x² + 3 + 4 = 9", None),
        ("-3 + 5 = 2 and 10% of 50 + 5 = 10", None),
        ("3 + 4 = 7x and 3 + 4 = 2(5) and 25 / 100 = 25%", None),
        ("1/2 + 1/4 = 3/4 and 3 + 1/2 = 3 1/2", None),
        ("7 + 8 = 3 (mod 12) and, on a clock, 7 + 8 = 3", None),
        ("Saying that 2 + 2 = 5 is wrong.", None),
        ("It does not follow that 2 + 2 = 5.", None),
        ("In binary 1 + 1 = 10.", None),
        ("From May 5-7 = 3 days", None),
        ("if 3 + 4 == 8 and 2 - 0 / 0 = 4", None),
        ("5 km + 300 m = 5.3 km", None),
        ("version 1.2.3 + 4 = 9", None),
    ],
)
def test_a_sum_is_added_up(response: str, said: str | None) -> None:
    assert mistake_by_rules("What is it?", response) == said


def test_a_sum_of_the_query_is_not_the_responses_own() -> None:
    assert mistake_by_rules("Why is 2 + 2 = 5?", "2 + 2 = 5 holds for large values of 2.") is None
    # "3 1/2" is one number, and "3" before it a whole one: nothing is made of either.
    assert mistake_by_rules("What is it?", "It is 3 1/2 = 3.5.") is None


LIST = "- red\n- blue\n- green"


@pytest.mark.parametrize(
    ("query", "response", "said"),
    [
        ("Name the four seasons.", LIST, "only three points, which breaks the request for four"),
        ("Give me 5 tips for a cake", "1. Eggs\n2. Milk", "only two points, which breaks"),
        ("List the four seasons", "Here:\n\n- A\n  - a\n  - b\n- B", "only two points"),
        ("Name the three colours.", LIST, None),
        ("Name two colours.", LIST, None),
        ("Name four or five colours.", LIST, None),
        ("Name 4-6 colours.", LIST, None),
        ("List four colours and name five animals.", LIST, None),
        ("Give me four minutes of music", LIST, None),
        ("Name the four seasons.", "Red, blue and green.", None),
        ("Name the four seasons.", "1. Red\n2. Blue\n\nFor painters:\n\n1. Red", None),
        ("Name the four seasons.", "1. Red\n2. Blue\n\n- Green\n- White", None),
        ('Translate: "Name the four seasons."', LIST, None),
    ],
)
def test_a_list_is_counted(query: str, response: str, said: str | None) -> None:
    found = mistake_by_rules(query, response)
    assert (found is None) if said is None else (found is not None and said in found)


TWO = "It rains e.g. in St. Ives. It costs 3.50 there."


@pytest.mark.parametrize(
    ("query", "response", "said"),
    [
        ("Explain rain in one sentence.", TWO, "two sentences, which breaks the request for one"),
        ("Explain rain in exactly 3 sentences.", TWO, "two sentences, which breaks the request"),
        ("Explain rain in at most one sentence", TWO, "two sentences, which breaks the limit of"),
        ("Explain rain in less than two sentences", TWO, "two sentences, which breaks the limit"),
        ("Explain rain in two sentences.", TWO, None),
        ("Explain rain in two short sentences.", TWO.rstrip("."), None),
        ("Explain rain in no more than three sentences.", TWO, None),
        ("Explain rain in one or two sentences.", TWO, None),
        ("Explain rain in one sentence, then snow in two.", TWO, None),
        ("Explain rain in one sentence and add a title.", TWO, None),
        ("Explain rain in one sentence.", f"Sure! {TWO}", None),
        ("Explain rain in one sentence.", f"Rain: {TWO}", None),
        ("Explain rain in one sentence.", f"{TWO}\n{TWO}", None),
        ('Translate "Explain rain in one sentence."', TWO, None),
        ("Explain rain in exactly 4 words.", TWO, "ten words, which breaks the request for four"),
        ("Explain rain in 4 words or less.", TWO, "ten words, which breaks the limit of four"),
        ("Explain rain within 4 words.", TWO, "ten words, which breaks the limit of four"),
        (
            "Explain rain using fewer than 10 words.",
            TWO,
            "ten words, which breaks the limit of ten",
        ),
        ("Explain rain in at most 10 words.", TWO, None),
        # A word with a hyphen is one or two, as one likes.
        ("Explain rain in exactly 3 words.", "Well-known wet weather", None),
        ("Explain rain in exactly 4 words.", "Well-known wet weather", None),
        ("Explain rain in about 4 words.", TWO, None),
    ],
)
def test_sentences_and_words_of_prose_are_counted(
    query: str, response: str, said: str | None
) -> None:
    found = mistake_by_rules(query, response)
    if said is None:
        assert found is None
    else:
        assert found is not None
        assert said in found


@pytest.mark.parametrize(
    ("response", "is_found"),
    [("The Leaves fall.", True), ("The leaf falls.", False), ('No "leaves" here.', False)],
)
def test_a_word_that_is_forbidden_is_found(response: str, is_found: bool) -> None:
    query = 'Write about autumn without using the word "leaves".'
    found = mistake_by_rules(query, response)
    assert (found is not None) == is_found
    if found is not None:
        assert found == 'The response has the forbidden word "Leaves".'


def test_each_sentence_claims_an_error_and_is_told_from_the_rest() -> None:
    found = [
        mistake_by_rules("What is left?", "10 - 7 = 4"),
        mistake_by_rules("Name the four seasons.", LIST),
        mistake_by_rules("Explain rain in one sentence.", TWO),
        mistake_by_rules("Explain rain in exactly 1,000 words.", TWO),
        mistake_by_rules("Explain rain in at most 3 words.", TWO),
        mistake_by_rules('Never use the word "rain".', "It may rain."),
    ]
    for said in filter(None, found):
        (sentence,) = read_sentences(said)
        assert sentence.claims_error
        assert not sentence.praises
        assert beyond_mistake(f"{said} Clear.") == " Clear."
        assert beyond_mistake(f"Clear. {said}") == f"Clear. {said}"
    assert sum(said is not None for said in found) == 5


def test_nothing_is_said_of_long_or_empty_texts() -> None:
    assert mistake_by_rules("Explain rain in one sentence.", " ") is None
    assert mistake_by_rules("What is left?", "10 - 7 = 4 " + "a" * 20_000) is None
    assert mistake_by_rules("Name the four seasons. " + "a" * 2_000, LIST) is None


HOSTILE = st.text(st.sampled_from("12 +-×/=().,[]\"\n“'a-•*\\timeswordsentences"), max_size=80)


@given(HOSTILE, HOSTILE)
def test_any_text_is_read_and_no_mark_of_it_comes_into_the_critique(one: str, other: str) -> None:
    for query in (one, f'Never use the word "{one}". In one sentence, list four {other}'):
        said = mistake_by_rules(query, other) or ""
        assert not set("[]\n`") & set(said)


@pytest.mark.parametrize(
    "text",
    ["1 + " * 5_000, "1" * 20_000, " " * 20_000, "- a\n" * 5_000, '"' * 20_000, "a. " * 6_000],
)
def test_hostile_texts_end(text: str) -> None:
    query = "Explain rain in one sentence. List four."
    assert len(mistake_by_rules(query, text[:20_000]) or "") < 200
    assert len(mistake_by_rules(text[:2_000], text[:20_000]) or "") < 200
