"""A case that is too long fails with its reason, or is cut and marked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autoj.errors import ConfigError
from autoj.records import Case, Decoding, Response
from autoj.runs import make_spec
from autoj.runs.in_memory import judge_case
from autoj.runs.plan import plan_case

from ..scripted import CARD, Recorder

SMALL = replace(CARD, context_tokens=400)


def case(*texts: str, query: str = "Why?") -> Case:
    return Case(
        id="long",
        query=query,
        responses=tuple(Response(text=text) for text in texts),
        cluster="why",
    )


def words(n_words: int, name: str = "w") -> str:
    return " ".join(f"{name}{number}" for number in range(n_words))


def test_a_long_case_fails_with_its_reason_by_default():
    backend = Recorder(card=SMALL)
    planned = plan_case(case(words(500), "short"), make_spec("judge", SMALL), backend)
    assert [item.request for item in planned] == [None, None]
    failure = planned[0].failure
    assert failure is not None
    assert failure.error == "ContextOverflow"
    assert "368" in failure.message
    verdict = judge_case(case(words(500), "short"), make_spec("judge", SMALL), backend)
    assert (verdict.winner, verdict.n_failed, backend.asked) == (None, 2, [])


def test_the_longest_response_is_cut_in_its_middle_and_marked():
    backend = Recorder(card=SMALL)
    spec = make_spec("judge", SMALL, on_overflow="truncate")
    verdict = judge_case(case(words(900, "x"), words(40, "y")), spec, backend)
    assert verdict.n_truncated == 2
    for request in backend.asked:
        assert request.truncated
        page = request.messages[0].content
        assert words(40, "y") in page
        assert "x0 x1 " in page
        assert "x898 x899" in page
        assert " … " in page
        assert backend.count_tokens(page) <= 368


def test_both_orders_show_the_same_texts():
    backend = Recorder(card=SMALL)
    spec = make_spec("judge", SMALL, on_overflow="truncate")
    judge_case(case(words(900, "x"), words(700, "y")), spec, backend)
    first, second = (request.messages[0].content for request in backend.asked)
    assert sorted(first.split()) == sorted(second.split())


def test_as_much_is_kept_as_fits():
    backend = Recorder(card=SMALL)
    spec = make_spec("judge", SMALL, on_overflow="truncate")
    (item, _) = plan_case(case(words(900, "x"), "short"), spec, backend)
    assert item.request is not None
    prompt = item.request.messages[0].content + (item.request.prefix or "")
    assert backend.count_tokens(prompt) >= 360


@pytest.mark.parametrize("on_overflow", ["error", "truncate"])
def test_a_query_is_never_cut(on_overflow):
    backend = Recorder(card=SMALL)
    spec = make_spec("judge", SMALL, on_overflow=on_overflow)
    verdict = judge_case(case("a", "b", query=words(900)), spec, backend)
    assert verdict.n_failed == 2
    assert backend.asked == []


def test_a_case_that_fits_is_left_alone():
    backend = Recorder()
    spec = make_spec("judge", CARD, on_overflow="truncate")
    judge_case(case(words(50), words(60)), spec, backend)
    assert all(not request.truncated for request in backend.asked)


def test_a_long_response_costs_another_that_is_rated_nothing():
    backend = Recorder(card=SMALL)
    spec = make_spec("rate", SMALL, on_overflow="truncate")
    verdict = judge_case(case(words(900, "x"), words(200, "y")), spec, backend)
    assert verdict.n_truncated == 1
    assert words(200, "y") in backend.asked[1].messages[0].content


@pytest.mark.parametrize(("task", "protocol"), [("judge", "pairwise"), ("rate", "single")])
def test_a_context_that_the_protocols_own_words_overfill_is_the_cards_fault(task, protocol):
    card = replace(CARD, context_tokens=256, decoding=Decoding(max_tokens=200))
    backend = Recorder(card=card)
    spec = make_spec(task, card, protocol=protocol, on_overflow="truncate")
    texts = ("a", "b") if task == "judge" else ("a",)
    with pytest.raises(ConfigError, match=r"too short: of its 256 tokens .* may take 200"):
        judge_case(case(*texts), spec, backend)
    assert backend.asked == []
    # What is long is the case's own matter.
    roomy = replace(card, decoding=Decoding(max_tokens=20))
    spec = make_spec(task, roomy, protocol=protocol)
    verdict = judge_case(case(*(words(500) for _ in texts)), spec, Recorder(card=roomy))
    assert verdict.n_failed == len(texts)
