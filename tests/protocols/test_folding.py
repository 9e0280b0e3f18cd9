"""One spelling for what a judge wrote: what cannot be seen goes, what is wide becomes plain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.protocols._folding import clean, fold

any_text = st.text(st.sampled_from("ﬁ½㍿１Ａ：【】［「」\u200b\ufeff\u00ada1[") | st.characters())


@given(text=any_text)
def test_a_folded_text_has_each_character_at_its_place(text: str) -> None:
    assert len(fold(text)) == len(text)
    assert fold(text) == "".join(map(fold, text))
    assert fold(fold(text)) == fold(text)


@given(text=any_text)
def test_cleaning_takes_away_and_changes_nothing_that_stays(text: str) -> None:
    rest = iter(text)
    assert all(character in rest for character in clean(text))
    assert clean(clean(text)) == clean(text)


@given(text=st.text(st.characters(max_codepoint=127)))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert fold(clean(text)) == text


@pytest.mark.parametrize(
    ("text", "plain"),
    [("Ａ１：［５］", "A1:[5]"), ("【5】", "[5]"), ("「5」", "[5]"), ("\u3000", " "), ("ﬁ½", "ﬁ½")],
)
def test_wide_forms_become_plain_and_what_would_grow_stays(text: str, plain: str) -> None:
    assert fold(text) == plain


@pytest.mark.parametrize("invisible", ["\u200b", "\u200f", "\u2060", "\ufeff", "\u00ad", "\u202e"])
def test_what_cannot_be_seen_goes(invisible: str) -> None:
    assert clean(f"a{invisible}b") == "ab"
