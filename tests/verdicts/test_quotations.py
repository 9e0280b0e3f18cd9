"""Quotations of critiques: what counts as one, and where it stands."""

from __future__ import annotations

import pytest

from autoj.verdicts.quotations import invented_quotations, stands_in

RESPONSE = "**The lake** froze over in January, and the village was going skating for weeks."
INVENTED = (
    'Response 1 says "the harbour was empty".',
    "It uses the phrase “a silent harbour”.",
    "It begins with «an empty harbour».",
    "Its heading is bland; the sentence `harbour of silence` has no verb.",
    'The words "the lake froze … in the harbour" are vague.',
    'Response 1 is friendlier and states "we love our harbour".',
    '- Correctness: it says "the harbour was empty".',
    "回应1说「港口里没有一条船」。",
)
KEPT = (
    'It is "helpful" and "to the point".',
    'It uses the word "harbour".',
    'It says "The lake  froze over, in january."',
    'It says "the lake froze … going skating".',
    'It says "the lake [there] froze over".',
    'It says "the village would go skating for weeks".',
    'It says "the lake froze over in one January".',
    'It does not say "the harbour was empty".',
    '- Missing statement: "the harbour was empty".',
    '- Wording: it should say "the harbour was empty".',
    'It should have written "the harbour was empty".',
    'It would be better to use "the harbour was empty".',
    'A phrase like "the harbour was empty" would have helped.',
    'Response 1 has "no" verb and "one" noun of the harbour, and a "rest".',
    'A board of 5" by 7" has the size of a page, 3" more than asked.',
    "",
    '"' * 2000,
)


@pytest.mark.parametrize("critique", INVENTED)
def test_a_quotation_that_stands_nowhere_is_found(critique: str) -> None:
    assert len(invented_quotations(critique, ["Tell me of winter.", RESPONSE])) == 1


@pytest.mark.parametrize("critique", KEPT)
def test_what_stands_there_or_claims_nothing_is_kept(critique: str) -> None:
    assert invented_quotations(critique, ["Tell me of winter.", RESPONSE]) == []


def test_each_is_told_once_and_in_order() -> None:
    critique = 'It says "not at home" and "of no real use". It says "Not at home" again.'
    assert invented_quotations(critique, [RESPONSE]) == ["not at home", "of no real use"]


def test_a_piece_of_one_text_does_not_end_in_another() -> None:
    assert not stands_in("the lake froze over", ["The lake froze", "over"])


@pytest.mark.parametrize(
    ("critique", "n"),
    [
        ("回应1说“港口里没有一条船”。", 1),
        ('回应1说"港口里没有一条船"。', 1),
        ("回应1说“湖面在一月结了冰”。", 0),
        ("回应1没有说“港口里没有一条船”。", 0),
    ],
)
def test_chinese_marks_stand_behind_a_word(critique: str, n: int) -> None:
    assert len(invented_quotations(critique, ["湖面在一月结了冰。", RESPONSE])) == n


@pytest.mark.parametrize(
    ("quotation", "text", "stands"),
    [
        ("46 desks", "It has 46 desks.", True),
        ("46 desks", "It has 146 desks.", False),
        ("a desk", "It has a deskman.", False),
        ("there are 46 old desks in the room", "There are 64 old desks in the room.", False),
        ("there are desks in the old room", "There are 46 desks in the old room.", False),
        ("the lake did freeze over in winter", "The lake did not freeze over in winter.", False),
        ("the lake did freeze over in May", "The lake did not ever freeze over in May.", False),
        ("the lake did not freeze over there", "The lake did freeze over there.", False),
        ("the lake never froze over in spring", "The lake soon froze over in spring.", False),
        ("the lake doesn't freeze over", "The lake does not freeze over.", True),
        ("one cannot skate there", "One can’t skate there.", True),
        ("湖面没有在一月里结冰", "湖面在一月里结冰。", False),
        ("湖面在一月里结冰", "湖面没有在一月里结冰。", False),
        ("the lake very soon froze over there", "The lake soon froze over there.", True),
        ("one is noted", "One is not.", False),
        ("one is not", "One is noted, with notes.", False),
        ("assume no wind", "assuming no wind", True),
        ("[your name here]", "Dear sir", False),
        ("[your name here]", "Dear [Your Name here]", True),
        ("[…] the lake", "The lake froze.", True),
        ("?!", "Really?!", False),
    ],
)
def test_words_are_whole_and_numbers_and_negations_exact(
    quotation: str, text: str, stands: bool
) -> None:
    assert stands_in(quotation, [text]) is stands


def test_only_words_near_a_quotation_say_what_it_is() -> None:
    """A critique may be one sentence with thousands of quotations."""
    quoted = '"the harbour was empty"'
    assert len(invented_quotations(f"It says {'so ' * 60}{quoted}.", [RESPONSE])) == 1
    assert invented_quotations(f"It says {'so ' * 70}{quoted}.", [RESPONSE]) == []
    assert invented_quotations(f"It says {quoted}{' so' * 20} would help.", [RESPONSE]) == []
    assert len(invented_quotations(f"It says {quoted}{' so' * 40} would help.", [RESPONSE])) == 1
