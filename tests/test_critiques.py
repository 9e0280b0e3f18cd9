"""Critiques in parts: parse and render are inverse, swapping twice changes nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj import critiques
from autoj.critiques import Factor, Language, PairCritique
from autoj.records import SHOWN, Shown

LANGUAGES: tuple[Language, ...] = ("en", "zh")
LONG = 100_000

# Prose as it may stand in a critique: one line, with decisions and names of responses in it.
PIECES = [
    "tone", "Response 1", "Responses 1 and 2", "回应1", "回应2更好",
    "So, the final decision is Tie.", "The final decision: So, the final decision is Response 1.",
    "最终决定：所以，最终决定是平局。", "*bold*", "- dash", "1.",
    "2. The final decision", "(a)", "[[5]]", ";", "，", "。", "!", "🙂",
]  # fmt: skip
word = st.one_of(st.sampled_from(PIECES), st.from_regex(r"[A-Za-z0-9一-鿿]{1,8}", fullmatch=True))
line = st.lists(word, min_size=1, max_size=6).map(" ".join)
name = line.filter(lambda text: not any(colon in text for colon in ":：") and text[0] not in "-*•")
factors = st.builds(Factor, name=name, explanation=line)
pair_critiques = st.builds(
    PairCritique,
    factors=st.lists(factors, max_size=4).map(tuple),
    decision=st.sampled_from(SHOWN),
    remark=st.one_of(st.just(""), line),
    language=st.sampled_from(LANGUAGES),
)


@given(critique=pair_critiques)
def test_parsing_what_was_rendered_gives_the_critique_back(critique: PairCritique) -> None:
    assert critiques.parse(critiques.render(critique)) == critique


@given(critique=pair_critiques)
def test_a_rendered_critique_is_swapped_as_its_parts_are(critique: PairCritique) -> None:
    swapped = critiques.parse(critiques.swap_responses(critiques.render(critique)))
    assert swapped is not None
    assert swapped.decision == {"1": "2", "2": "1", "tie": "tie"}[critique.decision]
    assert [factor.explanation for factor in swapped.factors] == [
        critiques.swap_responses(factor.explanation) for factor in critique.factors
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("decision", SHOWN)
def test_each_decision_sentence_is_its_opening_and_its_name(
    language: Language, decision: Shown
) -> None:
    sentence = critiques.decision_sentence(decision, language)
    opening = critiques.DECISION_OPENING[language] + critiques.decision_names(language)[decision]
    assert sentence.startswith(opening)
    assert len(sentence) == len(opening) + 1


def test_a_factor_of_several_paragraphs_stays_one_factor() -> None:
    text = critiques.render(PairCritique(factors=(), decision="1")).replace(
        "\n\n2.", "\n\n- tone: Colder.\n\nMuch colder.\n- length: Longer.\n\n2."
    )
    parsed = critiques.parse(text)
    assert parsed is not None
    assert parsed.factors == (
        Factor(name="tone", explanation="Colder.\n\nMuch colder."),
        Factor(name="length", explanation="Longer."),
    )


def test_a_factor_without_a_colon_has_no_name() -> None:
    assert critiques.parse_factors("* Response 2 is longer.") == (
        Factor(name="", explanation="Response 2 is longer."),
    )
    nameless = PairCritique(factors=critiques.parse_factors("- It is longer."), decision="2")
    assert critiques.parse(critiques.render(nameless)) == nameless


@pytest.mark.parametrize("text", ["", " \n", "-", "- ", "•  \n- "])
def test_an_empty_list_has_no_factors_or_only_its_dash(text: str) -> None:
    assert [factor.explanation for factor in critiques.parse_factors(text)] in ([], ["-"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Response 1 is better.",
        "So, the final decision is Response 1.",
        "1. The key factors to distinguish these two responses:\n\n- tone: Colder.",
        "1. The key factors to distinguish these two responses:\n\n2. The final decision:\n\n"
        "So, the final decision is Response 3.",
        "1. The key factors to distinguish these two responses:\n\n2. The final decision:\n\n"
        "So, the final decision is Response 12.",
        "1. 区分两个回应的关键因素：\n\n2. 最终决定：\n\n所以，最终决定是回应3。",
    ],
)
def test_a_text_that_is_not_in_the_layout_is_no_critique(text: str) -> None:
    assert critiques.parse(text) is None


def test_the_layout_is_read_without_its_numbers_too() -> None:
    text = (
        "The key factors to distinguish these two responses:\n- tone: Colder.\n"
        "The final decision:\nSo, the final decision is Tie."
    )
    assert critiques.parse(text) == PairCritique(
        factors=(Factor(name="tone", explanation="Colder."),), decision="tie"
    )


@pytest.mark.parametrize(
    "run",
    ["\n", " ", "\n \n", "- ", "\nThe final decision: ", "2. ", "the first ", "both responses "],
)
def test_long_hostile_texts_are_parsed_to_their_end(run: str) -> None:
    body = run * (LONG // len(run))
    assert critiques.parse(critiques.FACTORS_HEADING["en"] + body + "x") is None
    assert critiques.parse(critiques.FACTORS_HEADING["zh"] + body + "x") is None
    swapped = critiques.swap_responses("Response 1 " + body + "and 2")
    assert swapped.startswith("Response 2")


SWAPS = [
    ("Response 1 beats Response 2.", "Response 2 beats Response 1."),
    ("**Response 1**'s tone", "**Response 2**'s tone"),
    ("RESPONSE 1, response 2, Response #1", "RESPONSE 2, response 1, Response #2"),
    ("Response\u00a01", "Response\u00a02"),
    ("Responses 1 and 2 are polite", "Responses 2 and 1 are polite"),
    ("Response 1 or 2", "Response 2 or 1"),
    ("Response 1/2", "Response 2/1"),
    ("Response 1 & 2", "Response 2 & 1"),
    ("Response 1, 2 of whose facts are wrong", "Response 2, 2 of whose facts are wrong"),
    ("Response 1 and 20 others", "Response 2 and 20 others"),
    ("Response 1 and 2.5 times", "Response 2 and 2.5 times"),
    ("Response 1 and 2nd", "Response 2 and 2nd"),
    ("回应1和回应2", "回应2和回应1"),
    ("回应1和2都很礼貌", "回应2和1都很礼貌"),
    ("回应 2更好，回复1较差，回答 2", "回应 1更好，回复2较差，回答 1"),
    ("response 12", "response 12"),
    ("Response 1.5", "Response 1.5"),
    ("Response 21 and 2", "Response 21 and 2"),
    ("correspondence 1", "correspondence 1"),
    ("Respond to 1", "Respond to 1"),
    ("In 1 response, 2 facts", "In 1 response, 2 facts"),
    ("a Tie", "a Tie"),
    ("Response 1's tone", "Response 2's tone"),
    ("The first response is warm.", "The second response is warm."),
    ("FIRST RESPONSE: the 2nd reply", "SECOND RESPONSE: the 1st reply"),
    ("the first and the second response", "the second and the first response"),
    ("the first or second responses", "the second or first responses"),
    ("The first response beats the second.", "The second response beats the first."),
    ("the second lacks the first response's wit", "the first lacks the second response's wit"),
    ("第一个回应比第二个更好", "第二个回应比第一个更好"),
    ("第1条回复", "第2条回复"),
    # The exchanged names have changed what these stand for.
    ("Response 1 beats Response 2: the former is", "Response 2 beats Response 1: the former is"),
    ("回应1比回应2好，前者更短。", "回应2比回应1好，前者更短。"),
    ("Both responses rhyme; the former is apt.", "Both responses rhyme; the latter is apt."),
    ("Both responses rhyme. The latter's tone", "Both responses rhyme. The former's tone"),
    ("两个回应都押韵，但后者更短。", "两个回应都押韵，但前者更短。"),
    # These are no names of responses.
    ("Both responses are kind.", "Both responses are kind."),
    ("Both responses name the former king.", "Both responses name the former king."),
    ("The first responders came", "The first responders came"),
    ("First, the second law of motion", "First, the second law of motion"),
    ("The first response quotes the second law.", "The second response quotes the second law."),
    ("The first one. The second response.", "The first one. The first response."),
    ("Response 1st", "Response 1st"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "swapped"), SWAPS)
def test_swapping_exchanges_the_names_and_nothing_else(text: str, swapped: str) -> None:
    assert critiques.swap_responses(text) == swapped
    assert critiques.swap_responses(swapped) == text


FRAGMENTS = [
    *(text for row in SWAPS for text in row),
    "Response", "response ", "responses", "回应", "回复", "1", "2", "12", ".", ".5", " and ",
    " or ", "和", "与", "/", "&", "、", "#", " ", "\t", "\u00a0", "\n", "s", "1st", "2nd", "st",
    "the ", "The ", "first", "Second", "FIRST", " response", " replies", " is ", "former", "latter",
    "both responses", "两个回应", "前者", "后者", "第一个", "第2个", "更", ", ", "'s", "。",
]  # fmt: skip
tricky_text = st.lists(st.sampled_from(FRAGMENTS), max_size=10).map("".join)


@given(text=st.one_of(st.text(), tricky_text))
def test_swapping_twice_gives_the_text_back(text: str) -> None:
    assert critiques.swap_responses(critiques.swap_responses(text)) == text


NAMES = re.compile("first|second|1st|2nd|former|latter|前者|后者|[12一二]", re.IGNORECASE)


@given(text=tricky_text)
def test_swapping_changes_only_names(text: str) -> None:
    swapped = critiques.swap_responses(text)
    assert NAMES.sub("", swapped) == NAMES.sub("", text)
    assert len(NAMES.findall(swapped)) == len(NAMES.findall(text))


def test_swapping_a_whole_critique_exchanges_its_decision_too() -> None:
    critique = PairCritique(
        factors=(Factor(name="tone", explanation="Response 2 is colder than Response 1."),),
        decision="1",
        remark="Responses 1 and 2 are close.",
    )
    swapped = critiques.parse(critiques.swap_responses(critiques.render(critique)))
    assert swapped == PairCritique(
        factors=(Factor(name="tone", explanation="Response 1 is colder than Response 2."),),
        decision="2",
        remark="Responses 2 and 1 are close.",
    )


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("Too short.\n\nRating: [[3]]", "Too short."),
        ("Too short.\n\nRating: [[3]] \n", "Too short."),
        ("Too short. **Rating:** **[[3.5]]**", "Too short."),
        ("Too short. Overall rating: [[3]].", "Too short."),
        ("Too short.\n[[3]]", "Too short."),
        ("太短。\n\n评分: [[3]]", "太短。"),
        ("太短。\n\n评分：【【3】】。", "太短。"),
        ("Rating: [[3]]", ""),
        ("Too short.\n\nRating: 7", "Too short."),
        ("Too short.\n**Overall rating: 6.5/10**", "Too short."),
        ("Rating: 7", ""),
        ("Its rating: 7", "Its rating: 7"),
        ("Too short.", "Too short."),
        ("It cites [1].", "It cites [1]."),
        ("Rating: [[3]]\n\nIt is too short.", "Rating: [[3]]\n\nIt is too short."),
        ("", ""),
    ],
)
def test_only_a_rating_that_closes_a_critique_is_stripped(text: str, stripped: str) -> None:
    assert critiques.strip_rating(text) == stripped


@given(text=st.one_of(st.text(), tricky_text), rating=st.integers(1, 10))
def test_stripping_takes_away_from_the_end_alone(text: str, rating: int) -> None:
    stripped = critiques.strip_rating(f"{text}\n\nRating: [[{rating}]]")
    assert text.startswith(stripped)
    assert not stripped.endswith(f"[[{rating}]]") or text.rstrip().endswith(f"[[{rating}]]")
