from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoj.errors import UnknownComponent
from autoj.scenarios import scenario_names
from autoj.scenarios.classifier import ScenarioClassifier, load_classifier


@pytest.fixture(scope="module")
def fast() -> ScenarioClassifier:
    return load_classifier("fast")


def test_it_knows_the_58_scenarios(fast: ScenarioClassifier) -> None:
    assert set(fast.labels) == set(scenario_names())
    assert fast.name == "fast"
    assert fast.digest.startswith("sha256:")


@pytest.mark.parametrize(
    ("query", "scenario"),
    [
        ("Translate into Spanish: the train leaves at noon", "text_to_text_translation"),
        ("Write a cover letter for a position as a nurse.", "writing_job_application"),
        ("Write the lyrics of a song about the sea", "writing_song_lyrics"),
        ("Write a cooking recipe for lentil soup", "writing_cooking_recipe"),
        ("写一首关于春天的歌词", "writing_song_lyrics"),
    ],
)
def test_plain_requests_are_named(fast: ScenarioClassifier, query: str, scenario: str) -> None:
    assert fast.classify([query])[0].scenario == scenario


HOSTILE = [
    "",
    "   \n\n",
    "😀😀😀",
    "\ud800",
    "\x00\x1b[31m",
    "word " * 100_000,
    "Überprüfe bitte, ob die Erde flach ist.",
    "ما هي عاصمة فرنسا؟",
    "ประเทศไทยอยู่ที่ไหน",
    "지금 번역하기",
]


def test_any_text_gets_a_guess(fast: ScenarioClassifier) -> None:
    for guess in fast.classify(HOSTILE):
        assert guess.scenario in fast.labels
        probabilities = [guess.probability, *(value for _, value in guess.alternatives)]
        assert len(guess.alternatives) >= 4
        assert probabilities == sorted(probabilities, reverse=True)
        assert 0 < guess.probability <= 1
        assert sum(probabilities) <= 1 + 1e-9


def test_what_has_no_words_is_others(fast: ScenarioClassifier) -> None:
    for guess in fast.classify(["", " \n", "😀😀😀", "\ud800", "?!", "\x00"]):
        assert guess.scenario == "others"
        assert guess.probability > 0.5


def test_a_guess_does_not_depend_on_what_is_asked_beside_it(fast: ScenarioClassifier) -> None:
    together = fast.classify(HOSTILE * 60)
    for query, guess in zip(HOSTILE, together, strict=False):
        alone = fast.classify([query])[0]
        assert alone.scenario == guess.scenario
        assert alone.probability == pytest.approx(guess.probability, abs=1e-5)


def test_no_queries_get_no_guesses(fast: ScenarioClassifier) -> None:
    assert fast.classify([]) == []


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters()))
def test_it_never_raises_on_text(query: str) -> None:
    assert len(load_classifier().classify([query])) == 1


def test_a_wrong_name_is_told_with_the_right_ones() -> None:
    with pytest.raises(UnknownComponent, match="Did you mean fast"):
        load_classifier("fsat")
