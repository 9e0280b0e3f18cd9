"""The trie of tokenised choices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.backends._choices import build_trie

tokens = st.lists(st.integers(0, 3), min_size=1, max_size=5)


def test_uneven_choices_share_their_inner_nodes():
    prompt, response, space, tie = [5, 6], 1, 2, 3
    trie = build_trie(
        [[*prompt, response, space, 11], [*prompt, response, space, 12], [*prompt, tie]]
    )
    assert trie.root == (5, 6)
    assert trie.tokens == (response, space)
    assert trie.parents == (-1, 0)
    assert trie.steps == (
        ((-1, response), (0, space), (1, 11)),
        ((-1, response), (0, space), (1, 12)),
        ((-1, tie),),
    )


def test_a_choice_that_begins_another_is_told_apart_by_its_closing():
    one, two, zero, close = 1, 2, 0, 9
    trie = build_trie([[7, one, close], [7, one, zero, close], [7, two, close]])
    assert trie.steps == (
        ((-1, one), (0, close)),
        ((-1, one), (0, zero), (1, close)),
        ((-1, two), (2, close)),
    )
    assert trie.ancestors() == [[0], [0, 1], [2]]
    assert trie.depths() == [1, 2, 1]


def test_tokens_that_the_tokenizer_joins_to_the_prompt_belong_to_the_root():
    assert build_trie([[7, 8, 1], [7, 8, 2]]).root == (7, 8)


@pytest.mark.parametrize("sequences", [[[1, 2], [1, 2]], [[1, 2], [3, 4]]])
def test_choices_that_cannot_be_told_apart_or_share_nothing_are_refused(sequences):
    with pytest.raises(ValueError, match="choices"):
        build_trie(sequences)


@given(tails=st.lists(tokens, min_size=1, max_size=6, unique_by=tuple))
def test_every_choice_can_be_walked_again(tails):
    closed = [[9, *tail, 8] for tail in tails]
    trie = build_trie(closed)
    for sequence, steps in zip(closed, trie.steps, strict=True):
        assert [*trie.root, *(token for _, token in steps)] == sequence
        for node, token in steps[:-1]:
            child = steps[steps.index((node, token)) + 1][0]
            assert trie.tokens[child] == token
            assert trie.parents[child] == node
    assert len(trie.tokens) == len({(p, t) for p, t in zip(trie.parents, trie.tokens, strict=True)})


@given(st.lists(st.integers(0, 3), min_size=1), st.lists(st.integers(0, 3), min_size=1))
def test_beside_the_empty_text_all_of_another_is_scored(prompt, text):
    trie = build_trie([[*prompt, *text], prompt])
    assert trie.root == tuple(prompt)
    assert [token for _, token in trie.steps[0]] == text
    assert trie.steps[1] == ()
    assert trie.is_chain
