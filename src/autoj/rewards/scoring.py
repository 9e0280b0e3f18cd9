"""Rewards of a batch of responses: by rating, against a reference response, or within a group."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary

from autoj.api import Judge
from autoj.errors import ConfigError
from autoj.records import Case, Verdict

RewardBy = Literal["rating", "expected-rating", "reference", "group"]
"""`rating`: 1 to 10, as the judge's protocol rates. `expected-rating`: the mean of the judge's
distribution over ratings. `reference`: 0 to 1, compared with a reference response. `group`: 0 to 1,
compared with each other response to the same prompt in the batch."""

_LOCKS: WeakKeyDictionary[Judge, threading.Lock] = WeakKeyDictionary()
_LOCKS_LOCK = threading.Lock()


def check_by(by: str) -> None:
    """Checks the name of a kind of reward.

    Raises:
        ConfigError: there is no such kind.
    """
    if by not in get_args(RewardBy):
        raise ConfigError(f"by={by!r} is none of {', '.join(get_args(RewardBy))}")


def score(
    judge: Judge, cases: Sequence[Case], by: RewardBy, settings: dict[str, Any]
) -> list[float | None]:
    """Computes the rewards of a batch, which the judge is asked about in one call.

    Args:
        judge: the judge; threads that share it wait for each other.
        cases: one per response: with it alone, or for `reference` with the reference response
            after it.
        by: the kind of reward.
        settings: settings of `Judge.rate_many` or `Judge.compare_many`.

    Returns:
        One reward per case, in order, on the scale of `by`; None where a judgment failed or could
        not be read, and for `group` also where a response has no other in its group.

    Raises:
        BackendError: the judge's engine broke down.
    """
    if not cases:
        return []
    with _lock_of(judge):
        match by:
            case "rating":
                return _ratings(judge, cases, settings)
            case "expected-rating":
                return _ratings(judge, cases, {"protocol": "single-verdict", **settings})
            case "reference":
                return [preferred(verdict) for verdict in judge.compare_many(cases, **settings)]
            case "group":
                return _within_groups(judge, cases, settings)


def preferred(verdict: Verdict) -> float | None:
    """The share of a comparison that its first response wins, from 0 to 1.

    It is P(a) + P(tie) / 2 where the verdict has probabilities, calibrated where the judge's card
    has a calibration; else 1, 0.5 or 0 by the winner. None where the winner is unknown, and where
    any judgment behind it failed or could not be read: one order alone favours a position.
    """
    if verdict.winner is None or verdict.n_failed or verdict.n_unreadable:
        return None
    if verdict.probabilities is not None:
        a, _, tie = verdict.probabilities
        return a + tie / 2
    return {"a": 1.0, "tie": 0.5, "b": 0.0}[verdict.winner]


def _lock_of(judge: Judge) -> threading.Lock:
    # An engine is used by one thread at a time, and a trainer may run several rewards at once.
    with _LOCKS_LOCK:
        return _LOCKS.setdefault(judge, threading.Lock())


def _ratings(judge: Judge, cases: Sequence[Case], settings: dict[str, Any]) -> list[float | None]:
    return [verdict.ratings[0] for verdict in judge.rate_many(cases, **settings)]


def _within_groups(
    judge: Judge, cases: Sequence[Case], settings: dict[str, Any]
) -> list[float | None]:
    groups = defaultdict(list)
    for index, its in enumerate(cases):
        groups[its.query].append(index)
    pairs = [pair for members in groups.values() for pair in combinations(members, 2)]
    verdicts = judge.compare_many((_pair(cases, pair) for pair in pairs), **settings)
    won: dict[int, list[float | None]] = defaultdict(list)
    for (first, second), verdict in zip(pairs, verdicts, strict=True):
        share = preferred(verdict)
        won[first].append(share)
        won[second].append(None if share is None else 1 - share)
    return [_mean(won[index]) for index in range(len(cases))]


def _pair(cases: Sequence[Case], pair: tuple[int, int]) -> Case:
    first, second = pair
    return replace(
        cases[first],
        id=f"{cases[first].id}-{cases[second].id}",
        responses=(*cases[first].responses, *cases[second].responses),
    )


def _mean(shares: Sequence[float | None]) -> float | None:
    """The mean; None if any is unknown: means over different opponents do not compare."""
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known and len(known) == len(shares) else None
