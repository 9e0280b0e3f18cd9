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


ALL = "The sea is endless, blue, deep and always restless."
TWO = "It rains e.g. in St. Ives. It costs 3.50 there."


@pytest.mark.parametrize(
    ("query", "response", "said"),
    [
        ("Explain rain in one sentence.", TWO, "two sentences, which breaks the request for one"),
        ("Explain rain in one sentence of at most 35 words.", TWO, "two sentences, which breaks"),
        ("Explain rain in exactly 5 sentences.", TWO, "two sentences, which breaks the request"),
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
        (
            "Explain rain using fewer than 10 words.",
            TWO,
            "ten words, which breaks the limit of ten",
        ),
        ("Explain rain in at most 10 words.", TWO, None),
        # Without "and", which may be left out, there are eight. The usual count is told.
        ("Describe it in exactly 5 words.", ALL, "nine words, which breaks the request for five"),
        ("Describe it in at most 7 words.", ALL, "nine words, which breaks the limit of seven"),
        ("Describe it in at most 8 words.", ALL, None),
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


FALSE_ALARMS = [
    # What a second reader tried against an earlier version of the rules.
    ("x", "3 × 1,000,000 = 3 million and 3/4 = 75 percent and 30 × 2 = 1 hour"),
    ("x", "Pages 10 – 20 = 11, and 1939 - 1945 = 6"),
    ("x", "11:00 + 2 = 13:00. Then 1:30 + 45 = 2:15."),
    ("x", "log 100 + 3 = 5. sin 30 + 1 = 1.5."),
    ("x", "1 + 2 + ... 9 + 10 = 55. … 9 + 10 = 55."),
    ("x", "80 + 90 + 100 / 3 = 90."),
    ("x", "1.000 + 500 = 1.500."),
    ("x", "3.14 × 5 × 5 = 78.54. 1500 × 3.28 = 4,921."),
    ("x", "3 × 33 = 100, nearly."),
    ("x", "Modulo 7 we have 5 + 4 = 2."),
    ("x", "In base 2:\n10 + 10 = 100."),
    ("x", "A wrong way:\n2 + 3 × 4 = 20."),
    ("If 5 + 3 = 28, 7 + 3 = ?", "7 + 3 = 410."),
    ("x", "٣ + ٣ = ٧ and ١2 + 3 = 9"),
    ("in ſix sentences", "One. Two. Three."),
    ("Give me ſeven tips", "- a\n- b"),
    ("How do I list 10 files in bash?", "- ls\n- head"),
    ("Why do doctors recommend eight glasses?", "- thirst\n- health"),
    ("Translate 'List five animals'", "- a\n- b"),
    ("List 2024 Olympic events", "- a\n- b"),
    ("Suggest four player board games", "- a\n- b"),
    ("List five tips or fewer", "- a\n- b"),
    ("List five tips if you can", "- a\n- b"),
    ("List 3 pros and 3 cons", "- a\n- b"),
    ("Give me three hundred eggs", "- a\n- b"),
    ("Name five fruits.", "- Citrus: orange, lemon\n- Berries: straw and blue"),
    ("Name the three laws.", "Inertia, F=ma, action.\n\nNotes:\n- a\n- b"),
    ("Name the three laws.", "**One**\n- a\n- b\n**Two**\n- x"),
    ("Name the three laws.", "- a\n- b\n+ c"),
    ("Name the three laws.", "1. a\n2. b\n**3.** c"),
    ("Answer in 2 to 3 sentences.", "It rains."),
    ("Answer in 3 sentences maximum.", "It rains."),
    ("How many commas can be in one sentence?", "Many. It depends."),
    ("I wrote my essay in one sentence. Is that bad?", "Yes. It is."),
    ("Explain it in one sentence.", "He was born c. 1900, e.g. in Mt. Ida, says Gen. Lee."),
    ("Explain it in one sentence.", "Why me? he asked... and Yahoo! was gone (Panic!)."),
    ("Explain it in two sentences.", "It rains in the U.S. It is wet."),
    ("Explain it in two sentences.", "Eat vitamin C. It is good"),
    ("Is alot just one word?", "No it is two"),
    ("She said only two words. What were they?", "They were good and bye"),
    ("Tell me exactly two words that start with x.", "xylophone and xenon"),
    ("Answer in just three words.", "Calm, warm and wide"),
    ("Answer in exactly three words.", "I cannot help with that request."),
    ('Why should I avoid the word "very"?', "It is very weak."),
    ('I don\'t use the term "AI".', "AI is new."),
    ('Do not use the word "cat" more than twice.', "The cat sat."),
    ("Do not use the word 'can't'.", "I can do it."),
    ("Do not use the word 'leaf'.", "It is leaf-like."),
    ('Do not use the word "delve".', "I left out the word delve."),
]


@pytest.mark.parametrize(("query", "response"), FALSE_ALARMS)
def test_what_may_be_right_is_let_pass(query: str, response: str) -> None:
    assert mistake_by_rules(query, response) is None


def test_large_results_are_exact() -> None:
    assert mistake_by_rules("x", "999999 × 999999 = 3.") == (
        '"999999 × 999999 = 3" is wrong: it comes to 999,998,000,001.'
    )
    assert mistake_by_rules("x", "12,345,678,901,234 + 1 = 3.") is None
    assert mistake_by_rules("x", "1 ÷ 999999999999 = 5.") is None


def test_what_is_quoted_is_short_and_on_one_line() -> None:
    assert mistake_by_rules("x", "1 +" + " " * 15_000 + "1 = 3.") is None
    for mark in "\r\x0b\x0c\x1c\x85\u2028\u2029\xa0\u3000":
        assert mistake_by_rules("x", f"1 +{mark}1 = 3.") is None


HOSTILE = st.text(st.sampled_from("12 +-×/=().,[]\"\n“'a-•*\\timeswordsentences"), max_size=80)


@given(HOSTILE, HOSTILE)
def test_any_text_is_read_and_no_mark_of_it_comes_into_the_critique(one: str, other: str) -> None:
    for query in (one, f'Never use the word "{one}". In one sentence, list four {other}'):
        said = mistake_by_rules(query, other) or ""
        assert not set("[]\n`") & set(said)


@pytest.mark.parametrize(
    "text",
    [
        "1 + 1 = 3, " * 1_800 + " not",
        "1 + 1 = 2, " * 1_800,
        "1 + " * 5_000,
        "1" * 20_000,
        " " * 20_000,
        "- a\n" * 5_000,
        '"' * 20_000,
        "a. " * 6_000,
    ],
)
def test_hostile_texts_end(text: str) -> None:
    query = "Explain rain in one sentence. List four."
    assert len(mistake_by_rules(query, text[:20_000]) or "") < 200
    assert len(mistake_by_rules(text[:2_000], text[:20_000]) or "") < 200
