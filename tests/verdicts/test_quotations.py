"""Quotations of critiques: what counts as one, and where it stands."""

from __future__ import annotations

import pytest

from autoj.verdicts.quotations import invented_quotations, said_quotations, stands_in

RESPONSE = "**The lake** froze over in January, and the village was going skating for weeks."
INVENTED = (
    'Response 1 says "the harbour was empty".',
    "It uses the phrase “a silent harbour”.",
    "It begins with «an empty harbour».",
    "Its heading is bland; the sentence `harbour of silence` has no verb.",
    'The words "the lake froze … in the harbour" are vague.',
    'Response 1 is friendlier and states "we love our harbour".',
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


def test_short_quotations_count_where_all_are_asked_for() -> None:
    assert said_quotations('It says "46 desks" and "no".') == ["46 desks"]
