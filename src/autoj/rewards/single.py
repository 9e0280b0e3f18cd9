"""Rewards for trainers that have no word for a judgment that failed: an error is raised."""

import functools

from autoj.api import Judge
from autoj.errors import BackendError, DataError
from autoj.records import Case, Response, normalise_query
from autoj.rewards.scoring import RewardBy, check_by


def loaded_judge(judge: str | Judge, by: RewardBy) -> Judge:
    """A judge that can give rewards of a kind, loaded once per process.

    Trainers and harnesses call a function again for each batch.

    Args:
        judge: a loaded judge, or what `Judge.load` takes.
        by: the kind of reward.

    Raises:
        ConfigError: there is no such kind, or the judge cannot give it.
        UnknownComponent: there is no such judge.
    """
    found = _loaded(judge) if isinstance(judge, str) else judge
    check_by(by, found.card)
    return found


@functools.cache
def _loaded(name: str) -> Judge:
    return Judge.load(name)


def case_to_score(
    query: str, response: str, by: RewardBy, compared: object, *, row: int, field: str
) -> Case:
    """A case of one response, and for `reference` of what it is compared with.

    Args:
        query: the user's request.
        response: the response.
        by: the kind of reward.
        compared: the reference response, read for `reference` alone.
        row: the number of the row, counted from 1, for messages.
        field: where the reference comes from, for messages.

    Raises:
        DataError: the query is empty, or there is no reference to compare with.
    """
    if not query.strip():
        raise DataError(f"row {row}: the query is empty", path="(call)", field="prompts")
    texts = [response]
    if by == "reference":
        if not isinstance(compared, str):
            raise DataError(f"row {row} has no reference response", path="(call)", field=field)
        texts.append(compared)
    return Case(
        id=f"row-{row}",
        query=query,
        responses=tuple(Response(text=text) for text in texts),
        cluster=normalise_query(query),
    )


def required(reward: float | None, case_id: str, lacking: str | None = None) -> float:
    """The reward of a response.

    Raises:
        BackendError: there is none.
    """
    if reward is None:
        why = "its judgment failed or could not be read" if lacking is None else lacking
        raise BackendError(f"{case_id} has no reward: {why}")
    return reward
