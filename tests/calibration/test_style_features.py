from __future__ import annotations

import math

import pytest

from autoj.calibration import STYLE_FEATURES, style_features, style_lead
from autoj.records import Case, Response

TEXT = """# Plan
- **First**, buy 12 eggs!
- Then boil them. Is it done?

```
boil(eggs)
```
I cannot say more."""


def seen(text: str, query: str = "Boil eggs?") -> dict[str, float]:
    return dict(zip(STYLE_FEATURES, style_features(query, text), strict=True))


def test_each_feature_counts_what_the_table_says() -> None:
    found = seen(f"  {TEXT}\n")
    n_letters = sum(map(str.isalnum, TEXT))
    assert found == {
        "characters": math.log1p(len(TEXT)),
        "sentences": math.log1p(4),
        "lines": math.log1p(7),
        "word_length": pytest.approx(math.log(n_letters / 17)),
        "not_ascii": 0.0,
        "list_items": math.log1p(2),
        "headings_and_bold": math.log1p(2),
        "code_blocks": math.log1p(1),
        "digits": math.log1p(2),
        "question_marks": math.log1p(1),
        "exclamation_marks": math.log1p(1),
        "refusal": 1.0,
        "overlap": 1.0,
        "repetition": 0.0,
        "whole_ending": 1.0,
    }
    assert len(STYLE_FEATURES) == 15


@pytest.mark.parametrize(
    ("feature", "text", "expected"),
    [
        ("not_ascii", "ab你好", 0.5),
        ("sentences", "你好。再见！", math.log1p(2)),
        ("sentences", "Version 2.5 is out.", math.log1p(1)),
        ("question_marks", "真的？", math.log1p(1)),
        ("list_items", "1. one\n2) two\n3.5 is none", math.log1p(2)),
        ("code_blocks", "```\nnever closed", 0.0),
        ("refusal", "As an AI language model, I have no body.", 1.0),
        ("refusal", "I’m sorry for that.", 1.0),
        ("refusal", "I can and I will.", 0.0),
        ("overlap", "You boil water.", 0.5),
        ("repetition", "a b c d a b c d", 0.2),
        ("word_length", "你好吗", 0.0),
        ("word_length", "?!", 0.0),
        ("word_length", "w" * 5000, math.log(5000)),
        ("repetition", "你好你好你好", 1 / 3),
        ("whole_ending", "It stops in the mid", 0.0),
        ("whole_ending", "x = [1]", 1.0),
    ],
)
def test_a_feature_of_a_text(feature: str, text: str, expected: float) -> None:
    assert seen(text)[feature] == pytest.approx(expected)


@pytest.mark.parametrize("text", ["", " \n", "🙂", "\x1b[31m", "```"])
@pytest.mark.parametrize("query", ["Boil eggs?", "?"])
def test_texts_without_words_have_features_too(text: str, query: str) -> None:
    assert all(map(math.isfinite, style_features(query, text)))


def test_runs_of_marks_end_one_sentence() -> None:
    assert seen("Wait... what?!")["sentences"] == math.log1p(2)
    assert seen("." * 5000 + "x")["sentences"] == 0.0


def pair(first: str, second: str) -> Case:
    responses = (Response(text=first), Response(text=second))
    return Case(id="1", query="Boil eggs?", responses=responses, cluster="1")


def test_a_lead_is_the_weighted_difference() -> None:
    weights = {"lines": 2.0, "refusal": -1.5}
    lead = style_lead(pair(TEXT, "One line."), weights)
    assert lead == pytest.approx(2 * (math.log1p(7) - math.log1p(1)) - 1.5)
    assert style_lead(pair(TEXT, "One line."), {}) == 0.0


def test_exchanging_the_responses_changes_the_sign_and_nothing_else() -> None:
    weights = {name: 0.1 * (place + 1) for place, name in enumerate(STYLE_FEATURES)}
    texts = TEXT, "No? Yes! 真的？ It is 3.5 of 7."
    assert style_lead(pair(*texts), weights) == -style_lead(pair(*texts[::-1]), weights) != 0
