"""A reward function for OpenRLHF: `reward_func` of the file that `--reward.remote_url` names.

**Source:** OpenRLHF 0.11 `openrlhf/utils/agent.py`: `reward_func(queries, prompts, labels)`, where
a query is prompt and response decoded with special tokens, returns `rewards`, `scores` and
`extra_logs`; it has no value for "not scored", so a judgment that failed raises.
"""

from collections.abc import Sequence
from typing import Any

from autoj.api import Judge
from autoj.errors import DataError
from autoj.rewards.scoring import RewardBy, score
from autoj.rewards.single import case_to_score, loaded_judge, required


def openrlhf_reward_func(
    queries: Sequence[str],
    prompts: Sequence[str],
    labels: Sequence[Any],
    *,
    judge: str | Judge = "embedded",
    user_turn: tuple[str, str] | None = None,
    end: str = "",
    by: RewardBy = "rating",
    **settings: Any,
) -> dict[str, Any]:
    r"""Scores a batch of responses.

    Args:
        queries: each its prompt, then its response, with special tokens.
        prompts: as many prompts.
        labels: as many labels: what "reference" compares with, else not shown.
        judge: a loaded judge, or what `Judge.load` takes, loaded once per process.
        user_turn: what stands before and after a user's message in the chat template, such as
            `("<|im_start|>user\n", "<|im_end|>")`: the last such message is what the judge is
            shown as the query. None shows the whole prompt.
        end: the special token that ends a response, which the judge is not shown.
        by: the kind of reward, as in `trl`; "group" compares the responses to one prompt that are
            in this call.
        settings: settings of `Judge.rate` or `Judge.compare`.

    Returns:
        `rewards` and `scores`, one per query on the scale of `by`; `extra_logs`, which is empty.

    Raises:
        DataError: a query does not begin with its prompt, a prompt has no user's message, or a row
            has no reference.
        ConfigError: the judge cannot give this kind of reward.
        BackendError: a judgment failed or could not be read.
    """
    cases = [
        case_to_score(
            _asked(prompt, user_turn),
            _response(query, prompt, end),
            by,
            label,
            row=number,
            field="labels",
        )
        for number, (query, prompt, label) in enumerate(
            zip(queries, prompts, labels, strict=True), start=1
        )
    ]
    found = score(loaded_judge(judge, by), cases, by, settings)
    rewards = [required(reward, case.id) for reward, case in zip(found, cases, strict=True)]
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
