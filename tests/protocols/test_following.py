"""The critique that is asked for once the verdict is known."""

from __future__ import annotations

from typing import Literal

import pytest

from autoj import critiques
from autoj.protocols import load_protocol, protocol_names
from autoj.records import (
    Case,
    Completion,
    Critique,
    Decision,
    Rating,
    Response,
    Unreadable,
    Verdict,
    Winner,
)

CASE = Case(id="c", query="q", cluster="q", responses=(Response(text="r1"), Response(text="r2")))
SHOWN = {"pair": (0, 1), "response": (1,), "critiques": (0, 1), "query": ()}
VERDICT = Verdict(case_id="c", judge="j", winner="b", ratings=(2.0, 7.0))
SCORING = [name for name in protocol_names() if "-verdict" in name or "by-rating" in name]


def completion(text: str, finish: Literal["stop", "length"] = "stop") -> Completion:
    return Completion(key="k", text=text, finish=finish, prompt_tokens=1, completion_tokens=1)


def written(name: str, text: str, finish: Literal["stop", "length"] = "stop") -> str:
    protocol = load_protocol(name)
    reading = protocol.read_follow(VERDICT, SHOWN[protocol.subject], completion(text, finish))
    assert isinstance(reading, Critique)
    return reading.text


@pytest.mark.parametrize("name", protocol_names())
def test_only_a_protocol_that_gives_no_critique_asks_for_one_afterwards(name: str) -> None:
    protocol = load_protocol(name)
    shown = SHOWN[protocol.subject]
    follow = protocol.follow(CASE, VERDICT, shown)
    assert (follow is not None) == (protocol.gives_probabilities and name != "steamshp")
    if follow is None:
        assert isinstance(protocol.read_follow(VERDICT, shown, completion("x: y")), Unreadable)


@pytest.mark.parametrize("name", SCORING)
def test_no_critique_is_asked_for_or_read_where_there_is_no_verdict(name: str) -> None:
    protocol = load_protocol(name)
    shown = SHOWN[protocol.subject]
    unknown = Verdict(case_id="c", judge="j", ratings=(None, None))
    assert protocol.follow(CASE, unknown, shown) is None
    assert isinstance(protocol.read_follow(unknown, shown, completion("x: y")), Unreadable)


@pytest.mark.parametrize("name", SCORING)
def test_a_critique_states_the_verdict_that_it_was_written_for(name: str) -> None:
    plain = name.replace("-verdict", "").replace("-by-rating", "")
    parsed = load_protocol(plain).parse(written(name, " tone: Colder."))
    if isinstance(parsed, Decision):
        assert parsed.shown == "2"
    else:
        assert isinstance(parsed, Rating)
        assert parsed.value == 7.0


@pytest.mark.parametrize("winner", ["a", "b", "tie"])
def test_the_page_of_a_critique_is_the_case_itself(winner: Winner) -> None:
    protocol = load_protocol("pairwise-verdict")
    verdict = Verdict(case_id="c", judge="j", winner=winner)
    reading = protocol.read_follow(verdict, (0, 1), completion(" tone: Colder."))
    assert isinstance(reading, Critique)
    parsed = critiques.parse(reading.text)
    assert parsed is not None
    assert parsed.decision == {"a": "1", "b": "2", "tie": "tie"}[winner]


@pytest.mark.parametrize("name", SCORING)
@pytest.mark.parametrize("text", ["", " \n ", "\n\n\n"])
def test_an_empty_critique_is_unreadable(name: str, text: str) -> None:
    protocol = load_protocol(name)
    reading = protocol.read_follow(VERDICT, SHOWN[protocol.subject], completion(text))
    assert isinstance(reading, Unreadable)


@pytest.mark.parametrize("name", SCORING)
def test_a_critique_that_ran_into_its_limit_loses_the_sentence_that_was_cut(name: str) -> None:
    text = written(name, " tone: It is colder. It also lac", finish="length")
    assert "It is colder." in text
    assert "lac" not in text
    assert "It also lac" in written(name, " tone: It is colder. It also lac")


def test_prose_after_the_list_of_factors_is_left_out() -> None:
    text = written("pairwise-verdict", " tone: Colder.\n- length: Longer.\n\nI hope this helps!")
    parsed = critiques.parse(text)
    assert parsed is not None
    assert [factor.name for factor in parsed.factors] == ["tone", "length"]


def test_a_decision_of_the_judges_own_in_a_factor_does_not_change_the_verdict() -> None:
    text = written("pairwise-verdict", " tone: So, the final decision is Response 1.")
    reading = load_protocol("pairwise").parse(text)
    assert isinstance(reading, Decision)
    assert reading.shown == "2"


def test_a_rating_of_the_judges_own_in_a_critique_does_not_change_the_rating() -> None:
    reading = load_protocol("single").parse(written("single-verdict", "Good. Rating: [[10]]"))
    assert isinstance(reading, Rating)
    assert reading.value == 7.0
