"""Damaged copies differ from their original in the way that their name says."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.construct.damage import DAMAGES

TEXT = (
    "The bridge was finished in 1894. It is 244 metres long, and engineers such as Barry and "
    "Jones always said that steel is stronger than stone. It should be painted before winter."
)


@pytest.mark.parametrize("name", DAMAGES)
def test_each_damage_changes_an_ordinary_text_and_is_repeatable(name):
    damaged = DAMAGES[name](TEXT, Random(3))
    assert damaged is not None
    assert damaged != TEXT
    assert DAMAGES[name](TEXT, Random(3)) == damaged


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("changed_numbers", "No numbers here."),
        ("swapped_names", "Only Paris is named, in a sentence about Paris."),
        ("negated", "Go!"),
        ("cut_off", "Short."),
        ("repeated", "Yes."),
        ("shuffled_words", "Three words only."),
    ],
)
def test_a_text_without_anything_to_damage_gives_none(name, text):
    assert DAMAGES[name](text, Random(0)) is None


def test_numbers_change_and_words_stay():
    damaged = DAMAGES["changed_numbers"](TEXT, Random(0))
    assert damaged is not None
    before, after = TEXT.split(), damaged.split()
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert changed
    assert all(any(c.isdigit() for c in a + b) for a, b in changed)


def test_list_marks_are_not_numbers():
    text = "1. Take the bread.\n2. Spread the butter.\n3. Eat it."
    assert DAMAGES["changed_numbers"](text, Random(0)) is None


def test_names_are_exchanged_wherever_they_stand():
    damaged = DAMAGES["swapped_names"]("So Barry met with Jones, and Barry won.", Random(0))
    assert damaged == "So Jones met with Barry, and Jones won."


def test_a_text_that_is_cut_off_is_its_beginning_and_ends_inside_a_word():
    damaged = DAMAGES["cut_off"](TEXT, Random(1))
    assert damaged is not None
    assert TEXT.startswith(damaged)
    assert damaged[-1].isalpha()
    assert TEXT[len(damaged)].isalpha()


@given(st.text(max_size=400), st.integers(0, 99))
def test_any_text_is_damaged_or_refused(text, seed):
    for damage in DAMAGES.values():
        found = damage(text, Random(seed))
        assert found is None or isinstance(found, str)
