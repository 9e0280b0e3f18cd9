"""Exact and near duplicates of queries."""

from __future__ import annotations

import pytest

from autoj.construct.known_queries import deduplicate
from autoj.construct.recipe import Deduplicate
from autoj.construct.stages import Dropped
from autoj.records import Case, Response, normalise_query

LONG = (
    "Write a short letter to my landlord that the heating in the kitchen has been broken since "
    "Monday, that the children have colds, and that I expect a repair before the weekend"
)


def _cases(*queries: str) -> list[Case]:
    responses = (Response(text="a"), Response(text="b"))
    return [
        Case(id=str(at), query=query, responses=responses, cluster=normalise_query(query))
        for at, query in enumerate(queries)
    ]


def _kept(stage: Deduplicate, *queries: str) -> list[str]:
    found = deduplicate(_cases(*queries), stage)
    return [outcome.query for outcome in found if isinstance(outcome, Case)]


def test_exact_duplicates_differ_in_marks_and_case_alone() -> None:
    stage = Deduplicate(stage="deduplicate", threshold=None)
    assert _kept(stage, "What is 2+2?", "what is 2 + 2", "What is 3?") == [
        "What is 2+2?", "What is 3?",
    ]  # fmt: skip


def test_a_query_may_keep_several_pairs() -> None:
    stage = Deduplicate(stage="deduplicate", threshold=None, per_query=2)
    assert len(_kept(stage, "Why?", "why", "WHY!", "How?")) == 3


def test_near_duplicates_name_the_earlier_query() -> None:
    pytest.importorskip("datasketch")
    near = LONG.replace("Monday", "Tuesday")
    outcomes = list(deduplicate(_cases(LONG, near, "Something else entirely."),
                                Deduplicate(stage="deduplicate", threshold=0.6)))  # fmt: skip
    dropped = [outcome for outcome in outcomes if isinstance(outcome, Dropped)]
    assert [(item.id, item.reason, item.detail) for item in dropped] == [
        ("1", "similar query", "0")
    ]


def test_other_queries_of_the_same_form_are_kept() -> None:
    pytest.importorskip("datasketch")
    stage = Deduplicate(stage="deduplicate")
    queries = [f"What is the capital of {name}?" for name in ("France", "Peru", "Chad", "Laos")]
    assert _kept(stage, *queries) == queries


def test_chinese_queries_are_compared_by_characters() -> None:
    pytest.importorskip("datasketch")
    stage = Deduplicate(stage="deduplicate", threshold=0.6)
    one = "请帮我写一封信给房东，告诉他厨房的暖气从星期一开始就坏了，孩子们都感冒了"
    assert _kept(stage, one, one.replace("星期一", "星期二"), "今天天气怎么样") == [
        one, "今天天气怎么样",
    ]  # fmt: skip
