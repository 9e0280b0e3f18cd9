"""Reward functions for TRL's GRPO and RLOO trainers.

**Source:** `GRPOTrainer._calculate_rewards` of TRL 1.16: a reward function is called with
`prompts`, `completions`, `completion_ids` and the data set's other columns as keywords, together
with `trainer_state`, `log_extra` and `log_metric`, and returns one float or None per completion. A
completion whose every reward is None gets an advantage of 0.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from autoj.api import Judge
from autoj.errors import DataError
from autoj.rewards.scoring import RewardBy, check_by, score
from autoj.rewards.single import case_to_score
from autoj.rewards.turns import Turns, query_of, response_of


def trl(
    judge: str | Judge = "embedded",
    *,
    by: RewardBy = "rating",
    reference: str = "reference",
    concurrent: bool = False,
    **settings: Any,
) -> "TrlReward | AsyncTrlReward":
    """Makes a reward function for TRL's `GRPOTrainer` or `RLOOTrainer`.

    Args:
        judge: a loaded judge, or what `Judge.load` takes.
        by: the kind of reward: "rating" and "expected-rating" give 1 to 10, "calibrated-rating"
            log-odds; "reference" and "group" give 0 to 1, and "group" compares the completions that
            this process has of a prompt.
        reference: the column with a text to compare with, for "reference".
        concurrent: True makes an async function, which TRL runs beside its other async rewards.
        settings: settings of `Judge.rate` or `Judge.compare`: `protocol`, `orders`, … No critique
            is written unless `critique=True`.

    Returns:
        A callable that returns one reward per completion, and None where a judgment failed.

    Raises:
        ConfigError: there is no such kind of reward, or the judge cannot give it.
        UnknownComponent: there is no such judge.
    """
    loaded = Judge.load(judge) if isinstance(judge, str) else judge
    check_by(by, loaded.card)
    reward = TrlReward(loaded, by, reference, settings)
    return AsyncTrlReward(reward) if concurrent else reward


class TrlReward:
    """A reward function with TRL's signature; the judge is asked once per batch."""

    def __init__(
        self, judge: Judge, by: RewardBy, reference: str, settings: Mapping[str, Any]
    ) -> None:
        self.judge = judge
        self.__name__ = f"autoj_{by}".replace("-", "_")
        self._by = by
        self._reference = reference
        self._settings = dict(settings)

    def __call__(
        self,
        prompts: Sequence[Turns],
        completions: Sequence[Turns],
        completion_ids: Sequence[Sequence[int]] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Computes the rewards of a batch.

        Args:
            prompts: texts or conversations; where several messages lead to the user's last, the
                query holds them all, each with its speaker.
            completions: as many texts or conversations; the last message is the response.
            completion_ids: the tokens, which are not used.
            columns: the data set's other columns, and `log_metric`, which receives the share of
                completions without a reward as `autoj/unrewarded`.

        Raises:
            DataError: a query is empty or not a text, or the reference column is missing.
            BackendError: the judge's engine broke down.
        """
        references = self._references(columns, len(prompts))
        cases = [
            case_to_score(
                query_of(prompt, row),
                response_of(completion, row),
                self._by,
                None if reference is None else response_of(reference, row),
                row=row,
                field=self._reference,
            )
            for row, (prompt, completion, reference) in enumerate(
                zip(prompts, completions, references, strict=True), start=1
            )
        ]
        rewards = score(self.judge, cases, self._by, self._settings)
        if rewards and (log_metric := columns.get("log_metric")) is not None:
            log_metric("autoj/unrewarded", rewards.count(None) / len(rewards))
        return rewards

    def _references(self, columns: Mapping[str, Any], n: int) -> Sequence[Turns | None]:
        if self._by != "reference":
            return [None] * n
        found = columns.get(self._reference)
        if found is None:
            raise DataError(
                "the data has no such column to compare with",
                path="(call)",
                field=self._reference,
            )
        texts: Sequence[Turns | None] = found
        return texts


class AsyncTrlReward:
    """The same as `TrlReward`, awaited: TRL runs its async reward functions beside each other."""

    def __init__(self, reward: TrlReward) -> None:
        self.judge = reward.judge
        self.__name__ = reward.__name__
        self._reward = reward

    async def __call__(
        self,
        prompts: Sequence[Turns],
        completions: Sequence[Turns],
        completion_ids: Sequence[Sequence[int]] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Computes the rewards of a batch in another thread."""
        return await asyncio.to_thread(
            self._reward, prompts, completions, completion_ids, **columns
        )
