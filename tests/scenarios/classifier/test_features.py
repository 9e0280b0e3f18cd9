from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoj.scenarios.classifier.characters import read_characters
from autoj.scenarios.classifier.features import BLOCKS, HashedFeatures, structure_grams
from autoj.scenarios.classifier.ngrams import Grams, character_grams, read_tokens, word_grams

QUERIES = [
    "Translate to French: I don't know!!",
    "",
    "translate   to\nfrench",
    "```python\ndef f(x):\n    return x\n```\nExplain this code.",
    "写一首关于春天的歌词",
    "😀😀 \ud800",
    "a " * 3000,
    "Which is right?\nA) 12\nB) 345",
]


def features(queries: list[str] = QUERIES) -> HashedFeatures:
    return HashedFeatures.fitted(dict.fromkeys(BLOCKS, 1.0), 16, queries)


def of_query(grams: Grams, query: int) -> list[int]:
    return sorted(grams.hashes[grams.owners == query].tolist())


def n_different(grams: Grams, query: int) -> list[int]:
    """How often each different n-gram of a query stands there."""
    return sorted(Counter(of_query(grams, query)).values())


def test_a_query_has_the_same_features_alone_as_in_a_batch() -> None:
    reader = features()
    together = reader.rows(QUERIES).toarray()
    for index, query in enumerate(QUERIES):
        np.testing.assert_allclose(reader.rows([query]).toarray()[0], together[index], rtol=1e-6)


def test_a_block_has_the_length_of_its_weight() -> None:
    reader = HashedFeatures.fitted({"words-1": 4.0}, 16, QUERIES)
    lengths = np.sqrt(reader.rows(QUERIES).power(2).sum(axis=1)).A1
    assert lengths[0] == pytest.approx(2.0)
    assert lengths[1] == 0  # nothing stands there


def test_words_are_those_that_a_regular_expression_finds() -> None:
    tokens = read_tokens(read_characters(QUERIES))
    for index, query in enumerate(QUERIES[:5]):
        found = re.findall(r"[一-鿿]|[^\W_一-鿿]+|([^\w\s])\1*", query)
        assert (tokens.owners == index).sum() == len(found)
        words = [
            m.group().casefold() for m in re.finditer(r"[一-鿿]|[^\W_一-鿿]+|([^\w\s])\1*", query)
        ]
        same = Counter(re.sub(r"\d", "0", word) for word in words)
        assert n_different(word_grams(tokens, 1), index) == sorted(same.values())


def test_characters_inside_words_are_those_of_the_words_between_edges() -> None:
    characters = read_characters(QUERIES)
    for n in (3, 4, 5):
        grams = character_grams(characters, n)
        for index, query in enumerate(QUERIES[:4]):
            words = [f" {word} " for word in re.findall(r"[^\W_]+", query.casefold())]
            words = [re.sub(r"\d", "0", word) for word in words]
            expected = Counter(word[i : i + n] for word in words for i in range(len(word) - n + 1))
            assert n_different(grams, index) == sorted(expected.values())


def test_case_and_spaces_change_no_word() -> None:
    tokens = read_tokens(read_characters(["Translate  TO\nFrench", "translate to french"]))
    grams = word_grams(tokens, 2)
    assert of_query(grams, 0) == of_query(grams, 1)


def test_first_and_last_words_are_told_from_the_same_words_elsewhere() -> None:
    reader = HashedFeatures.fitted({"edges-1": 1.0}, 18, ["summarize " + "x " * 30])
    at_head, within = reader.rows(["summarize " + "x " * 30, "x " * 15 + "summarize" + " x" * 15])
    assert abs(at_head - within).max() > 0


def test_how_a_query_looks_is_seen() -> None:
    plain, question, code = (
        set(of_query(structure_grams(read_characters([query])), 0))
        for query in ("Tell me why.", "Tell me why?", "```\nTell me why.\n```")
    )
    assert plain != question
    assert len(code - plain) > len(question - plain)


def test_the_middle_of_a_long_query_is_not_read() -> None:
    reader = features()
    head, tail = "Fix this: ", " in one sentence?"
    first, second = reader.rows([head + middle * 2000 + tail for middle in ("word ", "word ")])
    assert abs(first - second).max() == 0
    long = head + "word " * 1000 + "SECRET" + " word" * 1000 + tail
    same_length = head + "word " * 1000 + "PUBLIC" + " word" * 1000 + tail
    assert abs(reader.rows([long]) - reader.rows([same_length])).max() == 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(), max_size=40), max_size=5))
def test_any_text_has_features(queries: list[str]) -> None:
    rows = features().rows(queries)
    assert rows.shape[0] == len(queries)
    assert np.isfinite(rows.data).all()
