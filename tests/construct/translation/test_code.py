"""Code is taken out of a text before it is translated, and is the same afterwards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.construct.translation.code import fenced_code, put_back, set_aside

PIECES = ["```", "~~~", "```python\n", "\n", "print('⟦')", "⟦1⟧", "⟦", "⟧", "words ", "  ```", "1"]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12).map("".join)


@given(text=texts)
def test_code_is_put_back_where_it_was(text: str) -> None:
    aside = set_aside(text)
    assert put_back(aside.text, aside) == text
    assert len(aside.pieces) in (0, len(fenced_code(text)))


def test_nothing_of_the_code_is_sent() -> None:
    text = (
        "First:\n```python\nx = 1\n```\nThen:\n~~~\nls\n~~~\nAnd a fence that is open:\n```\nrm -r"
    )
    aside = set_aside(text)
    assert aside.text == "First:\n⟦1⟧\nThen:\n⟦2⟧\nAnd a fence that is open:\n⟦3⟧"
    assert put_back("先：\n⟦1⟧\n再：\n⟦ 2 ⟧\n最后：⟦3⟧", aside) == (
        "先：\n```python\nx = 1\n```\n再：\n~~~\nls\n~~~\n最后：```\nrm -r"
    )


@pytest.mark.parametrize("translation", ["先：", "⟦1⟧⟦1⟧", "⟦2⟧⟦1⟧", "⟦1⟧", "⟦1⟧⟦2⟧⟦3⟧"])
def test_signs_that_are_lost_or_doubled_are_noticed(translation: str) -> None:
    assert put_back(translation, set_aside("```\na\n```\n```\nb\n```")) is None


def test_a_text_with_signs_of_its_own_stays_whole() -> None:
    text = "What is ⟦1⟧?\n```\nx\n```"
    assert set_aside(text).pieces == ()
    assert put_back("什么是⟦1⟧？", set_aside(text)) == "什么是⟦1⟧？"


@pytest.mark.parametrize("run", ["```\n", "``` \n", "~~~x\n", "\n", "⟦"])
def test_long_hostile_texts_are_read_to_their_end(run: str) -> None:
    text = run * (50_000 // len(run))
    aside = set_aside(text)
    assert put_back(aside.text, aside) == text
