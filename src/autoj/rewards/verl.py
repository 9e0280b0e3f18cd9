"""A reward function for verl: `reward.custom_reward_function.path` and `name`.

**Source:** verl 0.9 `experimental/reward_loop`: `compute_score(data_source, solution_str,
ground_truth, extra_info)`, sync or async, returns a number or a dictionary with `score`; it has no
value for "not scored", so a judgment that failed raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autoj.api import Judge
from autoj.errors import DataError
from autoj.rewards.single import loaded_judge, rating_of


async def verl_compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    judge: str | Judge = "embedded",
    query: str = "question",
    **settings: Any,
) -> dict[str, float]:
    """Rates one response; calls that wait at the same time are judged as one batch.

    Args:
        data_source: the data set's name, which is not used.
        solution_str: the response.
        ground_truth: the expected answer, which the judge is not shown.
        extra_info: the row's other fields.
        judge: a loaded judge, or what `Judge.load` takes, loaded once per process.
        query: the field of `extra_info` that has the user's request.
        settings: settings of `Judge.rate`. verl's own `reward_router_address` and
            `reward_model_tokenizer` are left out.

    Returns:
        `score`, from 1.0 to 10.0.

    Raises:
        DataError: `extra_info` has no query.
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
    loaded = loaded_judge(judge) if isinstance(judge, str) else judge
    return {"score": rating_of(await loaded.arate(asked, solution_str, **settings))}
