"""Languages of many texts at once are those that py3langid finds text by text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoj.construct import languages
from autoj.construct.languages import identify, known_languages, load_identifier

pytest.importorskip("py3langid")

TEXTS = [
    "Please explain why the sky is blue, and give me an example of it.",
    "Wie spät ist es jetzt in der Schweiz?",
    "请解释一下为什么天空是蓝色的。",
    "¿Por qué canta el gallo?",
    "WHY IS THE SKY BLUE?",
    "Почему небо голубое? " * 200,
    "7",
    "",
    "def f(x):\n    return x + 1",
]
_SAME = {"wuu": "zh", "yue": "zh"}


def _one_by_one(texts: list[str]) -> list[tuple[str, float]]:
    found = [languages._model().classify(text) for text in texts]
    return [(_SAME.get(language, language), probability) for language, probability in found]


def _agrees(texts: list[str]) -> None:
    for (language, probability), expected in zip(identify(texts), _one_by_one(texts), strict=True):
        assert language == expected[0]
        assert probability == pytest.approx(expected[1], abs=2e-3)


def test_each_text_gets_its_own_language_in_the_order_of_the_texts() -> None:
    _agrees(TEXTS)
    assert [found.language for found in identify(TEXTS)][:6] == ["en", "de", "zh", "es", "en", "ru"]


def test_more_texts_than_are_walked_at_once_stay_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_TEXTS_AT_ONCE", 4)
    _agrees(TEXTS * 3)
    assert identify([]) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60) | st.sampled_from(TEXTS), max_size=8))
def test_any_texts_agree(texts: list[str]) -> None:
    _agrees(texts)


def test_one_text_alone_is_identified_likewise() -> None:
    assert load_identifier()(TEXTS[1]) == identify(TEXTS[1:2])[0]


def test_varieties_of_chinese_are_no_languages_of_their_own() -> None:
    assert {"en", "zh", "de"} <= known_languages()
    assert known_languages().isdisjoint(_SAME)
