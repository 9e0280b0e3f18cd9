"""Rewards of responses: by rating, by calibrated rating, against a reference, within a group."""

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, assert_never, cast, get_args
from weakref import WeakKeyDictionary

from autoj.api import Judge
from autoj.calibration import log_odds_of_rating
from autoj.errors import ConfigError
from autoj.records import Case, JudgeCard, Verdict

RewardBy = Literal["rating", "expected-rating", "calibrated-rating", "reference", "group"]
"""`rating`: 1 to 10, as the judge's protocol rates. `expected-rating`: the mean of the judge's
distribution over ratings. `calibrated-rating`: the same in log-odds, by the card's calibration.
`reference`: 0 to 1, compared with a reference response. `group`: 0 to 1, compared with each other
response to the same prompt in the batch."""

_CALIBRATED = "pairwise-by-rating"
"""The protocol whose calibration is of differences of two expected ratings."""
_LOCKS: WeakKeyDictionary[Judge, threading.Lock] = WeakKeyDictionary()
_LOCKS_LOCK = threading.Lock()


def check_by(by: str, card: JudgeCard) -> RewardBy:
    """Checks the name of a kind of reward, and that a judge can give it, and returns the kind.

    Raises:
        ConfigError: there is no such kind, or the judge's ratings are not calibrated.
    """
    if by not in get_args(RewardBy):
        raise ConfigError(f"by={by!r} is none of {', '.join(get_args(RewardBy))}")
    if by == "calibrated-rating" and _CALIBRATED not in card.calibration:
        raise ConfigError(
            f"by={by!r} needs a calibration of ratings, and judge {card.name!r} has none",
            hint=f"Fit one with `autoj calibrate` on a run of {_CALIBRATED!r}, or use "
            "by='expected-rating'.",
        )
    return cast(RewardBy, by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A verdict on a response, and the reward that follows from it."""

    reward: float | None
    """On the scale of its kind; None where a judgment failed or could not be read."""
    verdict: Verdict

    @property
    def lacking(self) -> str | None:
        """The reason why there is no reward; None where there is one."""
        if self.reward is not None:
            return None
        if self.verdict.n_failed:
            return f"{self.verdict.n_failed} of the judge's requests failed"
        if self.verdict.n_unreadable:
            return f"{self.verdict.n_unreadable} of the judge's answers could not be read"
        return "the judge's orders disagree, and no rule decides"

    @property
    def critique(self) -> str | None:
        """The first critique that the judge wrote."""
        return next((text for text in self.verdict.critiques if text is not None), None)


async def score_one(judge: Judge, case: Case, by: RewardBy, settings: Mapping[str, Any]) -> Scored:
    """Scores one response; calls that wait at the same time are judged as one batch.

    Args:
        judge: the judge.
        case: with one response, or for `reference` with the reference response after it.
        by: any kind but `group`, which needs others to compare with.
        settings: settings of `Judge.rate` or `Judge.compare`.

    Raises:
        BackendError: the judge's engine broke down.
        ConfigError: a group of one is asked for, or the settings do not fit the judge.
    """
    if by == "group":
        raise ConfigError(
            "by='group' compares the responses of a batch with each other, and this tool hands "
            "over one response at a time",
            hint="Use by='reference', or a rating.",
        )
    texts = [response.text for response in case.responses]
    ask = judge.acompare if by == "reference" else judge.arate
    verdict = await ask(
        case.query,
        *texts,
        scenario=case.scenario,
        reference=case.reference,
        **settings_for(by, settings),
    )
    return Scored(reward=reward_of(judge.card, case, verdict, by), verdict=verdict)


def score_all(
    judge: Judge, cases: Sequence[Case], by: RewardBy, settings: Mapping[str, Any]
) -> list[Scored]:
    """Scores each response by itself or against its reference, in one call of the judge.

    Args:
        judge: the judge; threads that share it wait for each other.
        cases: as in `score_one`.
        by: as in `score_one`.
        settings: settings of `Judge.rate_many` or `Judge.compare_many`.

    Raises:
        BackendError: the judge's engine broke down.
    """
    asked = settings_for(by, settings)
    with _lock_of(judge):
        ask = judge.compare_many if by == "reference" else judge.rate_many
        verdicts = list(ask(cases, **asked))
    return [
        Scored(reward=reward_of(judge.card, case, verdict, by), verdict=verdict)
        for case, verdict in zip(cases, verdicts, strict=True)
    ]


def score(
    judge: Judge, cases: Sequence[Case], by: RewardBy, settings: Mapping[str, Any]
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
    # A trainer reads numbers alone, and a critique costs more than the verdict that it explains.
    quiet = {"critique": False, **settings}
    if by == "group":
        with _lock_of(judge):
            return _within_groups(judge, cases, quiet)
    return [its.reward for its in score_all(judge, cases, by, quiet)]


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


def settings_for(by: RewardBy, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings by which a judge is asked for a kind of reward."""
    # These are means of a distribution, which only a protocol that scores choices gives.
    scored = by in ("expected-rating", "calibrated-rating")
    return {"protocol": "single-verdict", **settings} if scored else dict(settings)


def reward_of(card: JudgeCard, case: Case, verdict: Verdict, by: RewardBy) -> float | None:
    """The reward that follows from a verdict; None where a judgment failed or could not be read.

    Args:
        card: the judge.
        case: the case; its first response is rewarded.
        verdict: the judge's, on the case.
        by: the kind of reward.
    """
    match by:
        case "reference" | "group":
            return preferred(verdict)
        case "rating" | "expected-rating":
            return verdict.ratings[0]
        case "calibrated-rating":
            rating, calibration = verdict.ratings[0], card.calibration[_CALIBRATED]
            if rating is None:
                return None
            text = case.responses[0].text
            return log_odds_of_rating(rating, case.query, text, calibration)
        case _:
            assert_never(by)


def _lock_of(judge: Judge) -> threading.Lock:
    # An engine is used by one thread at a time, and a trainer may run several rewards at once.
    with _LOCKS_LOCK:
        return _LOCKS.setdefault(judge, threading.Lock())


def _within_groups(
    judge: Judge, cases: Sequence[Case], settings: Mapping[str, Any]
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
