"""Reading answers: by patterns, JSON and choices, on ordinary and on hostile text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.prompts.answers import (
    LONGEST_READ,
    Choices,
    JsonField,
    Patterns,
    Rule,
    chosen,
    compile_pattern,
    look_up,
    statements,
)

LETTER = Patterns(rules=(Rule(pattern=r"\[\[([ABC])\]\]"),))
OUTPUT = Patterns(
    rules=(
        Rule(pattern=r"(?:^|\n) ?Output \(a\)", value="1"),
        Rule(pattern=r"(?:^|\n) ?Output \(b\)", value="2"),
    )
)
FIELD = JsonField(path=("verdict", "winner"))


def stated(answer: Patterns | JsonField, text: str) -> list[str]:
    return [each.stated for each in statements(answer, text)]


def test_matches_are_found_in_the_order_of_the_text() -> None:
    assert stated(LETTER, "[[A]] … [[B]]") == ["A", "B"]
    assert stated(OUTPUT, "Output (b)\n\nno Output (a)\n Output (a)") == ["2", "1"]
    assert stated(Patterns(rules=(Rule(pattern="x|y"),)), "yx") == ["y", "x"]
    assert stated(Patterns(rules=(Rule(pattern="a(b)?|(c)"),)), "a c ab") == ["a", "c", "b"]


def test_a_statement_knows_its_place() -> None:
    text = "é [[A]]" + "." * LONGEST_READ
    assert stated(LETTER, text) == []
    (found,) = statements(LETTER, "é " * LONGEST_READ + "[[C]]")
    assert ("é " * LONGEST_READ + "[[C]]")[found.start : found.end] == "[[C]]"


def test_of_rules_that_match_at_one_place_the_first_counts() -> None:
    both = Patterns(rules=(Rule(pattern="Tie", value="tie"), Rule(pattern="Ti", value="1")))
    assert stated(both, "Tie") == ["tie"]


JSON = [
    ('{"verdict": {"winner": "A"}}', ["A"]),
    ('Sure!\n```json\n{"verdict": {"winner": 2, "why": "}{"}}\n```', ["2"]),
    ('{"verdict": {"winner": "A"}} then {"verdict": {"winner": "B"}}', ["A", "B"]),
    ('{"verdict": {"winner": true}}', ["true"]),
    ('{"verdict": {"winner": 1.50}}', ["1.5"]),
    ('{"verdict": {"winner": null}}', []),
    ('{"verdict": {"winner": ["A"]}}', []),
    ('{"verdict": "A"}', []),
    ('{"verdict": {"winner": "A"', []),
    ('{"verdict": {"winner": ' + "9" * 50 + "}}", []),
    ("{" * 50_000, []),
    ('{"a":' * 20_000, []),
    ("no JSON", []),
]


@pytest.mark.parametrize(("text", "expected"), JSON, ids=[text[:40] for text, _ in JSON])
def test_a_field_is_read_from_whole_objects_alone(text: str, expected: list[str]) -> None:
    assert stated(FIELD, text) == expected


BAD_FOR_BACKTRACKING = [r"(a+)+$", r"(a|a)*b", r"(.*a){25}", r"^(\s*\S*)*x", r"(a?){40}a{40}"]


@pytest.mark.parametrize("pattern", BAD_FOR_BACKTRACKING)
def test_no_pattern_is_slow_on_any_text(pattern: str) -> None:
    # With a backtracking engine each of these runs longer than anyone waits.
    for text in ("a" * 5000 + "c", " " * 5000 + "c"):
        list(statements(Patterns(rules=(Rule(pattern=pattern),)), text))


def test_pythons_end_of_text_is_known() -> None:
    assert stated(Patterns(rules=(Rule(pattern=r"([12])\Z"),)), "1 or 2") == ["2"]
    assert compile_pattern(r"\\Z").search("\\Z")


LOOKED_UP = [
    ("A", {"A": "1"}, "1"),
    (" a ", {"A": "1"}, "1"),
    ("m", {"m": "1", "M": "2"}, "1"),
    ("M", {"m": "1", "M": "2"}, "2"),
    ("Tie", {}, "tie"),
    ("D", {"A": "1"}, None),
    ("aA", {"Aa": "1", "AA": "2"}, None),
]


@pytest.mark.parametrize(("words", "values", "expected"), LOOKED_UP)
def test_words_are_looked_up(words: str, values: dict[str, str], expected: str | None) -> None:
    assert look_up(words, values) == expected


CHOICES = Choices(choices=((" Response 1", "1"), (" Response 10", "2")), prefix="It is")
BEGUN = [
    ("Response 1.", "1"),
    ("It is Response 10, no", "2"),
    ("  Response 1", "1"),
    ("Response 12", None),
    ("I think Response 1", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "expected"), BEGUN)
def test_a_text_must_begin_with_a_choice(text: str, expected: str | None) -> None:
    assert chosen(CHOICES, text) == expected


@given(text=st.text() | st.text(alphabet='{}[]"AB:,winerdct '))
def test_reading_never_raises(text: str) -> None:
    for answer in (LETTER, OUTPUT, FIELD):
        for each in statements(answer, text):
            assert 0 <= each.start <= each.end <= len(text)
    chosen(CHOICES, text)


def test_half_of_a_character_is_read_around() -> None:
    assert stated(LETTER, "\ud800 [[B]] \udfff") == ["B"]
