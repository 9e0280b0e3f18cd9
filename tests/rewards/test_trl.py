"""Rewards with TRL's signature: their scales, their order, and None for what failed."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from autoj import Judge
from autoj.backends.base import OnText, Outcome
from autoj.backends.scripted import Answer, ScriptedBackend
from autoj.errors import ConfigError, DataError
from autoj.records import Calibration, Failure, JudgeCard, Request
from autoj.rewards import trl

from ..scripted import CARD


class Counting(ScriptedBackend):
    """A scripted backend that counts its calls and keeps its requests."""

    def __init__(self, answer: Answer, card: JudgeCard = CARD) -> None:
        super().__init__(card, answer)
        self.batches: list[int] = []
        self.prompts: list[str] = []

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        batch = list(requests)
        self.batches.append(len(batch))
        self.prompts += [request.messages[-1].content for request in batch]
        return super().complete(batch, on_text)


def by_length(request: Request) -> str | Outcome:
    """Rates by a digit in the response; `broken` fails, `odd` is not readable."""
    text = request.messages[-1].content
    if "broken" in text:
        return Failure(key=request.key, error="E", message="down", retryable=True, attempts=1)
    return "no idea" if "odd" in text else f"Rating: [[{text.count('good') + 1}]]"


def first_good(request: Request) -> str | Outcome:
    """Prefers the response that says good; `broken` fails."""
    text = request.messages[-1].content
    if "broken" in text:
        return Failure(key=request.key, error="E", message="down", retryable=True, attempts=1)
    at, other = text.find("good"), text.find("bad")
    choice = "Tie" if at < 0 or other < 0 else f"Response {1 if at < other else 2}"
    return f"So, the final decision is {choice}."


RATED = ["good", "good good", "broken", "odd"]


def test_ratings_come_in_order_and_failures_are_none_in_one_call():
    backend = Counting(by_length)
    logged = {}
    reward = trl(Judge(backend), protocol="single")
    found = reward(
        prompts=["Why?"] * 4,
        completions=RATED,
        completion_ids=[[1]] * 4,
        topic=["x"] * 4,
        trainer_state=None,
        log_metric=logged.__setitem__,
    )
    assert found == [2.0, 3.0, None, None]
    assert backend.batches == [4]
    assert logged == {"autoj/unrewarded": 0.5}
    assert reward.__name__ == "autoj_rating"


def test_a_conversation_is_read_as_its_last_query_with_what_came_before():
    backend = Counting(by_length)
    reward = trl(Judge(backend), protocol="single")
    prompt = [
        {"role": "user", "content": "Hello, said first."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": [{"type": "text", "text": "And why?"}]},
    ]
    found = reward(prompts=[prompt], completions=[[{"role": "assistant", "content": "good"}]])
    assert found == [2.0]
    (shown,) = backend.prompts
    assert shown.index("said first") < shown.index("And why?") < shown.index("good")


def test_the_expected_rating_is_the_mean_of_the_distribution():
    def halves(request: Request) -> tuple[float, ...]:
        assert request.choices is not None
        share = [1e-12] * len(request.choices)
        share[2] = share[4] = 0.5
        return tuple(map(math.log, share))

    reward = trl(Judge(Counting(halves)), by="expected-rating")
    assert reward(prompts=["Why?"], completions=["x"]) == [pytest.approx(4.0)]


def test_a_calibrated_rating_is_in_the_log_odds_by_which_the_judge_compares():
    def rated(request: Request) -> tuple[float, ...]:
        assert request.choices is not None
        wanted = 7 if "good" in request.messages[-1].content else 3
        share = [1e-12] * len(request.choices)
        share[wanted - 1] = 1.0
        return tuple(map(math.log, share))

    weights = {"exclamation_marks": 0.5, "characters": 0.1}
    calibration = Calibration(temperature=2.0, surface=weights)
    card = replace(CARD, calibration={"pairwise-by-rating": calibration})
    judge = Judge(Counting(rated, card))
    pair = ("so good!", "not so")
    better, worse = trl(judge, by="calibrated-rating")(prompts=["Why?"] * 2, completions=list(pair))
    (verdict,) = judge.compare_many([("Why?", *pair)], protocol="pairwise-by-rating")
    assert verdict.probabilities is not None
    a, b, tie = verdict.probabilities
    assert tie == 0
    assert better - worse == pytest.approx(math.log(a / b))
    # 4 / 2 for the ratings, and the rest for the style.
    style = (0.5 * math.log(2) + 0.1 * (math.log1p(8) - math.log1p(6))) / 2
    assert better - worse == pytest.approx(2 + style)
    with pytest.raises(ConfigError, match="needs a calibration of ratings"):
        trl(Judge(Counting(rated)), by="calibrated-rating")


def test_no_critique_is_written_for_a_number():
    card = replace(CARD, critique=True, protocols=("single-verdict",))
    asked = Counting(lambda request: (-1.0,) * len(request.choices or ()), card)
    assert trl(Judge(asked))(prompts=["Why?"], completions=["x"]) == [pytest.approx(5.5)]
    assert asked.batches == [1]


def test_a_completion_is_compared_with_the_reference_in_its_column():
    reward = trl(Judge(Counting(first_good)), by="reference", protocol="pairwise", reference="ref")
    found = reward(
        prompts=["Why?"] * 4,
        completions=["good", "bad", "same", "broken"],
        ref=["bad", "good", "other", "bad"],
    )
    assert found == [1.0, 0.0, 0.5, None]
    with pytest.raises(DataError, match="no such column"):
        reward(prompts=["Why?"], completions=["good"])
    with pytest.raises(DataError, match="row 2 has no reference"):
        reward(prompts=["Why?"] * 2, completions=["good"] * 2, ref=["bad", None])


def test_one_order_that_failed_leaves_no_reward():
    def second_order_fails(request: Request) -> str | Outcome:
        if request.shown == (1, 0):
            return Failure(key=request.key, error="E", message="x", retryable=True, attempts=1)
        return first_good(request)

    reward = trl(Judge(Counting(second_order_fails)), by="reference", protocol="pairwise")
    assert reward(prompts=["Why?"], completions=["good"], reference=["bad"]) == [None]


def test_a_group_is_the_responses_to_one_prompt():
    backend = Counting(first_good)
    reward = trl(Judge(backend), by="group", protocol="pairwise")
    found = reward(
        prompts=["One?", "One?", "One?", "Two?", "Two?", "Alone?"],
        completions=["good", "bad", "bad also", "good", "broken", "good"],
    )
    assert found == [1.0, 0.25, 0.25, None, None, None]
    assert len(backend.batches) == 1


def test_the_async_function_gives_the_same_and_several_share_a_judge():
    judge = Judge(Counting(by_length))
    reward = trl(judge, protocol="single", concurrent=True)
    other = trl(judge, protocol="single", concurrent=True)
    assert inspect.iscoroutinefunction(type(reward).__call__)

    async def both() -> list[list[float | None]]:
        return await asyncio.gather(
            *(one(prompts=["Why?"] * 4, completions=RATED) for one in (reward, other))
        )

    assert asyncio.run(both()) == [[2.0, 3.0, None, None]] * 2


def test_bad_calls_are_named():
    with pytest.raises(ConfigError, match="by='rank' is none of rating"):
        trl(Judge(Counting(by_length)), by="rank")
    reward = trl(Judge(Counting(by_length)), protocol="single")
    assert reward(prompts=[], completions=[]) == []
    with pytest.raises(DataError, match="row 1: the query is empty"):
        reward(prompts=[" "], completions=["x"])
    with pytest.raises(DataError, match="no message of a user"):
        reward(prompts=[[{"role": "system", "content": "x"}]], completions=["x"])
    with pytest.raises(DataError, match="other things than text"):
        reward(
            prompts=[[{"role": "user", "content": [{"type": "image"}]}]],
            completions=["x"],
        )
