"""Rewards for verl and OpenRLHF: a judgment that failed is an error."""

from __future__ import annotations

import asyncio

import pytest

from autoj import Judge
from autoj.errors import BackendError, ConfigError, DataError
from autoj.rewards import openrlhf_reward_func, verl_compute_score

from .test_trl import Counting, by_length, first_good


def test_verl_gets_a_score_and_waiting_calls_share_batches():
    backend = Counting(by_length)

    async def rated(*solutions: str) -> list[dict[str, float]]:
        calls = (
            verl_compute_score(
                "set",
                solution,
                None,
                {"question": "Why?"},
                reward_router_address="x",
                judge=judge,
                protocol="single",
            )
            for solution in solutions
        )
        return await asyncio.gather(*calls)

    with Judge(backend) as judge:
        found = asyncio.run(rated("good", "good good", "fair", "good good good"))
        assert found == [{"score": 2.0}, {"score": 3.0}, {"score": 1.0}, {"score": 4.0}]
        with pytest.raises(BackendError, match="no reward: 1 of the judge's requests failed"):
            asyncio.run(rated("broken"))
        with pytest.raises(BackendError, match="could not be read"):
            asyncio.run(rated("odd"))
        with pytest.raises(DataError, match="no query for the judge"):
            asyncio.run(verl_compute_score("set", "x", None, judge=judge))


def test_verl_compares_with_the_ground_truth():
    judge = Judge(Counting(first_good))

    def compared(solution: str, truth: object) -> dict[str, float]:
        call = verl_compute_score(
            "set",
            solution,
            truth,
            {"question": "Why?"},
            judge=judge,
            by="reference",
            protocol="pairwise",
        )
        return asyncio.run(call)

    assert compared("good", "bad") == {"score": 1.0}
    assert compared("bad", "good") == {"score": 0.0}
    with pytest.raises(DataError, match="no reference response"):
        compared("good", None)
    with pytest.raises(BackendError, match="failed"):
        compared("broken", "good")
    with pytest.raises(ConfigError, match="one response at a time"):
        asyncio.run(
            verl_compute_score("s", "x", None, {"question": "Why?"}, judge=judge, by="group")
        )
    judge.close()


def test_openrlhf_cuts_the_response_out_of_the_query():
    backend = Counting(by_length)
    judge = Judge(backend)
    prompt = "<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"
    turn = ("<|im_start|>user\n", "<|im_end|>")

    def rated(*queries: str) -> dict[str, object]:
        return openrlhf_reward_func(
            queries,
            [prompt] * len(queries),
            [None] * len(queries),
            judge=judge,
            user_turn=turn,
            end="<|im_end|>",
            protocol="single",
        )

    found = rated(f"{prompt}good<|im_end|>", f"{prompt}good good<|im_end|>")
    assert found == {"rewards": [2.0, 3.0], "scores": [2.0, 3.0], "extra_logs": {}}
    assert backend.batches == [2]
    assert not any("im_start" in shown for shown in backend.prompts)
    with pytest.raises(BackendError, match="failed"):
        rated(f"{prompt}good", f"{prompt}broken")
    with pytest.raises(DataError, match="does not begin with its prompt"):
        rated("good")
    with pytest.raises(DataError, match="no message of a user"):
        openrlhf_reward_func(["ab"], ["a"], [None], judge=judge, user_turn=turn)


def test_openrlhf_compares_with_labels_and_within_the_group():
    judge = Judge(Counting(first_good))

    def compared(by: str, labels: list[object]) -> list[float]:
        found = openrlhf_reward_func(
            ["Why? good", "Why? bad"],
            ["Why? ", "Why? "],
            labels,
            judge=judge,
            by=by,
            protocol="pairwise",
        )
        return found["rewards"]

    assert compared("reference", ["bad", "good"]) == [1.0, 0.0]
    assert compared("group", [None, None]) == [1.0, 0.0]
    with pytest.raises(DataError, match="row 2 has no reference response"):
        compared("reference", ["bad", None])
