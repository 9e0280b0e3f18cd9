"""Probabilities of choices, read from the likeliest tokens of a short answer."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("aiohttp", reason="the extra `openai` is not installed")

from autoj.backends.openai.scoring import Menu, Position, short_names
from autoj.protocols import load_protocol
from autoj.protocols.pairwise import choice_probabilities
from autoj.records import Case, Completion, Decision, Failure, Rating, Response, Unreadable

from .openai_server import Answer, completion, error, scored, serving
from .test_openai import answer, ask

PAIR = (" Response 1", " Response 2", " Tie")
OPENING = "So, the final decision is"
RATINGS = tuple(f"{rating}]]" for rating in range(1, 11))


def place(written: str, **shares: float) -> Position:
    """One place, by probabilities; `_` stands for a space, and the written token comes first."""
    named = {token.replace("_", " "): math.log(share) for token, share in shares.items()}
    return Position(
        token=written.encode(),
        ranked=tuple((token.encode(), logprob) for token, logprob in named.items()),
    )


def read(menu: Menu, *places: Position) -> list[float]:
    logprobs = menu.read(places).logprobs()
    assert logprobs is not None
    return [round(math.exp(logprob), 6) for logprob in logprobs]


def asked(choices: tuple[str, ...] = PAIR, prefix: str = OPENING) -> Menu:
    return Menu(choices, prefix, forced=False)


def forced(choices: tuple[str, ...] = PAIR, prefix: str = OPENING) -> Menu:
    return Menu(choices, prefix, forced=True)


# One place decides.


def test_short_names_are_numbers_where_choices_have_them() -> None:
    assert short_names(PAIR) == ("1", "2", "Tie")
    assert short_names(("回应1", "回应2", "平局")) == ("1", "2", "平局")
    assert short_names(RATINGS) == tuple(str(rating) for rating in range(1, 11))


def test_each_spelling_of_a_choice_counts_for_it() -> None:
    given = place("1", **{"1": 0.5, "_1": 0.1, "2": 0.2, "Tie": 0.1, "_tie": 0.05, "The": 0.05})
    assert read(asked(), given) == [0.6, 0.2, 0.15]


def test_case_counts_where_it_alone_tells_two_choices_apart() -> None:
    menu = Menu(("m", "M"), None, forced=False)
    assert (menu.fits("m"), menu.fits("M")) == (frozenset({0}), frozenset({1}))
    other = Menu(("A", "B"), None, forced=False)
    assert other.fits("a") == frozenset({0})


@pytest.mark.parametrize("wrapped", ["**1", '"1', "(1", "[[1"])
def test_marks_before_a_choice_do_not_hide_it(wrapped: str) -> None:
    assert read(asked(), place(wrapped, **{wrapped: 0.7, "2": 0.2, "T": 0.1})) == [0.7, 0.2, 0.1]


def test_a_choice_that_is_not_listed_gets_the_bound_that_the_listed_ones_leave() -> None:
    # 0.06 is left for all that is not listed, and each of it is below 0.04.
    given = place("1", **{"1": 0.7, "2": 0.2, "The": 0.04})
    assert read(asked(), given) == [0.7, 0.2, 0.04]
    assert read(asked(), place("1", **{"1": 0.99, "2": 0.005})) == [0.99, 0.005, 0.005]
    # Two that are not listed share what is left.
    assert read(asked(), place("1", **{"1": 0.9})) == [0.9, 0.05, 0.05]


def test_a_bound_is_above_nothing_even_where_the_listed_ones_sum_to_one() -> None:
    given = place("1", **{"1": 0.75, "2": 0.25})
    assert read(asked(), given)[2] == pytest.approx(1e-6)


def test_a_choice_that_nothing_was_seen_of_is_no_verdict() -> None:
    assert asked().read([place("Based", Based=0.9, I=0.05)]).logprobs() is None
    assert asked().read([]).logprobs() is None
    # White space alone decides nothing, however long it goes on.
    assert asked().read([place(" ", _=1.0)] * 3).logprobs() is None


# Several places decide.


def test_a_shared_beginning_that_was_written_is_followed() -> None:
    places = (
        place(" Response", _Response=0.9, _Tie=0.1),
        place(" ", _=1.0),
        place("2", **{"2": 0.75, "1": 0.25}),
    )
    assert read(forced(), *places) == [0.225, 0.675, 0.1]


def test_a_shared_beginning_that_was_not_written_is_shared_equally() -> None:
    scores = forced().read([place(" Tie", _Tie=0.6, _Response=0.4)])
    (shared,) = scores.shared
    assert (shared.text, shared.choices) == (" Response", {0, 1})
    assert read(forced(), place(" Tie", _Tie=0.6, _Response=0.4)) == [0.2, 0.2, 0.6]


def test_a_shared_beginning_that_is_asked_about_is_known() -> None:
    menu = forced()
    scores = menu.read([place(" Tie", _Tie=0.6, _Response=0.4)])
    (begun,) = scores.shared
    scores.shared.clear()
    known = menu.read([place(" 2", _2=0.9, _1=0.1)], begun, scores).logprobs()
    assert known is not None
    assert [round(math.exp(logprob), 6) for logprob in known] == [0.04, 0.36, 0.6]


def test_one_is_not_ten_where_ten_is_a_token() -> None:
    menu = asked(RATINGS, "Rating: [[")
    given = place("8", **{"8": 0.5, "1": 0.3, "10": 0.2})
    probabilities = read(menu, given)
    assert (probabilities[0], probabilities[7], probabilities[9]) == (0.3, 0.5, 0.2)


def test_one_may_be_ten_where_digits_are_apart() -> None:
    menu = asked(RATINGS, "Rating: [[")
    not_followed = read(menu, place("8", **{"8": 0.6, "1": 0.3}))
    assert (not_followed[0], not_followed[9]) == (0.15, 0.15)
    ten = read(menu, place("1", **{"1": 0.8, "8": 0.2}), place("0", **{"0": 0.9, "]]": 0.1}))
    assert (ten[0], ten[9]) == (0.08, 0.72)
    # The end of a text is no token: what was written whole is what is meant.
    one = read(menu, place("1", **{"1": 0.8, "8": 0.2}))
    assert one[0] == 0.8
    assert one[9] < 1e-5


def test_a_forced_rating_ends_with_its_brackets() -> None:
    menu = forced(RATINGS, "Rating: [[")
    places = (place("1", **{"1": 0.8, "9": 0.2}), place("]]", **{"]]": 0.75, "0": 0.25}))
    probabilities = read(menu, *places)
    assert (probabilities[0], probabilities[8], probabilities[9]) == (0.6, 0.2, 0.2)


def test_a_judge_that_repeats_the_line_is_read_all_the_same() -> None:
    words = ["So", ",", " the", " final", " decision", " is", " Response"]
    places = [place(word, **{word.replace(" ", "_"): 0.999}) for word in words]
    probabilities = read(asked(), *places, place(" 2", _2=0.8, _1=0.2))
    assert probabilities[1] == pytest.approx(0.8, abs=0.01)
    assert probabilities[0] == pytest.approx(0.2, abs=0.01)


def test_characters_may_be_several_tokens() -> None:
    whole, half = "平局".encode(), "平局".encode()[:2]
    other = "回应1".encode()
    menu = forced(("回应1", "回应2", "平局"), "所以，最终决定是")
    first = Position(token=half, ranked=((half, math.log(0.7)), (other, math.log(0.3))))
    # Half a character says nothing yet, and all choices stay in play.
    second = Position(token=whole[2:], ranked=((whole[2:], math.log(0.9)),))
    assert read(menu, first, second)[2] == 0.63


# Through a server.


def probabilities(got: Completion | Failure) -> tuple[float, ...]:
    assert isinstance(got, Completion)
    assert got.choice_logprobs is not None
    known = choice_probabilities(got.choice_logprobs)
    assert known is not None
    return known


def logs(**shares: float) -> dict[str, float]:
    return {token.replace("_", " "): math.log(share) for token, share in shares.items()}


def test_a_judge_is_asked_in_words_and_its_first_tokens_are_read() -> None:
    first = logs(**{"2": 0.6, "1": 0.3, "Tie": 0.1})
    with serving(lambda body, n: scored([first])) as server:
        got = answer(server, ask(prefix=OPENING, choices=PAIR), scoring="logprobs")
    assert probabilities(got) == pytest.approx((0.3, 0.6, 0.1))
    assert isinstance(got, Completion)
    assert got.text == " Response 2"
    (body,) = server.bodies
    assert (body["logprobs"], body["top_logprobs"], body["temperature"]) == (True, 20, 0.0)
    assert body["messages"][-1]["role"] == "user"
    assert body["messages"][-1]["content"].endswith(
        "Write no critique now. State your verdict alone, as the end of this line:\n"
        "So, the final decision is…\n"
        'It can end in "Response 1", "Response 2" or "Tie". '
        "Write 1, 2 or Tie for these, one of them and nothing else."
    )


def test_a_forced_opening_is_followed_into_what_was_not_written() -> None:
    def decide(body: dict[str, Any], n: int) -> Answer:
        opening = body["messages"][-1]["content"]
        if "prompt_logprobs" in body:
            return error(400, "Unrecognized request argument supplied: prompt_logprobs")
        if opening == OPENING:
            return scored([logs(_Tie=0.5, _Response=0.5)], prompt_tokens=10, completion_tokens=1)
        assert opening == f"{OPENING} Response"
        return scored([logs(_1=0.9, _2=0.1)], prompt_tokens=11, completion_tokens=1)

    with serving(decide) as server:
        got = answer(server, ask(prefix=OPENING, choices=PAIR), scoring="prefill")
    assert probabilities(got) == pytest.approx((0.45, 0.05, 0.5))
    assert isinstance(got, Completion)
    assert (got.prompt_tokens, got.completion_tokens) == (21, 2)
    # One of them asked for the log-probabilities of the prompt, which this server refuses.
    assert len(server.bodies) == 3


def test_the_protocols_read_what_comes_back() -> None:
    case = Case(
        id="1",
        query="2+2?",
        responses=(Response(text="4"), Response(text="5")),
        cluster="2+2",
    )
    verdict, rating = load_protocol("pairwise-verdict"), load_protocol("single-verdict")
    with serving(lambda body, n: scored([logs(**{"1": 0.8, "2": 0.1, "Tie": 0.1})])) as server:
        body = verdict.build(case, (0, 1))
        request = ask(messages=body.messages, prefix=body.prefix, choices=body.choices)
        got = answer(server, request, scoring="logprobs")
    assert isinstance(got, Completion)
    read_back = verdict.read(got)
    assert isinstance(read_back, Decision)
    assert read_back.shown == "1"
    with serving(lambda body, n: scored([logs(**{"9": 0.5, "10": 0.5})])) as server:
        body = rating.build(case, (0,))
        request = ask(messages=body.messages, prefix=body.prefix, choices=body.choices)
        got = answer(server, request, scoring="logprobs")
    assert isinstance(got, Completion)
    rated = rating.read(got)
    assert isinstance(rated, Rating)
    assert rated.value == pytest.approx(9.5, abs=0.001)


def test_an_answer_off_the_menu_is_read_as_text_and_is_unreadable() -> None:
    words = [logs(I=0.9, As=0.1), logs(_cannot=0.99), logs(_say=0.99)]
    with serving(lambda body, n: scored(words)) as server:
        got = answer(server, ask(prefix=OPENING, choices=PAIR), scoring="logprobs")
    assert isinstance(got, Completion)
    assert got.choice_logprobs is None
    assert got.text == "I cannot say"
    assert isinstance(load_protocol("pairwise-verdict").read(got), Unreadable)


def test_probabilities_that_were_promised_and_are_not_there_are_a_failure() -> None:
    with serving(lambda body, n: completion("1")) as server:
        got = answer(server, ask(prefix=OPENING, choices=PAIR), scoring="logprobs")
    assert isinstance(got, Failure)
    assert (got.error, got.retryable) == ("NoLogprobs", False)
    assert "options.scoring" in got.message


@pytest.mark.parametrize(
    "logprobs",
    [
        {"content": [{"token": "1"}]},
        {"content": [{"token": "1", "logprob": "high", "top_logprobs": []}]},
        {"content": [{"token": "1", "bytes": [400], "logprob": -1.0}]},
        {"content": 7},
        {"content": [None]},
        {"content": ["1"]},
        {"content": [{"token": "1", "logprob": -1.0, "top_logprobs": [-1]}]},
        {"content": [{"token": "1", "logprob": 5000.0, "top_logprobs": []}]},
        {"content": [{"token": "1", "logprob": "nan", "top_logprobs": []}]},
        {"content": [{"token": "1" * 1001, "logprob": -1.0, "top_logprobs": []}]},
    ],
)
def test_probabilities_that_cannot_be_read_are_a_failure(logprobs: object) -> None:
    with serving(lambda body, n: completion("1", logprobs=logprobs)) as server:
        request = ask(prefix=OPENING, choices=PAIR)
        got = answer(server, request, scoring="logprobs", attempts=2)
    assert isinstance(got, Failure)
    assert (got.error, got.attempts) == ("Malformed", 2)


def test_how_the_provider_writes_nothing_is_not_taken_for_a_probability() -> None:
    first = {"1": math.log(0.9), "2": -9999.0, "Tie": math.log(0.1)}
    with serving(lambda body, n: scored([first])) as server:
        got = answer(server, ask(prefix=OPENING, choices=PAIR), scoring="logprobs")
    one, two, tie = probabilities(got)
    assert one == pytest.approx(0.9, abs=1e-5)
    assert tie == pytest.approx(0.1, abs=1e-5)
    assert 0 < two < 1e-5
