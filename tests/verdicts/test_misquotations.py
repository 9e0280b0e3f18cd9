"""Quotations that a critique gives to the wrong response, and what is no such thing."""

from __future__ import annotations

import pytest

from autoj.records import Case, Message, Response, Verdict
from autoj.verdicts import misquotations as misquotations_module
from autoj.verdicts.critique_faults import marked_critiques, shown_critiques
from autoj.verdicts.misquotations import misquotations

QUERY = "Write a short email to my landlord: the heating has been broken since Monday."
FIRST = "Dear Ms Ortiz, the heating in flat 4B has not worked since Monday. Please send someone."
SECOND = "Hello! The neighbourhood is lovely, and we follow this loose pattern every morning."
PAIR = Case(
    id="1", query=QUERY, cluster="x", responses=(Response(text=FIRST), Response(text=SECOND))
)
ALONE = Case(id="1", query=QUERY, cluster="x", responses=(Response(text=FIRST),))


def said(critique: str, case: Case = PAIR, rated: int | None = None) -> list[str]:
    return [str(each) for each in misquotations(critique, case, rated)]


@pytest.mark.parametrize(
    ("critique", "found"),
    [
        (
            'Response 1 says "The neighbourhood is lovely", which is off the point.',
            '"The neighbourhood is lovely" stands in Response 2, not in Response 1',
        ),
        (
            '- content: Response 1 asks for a "short email"; Response 2 has nothing to say.',
            '"short email" stands in the query, not in Response 1',
        ),
        (  # The name of a point is neither said nor denied: it is no word about the quotation.
            '- correctness: Response 1 says "The neighbourhood is lovely", as it is.',
            '"The neighbourhood is lovely" stands in Response 2, not in Response 1',
        ),
        (
            'Response 1 is polite; Response 2 says "the boiler exploded twice".',
            '"the boiler exploded twice" does not stand in Response 2',
        ),
        (
            'Response 1 is polite, but Response 2 says "please SEND someone", too.',
            '"please SEND someone" stands in Response 1, not in Response 2',
        ),
        (
            f'Response 2 says "the boiler {"exploded " * 30}".',
            f'"the boiler {"exploded " * 5}expl…" does not stand in Response 2',
        ),
    ],
)
def test_a_quotation_given_to_the_wrong_response_is_named_with_its_place(critique, found):
    assert said(critique) == [found]


@pytest.mark.parametrize(
    "critique",
    [
        'Response 1 says "has not worked since Monday", which is right.',
        'Response 2 has "a loose pattern", and names it.',  # it has "this loose pattern"
        'Response 1 lacks "the neighbourhood is lovely".',
        '- words: Response 1 greets as warmly as "the neighbourhood is lovely".',
        'Response 1 should say "please send a plumber".',
        'Response 1 is better than both, which say "the boiler exploded twice".',
        'Response 1 ignores that the user says "since Monday evening".',
        'Response 1 answers the request "write a short email".',
        'Response 1 addresses what stands there, and it says "short email".',
        'Response 1 has alternatives for the phrase "short email".',
        'It says "the boiler exploded twice".',  # which of the two?
        'Response 1 says "lovely".',  # one word is in any text
        'Response 1 says "the boiler exploded twice',  # never closed
        "",
    ],
)
def test_what_is_right_or_given_to_nobody_is_passed_over(critique):
    assert said(critique) == []


def test_a_response_that_is_judged_alone_is_it_or_the_response():
    found = ['"short email" stands in the query, not in the response']
    assert said('The response has a "short email" in it.', ALONE, 0) == found
    assert said('It is fine. It mentions a "short email".', ALONE, 0) == found
    assert said('The user wants a "short email", and says "be brief".', ALONE, 0) == []
    assert said('The response says "has not worked since Monday".', ALONE, 0) == []
    assert said('The response says "Please send someone".', PAIR, 1) == [
        '"Please send someone" does not stand in the response'
    ]


def test_an_earlier_turn_and_a_reference_are_places_too():
    case = Case(
        id="1", query="And now?", cluster="x", responses=(Response(text="No."),),
        history=(Message(role="user", content="Tell me of the sunken city."),),
        reference="It rose in the year of the comet.",
    )  # fmt: skip
    assert said('It says "the sunken city".', case, 0) == [
        '"the sunken city" stands in an earlier turn, not in the response'
    ]
    assert said('It says "the year of the comet".', case, 0) == [
        '"the year of the comet" stands in the reference, not in the response'
    ]


def test_each_is_named_once_and_critiques_of_more_responses_never():
    twice = 'Response 1 says "short email". Response 1 says "short email".'
    assert len(said(twice)) == 1
    three = Case(id="1", query="?", cluster="x", responses=(*PAIR.responses, Response(text="c")))
    assert said(twice, three) == []


def test_one_who_reads_a_critique_sees_it_and_figures_over_all_do_not_look():
    critique = 'Response 1 asks for a "short email".'
    verdict = Verdict(case_id="1", judge="j", winner="a", winners=("a",), critiques=(critique,))
    (plain,), (marked,) = shown_critiques(PAIR, verdict), marked_critiques(PAIR, verdict)
    assert plain is not None
    assert marked is not None
    assert (plain.mark, plain.text) == (None, critique)
    assert (marked.faults, marked.text) == ((), critique)
    assert marked.mark == '"short email" stands in the query, not in Response 1'


def test_a_critique_that_is_cut_is_looked_at_as_it_is_shown():
    loop = 'It asks for a "short email". ' + "It is not helpful at all. " * 9
    verdict = Verdict(case_id="1", judge="j", ratings=(3.0,), critiques=(loop,))
    (marked,) = marked_critiques(ALONE, verdict)
    assert marked is not None
    assert marked.mark == (
        'cut: it repeats itself; "short email" stands in the query, not in the response'
    )


def test_a_mark_names_five_and_counts_the_rest():
    many = "".join(f'Response 1 says "short email {number}". ' for number in range(9))
    verdict = Verdict(case_id="1", judge="j", winner="a", winners=("a",), critiques=(many,))
    (marked,) = marked_critiques(PAIR, verdict)
    assert marked is not None
    assert marked.mark is not None
    assert marked.mark.count("does not stand in Response 1") == 5
    assert marked.mark.endswith("; and 4 more")


def test_each_text_is_read_once_for_a_critique_of_many_quotations(monkeypatch):
    read: list[tuple[str, ...]] = []

    class Counted(misquotations_module.Quotable):
        def __init__(self, texts):
            read.append(tuple(texts))
            super().__init__(texts)

    monkeypatch.setattr(misquotations_module, "Quotable", Counted)
    many = "".join(f'Response 1 says "short email {number}", ' for number in range(500))
    assert len(said(many)) == 500
    assert sorted(read) == sorted([(FIRST,), (SECOND,), (QUERY,), (), ()])
    read.clear()
    assert said('Response 1 says "has not worked since Monday", ' * 500) == []
    assert read == [(FIRST,)], "what is right needs no other text"
