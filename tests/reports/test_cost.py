"""Money, plans and kept answers as a person reads them."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from autoj.reports.cache import cache_view
from autoj.reports.cost import cost_text, jury_cost_text
from autoj.reports.judge import summary_table
from autoj.reports.plan import minutes_text, plan_view
from autoj.reports.render import usd
from autoj.reports.summary import summarise
from autoj.runs import RunCounts, make_spec
from autoj.runs.cache import CachedModel
from autoj.runs.cost import Cost
from autoj.runs.estimate import Range, RunEstimate

from ..scripted import CARD
from .pages import page

SPENT = Cost(session_usd=0.2, run_usd=0.9, expected_usd=1.1)
FOUND = RunEstimate(
    judge="gpt",
    protocol="pairwise",
    n_cases=1_000,
    n_requests=2_000,
    n_answered=100,
    n_reused=50,
    n_left=1_850,
    n_too_long=0,
    prompt_tokens=900_000,
    completion_tokens=Range(least=0, about=370_000, most=1_894_400),
    usd=Range(least=0.9, about=1.27, most=2.79),
    is_exact=True,
    seconds=900,
    timed_by="the speed of this run so far",
)


def text_of(view: object, width: int = 80) -> str:
    return " ".join(page(view, width).split())


def test_an_amount_is_never_shown_as_nothing_unless_it_is() -> None:
    assert [usd(value) for value in (0, 0.00001, 0.0042, 0.01, 12.345, 1e6)] == [
        "$0.00", "under $0.0001", "$0.0042", "$0.01", "$12.35", "$1,000,000.00",
    ]  # fmt: skip


def test_the_cost_of_a_run() -> None:
    assert cost_text(SPENT, CARD) == "$0.90 of about $1.10; $0.20 in this session"
    assert cost_text(Cost(session_usd=0.9, run_usd=0.9), CARD) == "$0.90"
    assert cost_text(Cost(session_usd=0.9, run_usd=0.9, expected_usd=0.901), CARD) == "$0.90"
    assert cost_text(Cost(session_usd=0, run_usd=0.9), CARD) == "$0.90"


def test_without_prices_the_cost_of_a_server_is_not_known_and_of_this_machine_no_matter() -> None:
    assert cost_text(None, CARD) is None
    said = cost_text(None, replace(CARD, backend="openai"))
    assert said == "not known: the card of judge 'script' states no prices"


def test_the_cost_of_a_jury_names_judges_without_prices() -> None:
    assert jury_cost_text({"a": SPENT, "b": SPENT}) == "$1.80"
    assert jury_cost_text({"a": SPENT, "b": None, "c": None}) == (
        "$0.90, without b, c: no prices in the cards"
    )
    assert jury_cost_text({"b": None}) is None


def test_the_summary_counts_reused_answers_apart() -> None:
    spec = make_spec("judge", CARD)
    counts = RunCounts(n_answered=80, n_reused=120, seconds=4)
    text = text_of(summary_table(summarise([], spec, 0), spec, counts, SPENT))
    assert "80 judgments in 4 s" in text
    assert "120 reused from earlier runs" in text
    assert "cost $0.90 of about $1.10" in text
    only = RunCounts(n_reused=120, seconds=4)
    text = text_of(summary_table(summarise([], spec, 0), spec, only))
    assert "this session 120 reused from earlier runs" in text
    assert "judgments" not in text


def test_a_plan_in_words() -> None:
    text = text_of(plan_view([FOUND]))
    for words in (
        "requests 1,850 to send of 2,000; 100 answered in this run, 50 reused from earlier runs",
        "tokens read about 900,000",
        "tokens written about 370,000, at most 1,894,400",
        "dollars about $1.27, at most $2.79",
        "minutes about 15 min, by the speed of this run so far",
    ):
        assert words in text
    assert max(map(len, page(plan_view([FOUND]), 60).splitlines())) <= 60


def test_a_plan_says_what_is_not_known() -> None:
    unknown = replace(
        FOUND,
        usd=Range(least=0.9, about=None, most=2.79),
        seconds=None,
        timed_by=None,
        is_exact=False,
        n_too_long=3,
    )
    text = text_of(plan_view([unknown]))
    assert "dollars $0.90 (prompts alone) to $2.79 (all answers at --max-tokens)" in text
    assert "minutes not known before the first answers" in text
    assert "requests about 1,850 to send" in text
    assert "too long about 3 requests fail without being sent" in text
    text = text_of(plan_view([replace(FOUND, usd=None)]))
    assert "dollars not known: the card of judge 'gpt' states no prices" in text


def test_a_finished_run_has_nothing_left_to_plan() -> None:
    text = text_of(plan_view([replace(FOUND, n_left=0, n_answered=2000, n_reused=0)]))
    assert "0 to send of 2,000; 2,000 answered in this run" in text
    assert "dollars" not in text


def test_a_jury_is_added_up() -> None:
    text = text_of(plan_view([FOUND, replace(FOUND, judge="free", usd=None)]))
    assert "all judges 3,700 requests to send" in text
    assert "dollars about $1.27, at most $2.79; without free: no prices" in text


def test_times_are_in_the_unit_that_a_person_would_use() -> None:
    texts = [minutes_text(seconds) for seconds in (0.2, 59, 61, 7200, 7300)]
    assert texts == ["1 s", "59 s", "2 min", "120 min", "2.0 h"]


def test_kept_answers_by_model() -> None:
    now = time.time()
    model = CachedModel(
        model="m\x1b[2J",
        place="https://api.example.com/v1",
        n_answers=1200,
        n_bytes=3_400_000,
        oldest=now - 40 * 86_400,
        newest=now,
    )
    text = text_of(cache_view(Path("answers.sqlite"), [model], 5_000_000), 120)
    assert "answers 1,200 size 5.0 MB file answers.sqlite" in text
    assert "3.4 MB 40 days today" in text
    assert "\x1b" not in text
