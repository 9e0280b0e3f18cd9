"""A reward function for verl: `reward.custom_reward_function.path` and `name`.

**Source:** verl 0.9 `experimental/reward_loop`: `compute_score(data_source, solution_str,
ground_truth, extra_info)`, sync or async, returns a number or a dictionary with `score`; it has no
value for "not scored", so a judgment that failed raises.
"""

from collections.abc import Mapping
from typing import Any

from autoj.api import Judge
from autoj.errors import DataError
from autoj.rewards.scoring import RewardBy, score_one
from autoj.rewards.single import case_to_score, loaded_judge, required


async def verl_compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    judge: str | Judge = "embedded",
    query: str = "question",
    by: RewardBy = "rating",
    **settings: Any,
) -> dict[str, float]:
    """Scores one response; calls that wait at the same time are judged as one batch.

    Args:
        data_source: the data set's name, which is not used.
        solution_str: the response.
        ground_truth: the expected answer: what "reference" compares with, else not shown.
        extra_info: the row's other fields.
        judge: a loaded judge, or what `Judge.load` takes, loaded once per process.
        query: the field of `extra_info` that has the user's request.
        by: the kind of reward, as in `trl`, without "group": verl hands over one response a call.
        settings: settings of `Judge.rate` or `Judge.compare`. verl's own `reward_router_address`
            and `reward_model_tokenizer` are left out.

    Returns:
        `score`, on the scale of `by`.

    Raises:
        DataError: `extra_info` has no query, or there is no reference.
        ConfigError: the judge cannot give this kind of reward.
        BackendError: the judgment failed or could not be read.
    """
    asked = (extra_info or {}).get(query)
    if not isinstance(asked, str):
        raise DataError(
            "the row has no query for the judge; name its field by `query`",
            path="(call)",
            field=f"extra_info.{query}",
        )
    for own in ("reward_router_address", "reward_model_tokenizer"):
        settings.pop(own, None)
    case = case_to_score(asked, solution_str, by, ground_truth, row=1, field="ground_truth")
    scored = await score_one(loaded_judge(judge, by), case, by, {"critique": False, **settings})
    return {"score": required(scored.reward, "the response", scored.lacking)}
