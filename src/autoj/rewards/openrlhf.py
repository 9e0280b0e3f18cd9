"""A reward function for OpenRLHF: `reward_func` of the file that `--reward.remote_url` names.

**Source:** OpenRLHF 0.11 `openrlhf/utils/agent.py`: `reward_func(queries, prompts, labels)`, where
a query is prompt and response decoded with special tokens, returns `rewards`, `scores` and
`extra_logs`; it has no value for "not scored", so a judgment that failed raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoj.api import Judge
from autoj.errors import DataError
from autoj.rewards.single import loaded_judge, rating_of


def openrlhf_reward_func(
    queries: Sequence[str],
    prompts: Sequence[str],
    labels: Sequence[Any],
    *,
    judge: str | Judge = "embedded",
    user_turn: tuple[str, str] | None = None,
    end: str = "",
    **settings: Any,
) -> dict[str, Any]:
    r"""Rates a batch of responses.

    Args:
        queries: each its prompt, then its response, with special tokens.
        prompts: as many prompts.
        labels: as many labels, which the judge is not shown.
        judge: a loaded judge, or what `Judge.load` takes, loaded once per process.
        user_turn: what stands before and after a user's message in the chat template, such as
            `("<|im_start|>user\n", "<|im_end|>")`: the last such message is what the judge is
            shown as the query. None shows the whole prompt.
        end: the special token that ends a response, which the judge is not shown.
        settings: settings of `Judge.rate`.

    Returns:
        `rewards` and `scores`, each of 1.0 to 10.0 per query, and `extra_logs`, which is empty.

    Raises:
        DataError: a query does not begin with its prompt, or a prompt has no user's message.
        BackendError: a judgment failed or could not be read.
    """
    pairs = [
        (_asked(prompt, user_turn), _response(query, prompt, end))
        for query, prompt in zip(queries, prompts, strict=True)
    ]
    loaded = loaded_judge(judge) if isinstance(judge, str) else judge
    rewards = [rating_of(verdict) for verdict in loaded.rate_many(pairs, **settings)]
    return {"rewards": rewards, "scores": list(rewards), "extra_logs": {}}


def _response(query: str, prompt: str, end: str) -> str:
    if not query.startswith(prompt):
        raise DataError("a query does not begin with its prompt", path="(call)", field="queries")
    return query.removeprefix(prompt).removesuffix(end)


def _asked(prompt: str, user_turn: tuple[str, str] | None) -> str:
    if user_turn is None:
        return prompt
    before, after = user_turn
    _, found, rest = prompt.rpartition(before)
    if not found:
        raise DataError(
            f"a prompt has no message of a user, which {before!r} begins",
            path="(call)",
            field="prompts",
        )
    return rest.partition(after)[0]
