"""Queries that a model writes for a scenario: its prompt, and its text taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.protocols import load_protocol
from autoj.protocols.scenario_seeds import written_queries
from autoj.records import Case, Critique, Response, Unreadable

SEEDS = load_protocol("scenario-seeds")


def test_the_prompt_shows_the_scenario_and_what_is_there_once() -> None:
    case = Case(
        id="planning#1",
        query="planning: a plan for {response}. Write 3.",
        responses=(Response(text="<query>Plan {query}.</query>"),),
        cluster="c",
    )
    (message,) = SEEDS.build(case, (0,)).messages
    assert message.role == "user"
    begin, between = message.content.split("planning: a plan for {response}. Write 3.")
    assert begin.endswith("[The kind of request]\n")
    there, ruled = between.split("<query>Plan {query}.</query>")
    assert there == "\n\n[Requests that are already there]\n"
    assert ruled.startswith("\n\n[What new ones are like]\n1. ")
    assert ruled.endswith("Put each request between <query> and </query>.")


TWO = ["Plan my trip.", "Plan a wedding."]


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("<query>Plan my trip.</query><query>Plan a wedding.</query>", TWO),
        ("Here they are:\n\n<query>\nPlan my trip.\n</query>\n\n<query> Plan a wedding.", TWO),
        ("<query 1>Plan my trip.</query>\n<Query id='2'>Plan a wedding.</QUERY>", TWO),
        ("<query>Plan my trip.\n<query>Plan a wedding.</query>", TWO),
        ("I put each between <query> and </query>.\n<query>Plan my trip.</query>", TWO[:1]),
        ("<query>1. Plan my trip.</query>", ["1. Plan my trip."]),
        ("<query>Query: Plan my trip.</query>", TWO[:1]),
        ("<think><query>No.</query></think><query>Plan my trip.</query>", TWO[:1]),
        ("<query>Rank:\n- a\n- b</query>", ["Rank:\n- a\n- b"]),
        ("<query></query><query>…</query><query>?!</query>", []),
        ('["Plan my trip.", "Plan a wedding."]', TWO),
        ('```json\n[{"query": "Plan my trip."}, {"query": "Plan a wedding."}]\n```', TWO),
        ('Sure: [{"request": "Plan my trip."}, {"text": "Plan a wedding."}, 3]', TWO),
        ("1. Plan my trip.\n2. Plan a wedding.", TWO),
        ("Sure!\n\n1) Plan my trip.\n\n2) Plan a wedding.\n\nTell me if you want more.", TWO),
        ("**1.** Plan my trip.\n**2.** Plan a wedding.", TWO),
        ("Query 1: Plan my trip.\nQuery 2: Plan a wedding.", TWO),
        ('1. "Plan my trip."\n2. “Plan a wedding.”', TWO),
        ("1. Rank:\n1. pear\n- fig\n2. Plan a wedding.", ["Rank:\n1. pear\n- fig", TWO[1]]),
        ("- Plan my trip.\n- Plan a wedding.", TWO),
        ("* Plan my trip.\n* Plan a wedding.\n\nThese are two.", TWO),
        ('- "Plan" or "trip"', ['"Plan" or "trip"']),
        ("<query>给我安排三天的行程</query>", ["给我安排三天的行程"]),
        ("1. 给我安排行程\n2. 你好", ["给我安排行程", "你好"]),
        ("I cannot write such requests.", []),
        ("", []),
        ("[1, 2, 3]", []),
        ("<query>", []),
        ("[" * 5_000, []),
        ("1. " * 5_000, ["1. " * 4_998 + "1."]),
    ],
)  # fmt: skip
def test_a_text_of_any_shape_is_taken_apart(text: str, queries: list[str]) -> None:
    assert written_queries(text) == queries
    reading = SEEDS.parse(text)
    assert isinstance(reading, Critique if queries else Unreadable)


@given(text=st.text())
def test_no_text_breaks_it_and_no_query_is_blank(text: str) -> None:
    assert all(query.strip() for query in written_queries(text))


_PLAIN = st.text("abcdé 你好\n,.?", min_size=1).filter(
    lambda text: any(map(str.isalnum, text)) and text.strip().casefold() != "and"
)


@given(queries=st.lists(_PLAIN, max_size=5))
def test_queries_in_tags_come_back_as_they_are(queries: list[str]) -> None:
    text = "\n".join(f"<query>{query}</query>" for query in queries)
    assert written_queries(text) == [query.strip() for query in queries]
