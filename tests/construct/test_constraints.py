"""Constraints of queries: found by rules, and broken in a copy that the same rule notices."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.construct.constraints import break_constraint, constraints_of

ITEMS = "Here they are:\n\n1. Aare\n2. Inn\n3. Po\n4. Rhine\n5. Rhone\n\nAll rise in the Alps."
SHORT = "Rivers carry water to the sea. They are fed by rain."
TABLE = "| river | km |\n|---|---|\n| Aare | 288 |\n| Inn | 517 |"

# The query, the constraint's name, and a response that keeps it.
CONSTRAINTS = [
    ("Name five rivers of Europe.", "5 items", ITEMS),
    ("Give me a list of the top 5 longest rivers", "5 items", ITEMS.replace("1.", "-")),
    ("What are rivers? Answer in at most 20 words.", "at most 20 words", SHORT),
    ("Explain rivers in under twenty words", "at most 20 words", SHORT),
    ("Explain rivers in two sentences.", "at most 2 sentences", SHORT),
    ("Explain a river in one sentence", "at most 1 sentence", "It is water that runs downhill."),
    ("Write one paragraph, no more than 1 paragraph.", "at most 1 paragraph", SHORT),
    ("Describe it in no more than 80 characters", "at most 80 characters", SHORT),
    ("Write an essay of at least eleven words on rivers", "at least 11 words", SHORT),
    ("Write a minimum of two sentences", "at least 2 sentences", SHORT),
    ("Return the lengths as JSON", "JSON", '{"Aare": 288, "Inn": {"km": 517}}'),
    ("Output valid JSON only", "JSON", '```json\n[{"name": "Aare"}, {"name": "Inn"}]\n```'),
    ("Show them in a table", "a table", TABLE),
    ("Use bullet points", "a list", "- Aare\n- Inn"),
    ("Only answer with the name.", "the answer alone", "Aare"),
    ("Which one? No explanation.", "the answer alone", "Aare"),
    ("Answer in all caps", "capitals", "THE AARE. THEN THE INN."),
    ("Write it in lowercase", "small letters", "the aare. then the inn."),
    ('Begin your answer with "Dear river"', "begins with 'Dear river'", "Dear river, flow on."),
    ('End the poem with "the sea."', "ends with 'the sea.'", "All of them go to the sea."),
    ('Include the word "delta" twice', "has 'delta'", "It has a delta. Fish live there."),
    ('Do not use the word "water"', "never 'water'", "It runs downhill."),
    ("Please answer in German: what is a river?", "in German", "Ein Fluss fließt ins Meer."),
    ("Translate 'the river' into Japanese", "in Japanese", "川は海に流れる。"),
]


@pytest.mark.parametrize(("query", "name", "text"), CONSTRAINTS)
def test_a_constraint_is_found_and_broken(query: str, name: str, text: str) -> None:
    found = {one.name: one for one in constraints_of(query)}
    assert name in found
    assert found[name].holds(text)
    copies = {break_constraint(query, text, Random(seed)) for seed in range(5)}
    assert None not in copies
    for broken in copies:
        assert broken is not None
        copy, said = broken
        assert copy != text
        assert not found[said].holds(copy)


@pytest.mark.parametrize(
    "query",
    [
        "What is a river?",
        "Name one river.",
        "It is 10 days' walk in two directions.",
        "List 500 rivers",
        "I read this in one book.",
        "We set the table.",
        "I only answer to the king.",
        "Who is JSON Bourne?",
        "Talk like a German.",
    ],
)
def test_an_ordinary_query_has_none(query: str) -> None:
    assert constraints_of(query) == []


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Name five rivers.", "Aare, Inn, Po, Rhine, Rhone."),
        ("Answer in at most 5 words.", SHORT),
        ("Return JSON", "Here: {"),
        ("Answer in French", SHORT + " The sea is the end of it, and that is that."),
    ],
)
def test_a_response_that_breaks_it_already_makes_no_pair(query: str, text: str) -> None:
    assert break_constraint(query, text, Random(0)) is None


def test_left_out_items_are_numbered_anew_and_the_rest_stays() -> None:
    broken = break_constraint("Name five rivers.", ITEMS, Random(3))
    assert broken is not None
    lines = [line for line in broken[0].splitlines() if line[:1].isdigit()]
    assert 2 < len(lines) < 5
    assert [line.partition(".")[0] for line in lines] == [str(n + 1) for n in range(len(lines))]
    assert broken[0].startswith("Here they are:")
    assert broken[0].endswith("All rise in the Alps.")


def test_of_a_long_query_the_middle_is_quoted_text() -> None:
    quoted = "x" * 800 + " Answer in one sentence. " + "x" * 800
    assert constraints_of(quoted) == []
    assert constraints_of(quoted + " Use bullet points.") != []


@given(st.text(max_size=300), st.sampled_from(CONSTRAINTS), st.integers(0, 9))
def test_what_is_broken_does_not_hold(text: str, row: tuple[str, str, str], seed: int) -> None:
    broken = break_constraint(row[0], text, Random(seed))
    if broken is not None:
        holds = {one.name: one.holds for one in constraints_of(row[0])}[broken[1]]
        assert holds(text)
        assert not holds(broken[0])
        assert break_constraint(row[0], text, Random(seed)) == broken
