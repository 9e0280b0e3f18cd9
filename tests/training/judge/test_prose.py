"""Prose to factors: what tells two responses apart stays, the rest goes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj import critiques
from autoj.training.judge.prose import (
    closing_number,
    pair_factors,
    render_factors,
    single_critique,
)

REVIEW = """Both Assistant 1 and Assistant 2 gave polite answers to the question.

Assistant 1's answer lists six sources with details. However, it has an error in the second date. \
It is easy to follow thanks to its sections.

Assistant 2 gives fewer examples, but every fact is correct.

Assistant 1:
- Accuracy: 3/5

In conclusion, Assistant 2 is better. I would choose Assistant 2's answer.

2"""


def test_a_review_becomes_named_factors_of_single_responses() -> None:
    found = {factor.name: factor.explanation for factor in pair_factors(REVIEW)}
    assert found["detail"].startswith("Response 1's answer lists six sources with details.")
    assert "Response 2 gives fewer examples" in found["detail"]
    # "It" goes on about the response named before.
    assert found["accuracy"] == "Response 1 has an error in the second date."
    assert found["structure"] == "Response 1 is easy to follow thanks to its sections."
    text = render_factors(pair_factors(REVIEW))
    for left_out in ("Assistant", "Both", "conclusion", "3/5", "would choose", "polite"):
        assert left_out not in text


def test_letters_are_names_too() -> None:
    (factor,) = pair_factors("Assistant A gives a detailed answer. Assistant B wins.")
    assert factor.explanation == "Response 1 gives a detailed answer."


def test_the_layout_of_table_18_keeps_its_own_factors() -> None:
    factors = (critiques.Factor(name="tone", explanation="Response 2 is colder."),)
    text = critiques.render(critiques.PairCritique(factors=factors, decision="1"))
    assert pair_factors(text) == factors


@pytest.mark.parametrize(
    "text", ["", "1", "Both are fine.\n\n3", "Response 1 wins.", "I choose 1."]
)
def test_a_bare_decision_names_no_factor(text: str) -> None:
    assert pair_factors(text) == ()


def test_whose_answer_is_meant_must_be_sure() -> None:
    # "The answer" after a sentence about both could be either one's.
    text = "Both are good in their detail. The answer covers more details than the other one does."
    assert pair_factors(text) == ()


def test_the_list_reads_back() -> None:
    factors = pair_factors(REVIEW)
    assert critiques.parse_factors(render_factors(factors)) == factors


SINGLE = """The assistant's answer is correct, but brief. Compared to the reference answer, it \
lacks a date. The AI assistant stays polite.

It names its source. Therefore, I would rate it as follows: [[7]].

Corrected answer:

Paris has been the capital since 987.

Rating: [[7]]"""


def test_a_critique_of_one_response_keeps_what_the_judge_can_see() -> None:
    assert single_critique(SINGLE) == (
        "The response is correct, but brief. The response stays polite.\n\nIt names its source."
    )


@pytest.mark.parametrize("text", ["Rating: [[3]]", "```python\nprint()\n```", "", "Correction:"])
def test_a_bare_rating_or_an_answer_alone_is_no_critique(text: str) -> None:
    assert single_critique(text) == ""


def test_a_sentence_about_whom_is_not_said_is_left_out() -> None:
    text = (
        "Assistant 1 gives a detailed answer. However, their response was less detailed than "
        "Assistant 2's response. It also has an accurate list of all the sources."
    )
    (factor,) = pair_factors(text)
    assert factor.explanation == "Response 1 gives a detailed answer."


def test_a_review_ends_with_its_decision() -> None:
    assert [closing_number(f"Fine.\n\n{n}") for n in "123"] == ["1", "2", "tie"]
    assert closing_number("Assistant 1 is fine.\n\n4") is None


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for factor in pair_factors("Assistant 1 has an accurate " + text):
        assert factor.explanation
