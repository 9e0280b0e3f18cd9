"""What is asked, and under which key."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autoj.errors import ConfigError, UnknownComponent
from autoj.protocols.base import RequestBody
from autoj.records import Case, Decoding, Message, Response, Verdict
from autoj.runs import make_spec
from autoj.runs.plan import plan_case, plan_follow, request_key

from ..scripted import CARD, Recorder

BODY = RequestBody(messages=(Message(role="user", content="Which?"),))
CASE = Case(
    id="c",
    query="Why?",
    responses=(Response(text="Because."), Response(text="No reason.")),
    cluster="why",
)


@pytest.mark.parametrize(
    "change",
    [
        {"revision": "2"},
        {"adapter": "mine"},
        {"wrapper": "llama2"},
        {"model": "other"},
        {"backend": "embedded"},
    ],
)
def test_the_key_changes_with_what_changes_the_text(change):
    key = request_key(CARD, BODY, Decoding(), 0)
    assert key != request_key(replace(CARD, **change), BODY, Decoding(), 0)


@pytest.mark.parametrize(
    "body",
    [
        replace(BODY, prefix="So"),
        replace(BODY, choices=(" 1", " 2")),
        replace(BODY, stop=("\n",)),
        replace(BODY, messages=(Message(role="system", content="Which?"), *BODY.messages)),
        replace(BODY, messages=(Message(role="user", content="Which one?"),)),
    ],
)
def test_the_key_changes_with_the_request(body):
    assert request_key(CARD, BODY, Decoding(), 0) != request_key(CARD, body, Decoding(), 0)


def test_the_key_changes_with_decoding_and_sample_where_something_is_drawn():
    key = request_key(CARD, BODY, Decoding(), 0)
    assert key != request_key(CARD, BODY, Decoding(temperature=0.7), 0)
    assert key != request_key(CARD, BODY, Decoding(), 1)
    scored = replace(BODY, prefix="So", choices=(" 1", " 2"))
    assert request_key(CARD, scored, Decoding(), 0) == request_key(
        CARD, scored, Decoding(max_tokens=7), 0
    )


def test_the_key_stays_with_what_changes_no_text():
    key = request_key(CARD, BODY, Decoding(), 0)
    renamed = replace(CARD, name="other", title="Other", notes="New", licence="MIT")
    assert key == request_key(renamed, BODY, Decoding(), 0)
    spec = make_spec("judge", CARD)
    one, two = (
        plan_case(replace(CASE, id=name), spec, Recorder())[0].asked.key for name in ("x", "y")
    )
    assert one == two


def test_a_pair_is_asked_in_both_orders_or_in_one():
    both = plan_case(CASE, make_spec("judge", CARD), Recorder())
    assert [item.asked.shown for item in both] == [(0, 1), (1, 0)]
    one = plan_case(CASE, make_spec("judge", CARD, orders="one"), Recorder())
    assert [item.asked.shown for item in one] == [(0, 1)]


def test_a_critique_is_asked_for_the_verdict_and_only_where_there_is_one():
    spec = make_spec("judge", CARD, critique=True)
    known = Verdict(case_id="c", judge="script", winner="b", rule="agreed")
    (planned,) = plan_follow(CASE, known, spec, Recorder())
    assert planned.request is not None
    assert "So, the final decision is Response 2." in planned.request.messages[0].content
    unknown = Verdict(case_id="c", judge="script", rule="unresolved")
    assert plan_follow(CASE, unknown, spec, Recorder()) == []


def test_defaults_come_from_the_card():
    card = replace(CARD, critique=True)
    assert make_spec("judge", card).protocol == "pairwise-verdict"
    assert make_spec("rate", card).protocol == "single-verdict"
    assert make_spec("judge", card).critique
    assert not make_spec("judge", card, protocol="pairwise-verdict").critique
    assert make_spec("judge", card, max_tokens=9).decoding.max_tokens == 9


@pytest.mark.parametrize(
    ("task", "settings", "message"),
    [
        ("judge", {"protocol": "single"}, "judges a response"),
        ("rate", {"protocol": "pairwise"}, "judges a pair"),
        (
            "judge",
            {"protocol": "pairwise", "on_conflict": "probability"},
            "needs probabilities",
        ),
    ],
)
def test_settings_that_make_no_sense_are_refused(task, settings, message):
    with pytest.raises(ConfigError, match=message):
        make_spec(task, CARD, **settings)


def test_an_unknown_protocol_is_answered_with_the_nearest():
    with pytest.raises(UnknownComponent, match="Did you mean pairwise"):
        make_spec("judge", CARD, protocol="pairwse")
