"""A query whose scenario is asked for is cut in its middle, as the paper does, and marked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autoj.records import Case
from autoj.runs.plan import Planned, plan_case
from autoj.tasks.classify import make_classify_spec

from ..scripted import CARD, Recorder

ASKING = replace(CARD, protocols=("scenario",), wrapper="none")
N_PROMPT = 15
"""Words of the paper's prompt without the query."""


def planned(query: str, **card: object) -> Planned:
    asking = replace(ASKING, **card)  # type: ignore[arg-type]
    case = Case(id="c", query=query, responses=(), cluster="c")
    (only,) = plan_case(case, make_classify_spec(asking), Recorder(card=asking))
    return only


def shown(query: str, **card: object) -> str:
    request = planned(query, **card).request
    assert request is not None
    text = request.messages[-1].content
    return text.split("Query:\n", 1)[1].removesuffix("\nScenario:\n")


def words(n_words: int) -> str:
    return " ".join(f"w{number}" for number in range(n_words))


@pytest.mark.parametrize("n_words", [1, 1998])
def test_a_query_within_the_limit_is_left_alone(n_words: int) -> None:
    assert shown(words(n_words)) == words(n_words)
    assert not planned(words(n_words)).asked.truncated


@pytest.mark.parametrize("n_words", [2000, 3000, 20_000])
def test_a_longer_one_keeps_its_first_999_tokens_and_its_last_1000(n_words: int) -> None:
    text = shown(words(n_words))
    head, gap, tail = text.partition("…")
    assert gap == "…"
    assert head.split() == words(n_words).split()[:999]
    assert tail.split() == words(n_words).split()[-1000:]
    assert len(text.replace("…", " ").split()) + N_PROMPT <= 2048
    assert planned(words(n_words)).asked.truncated


def test_a_smaller_context_cuts_both_ends_alike() -> None:
    text = shown(words(3000), context_tokens=300)
    head, _, tail = text.partition("…")
    assert 0 <= len(tail.split()) - len(head.split()) <= 1
    # 300 less the 30 that an answer may have, and the prompt: all of the rest is used.
    assert 300 - 30 - N_PROMPT - 3 <= len(text.split()) <= 300 - 30 - N_PROMPT
    assert words(3000).startswith(head.strip())
    assert words(3000).endswith(tail.strip())


def test_a_context_without_room_for_a_query_fails_and_says_so() -> None:
    failure = planned(words(3000), context_tokens=40).failure
    assert failure is not None
    assert failure.error == "ContextOverflow"
    assert "no room for a query" in failure.message


@pytest.mark.parametrize("query", ["😀" * 50_000, "x" * 100_000, "字" * 50_000, "\n \t" * 30_000])
def test_odd_long_queries_are_planned(query: str) -> None:
    assert planned("?" + query).request is not None


def test_the_menu_leaves_a_query_as_much_as_the_papers_prompt() -> None:
    assert shown(words(3000), protocols=("scenario-menu",)) == shown(words(3000))
