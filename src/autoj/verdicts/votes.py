"""Several draws of one question to one reading: a vote on decisions, the mean of ratings.

A draw that failed or could not be read is never a vote. Two rules leave a question open, and both
are seen in the verdict's `rule`: more than half of the draws must be readable, else the question is
`incomplete`, since which draws cannot be read is no accident; and a decision wins with more than
half of the readable draws, else the vote is `split`. There is no lot and no first among equals.

**Source:** Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models"
(arXiv 2203.11171), takes what most draws state, with no threshold; the absolute majority is ours.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autoj.records import Decision, Failure, Judgment, Rating, Score, Unreadable

__all__ = ["Vote", "take_vote", "take_votes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What the draws of one question come to."""

    outcome: Judgment | Failure
    """Stands for all of them. Of decisions it is the first draw that states what won, of ratings
    the draw next to the mean, with the mean in its place."""
    split: bool = False
    """Whether enough draws could be read, and none has more than half of the votes."""
    share: float | None = None
    """Of decisions: the share of the readable draws that state what most of them state."""
    deviation: float | None = None
    """Of ratings: the standard deviation of the readable draws, n - 1 in the denominator."""


def take_votes(judgments: Sequence[Judgment | Failure], n_draws: int) -> list[Vote]:
    """What each question about a case comes to.

    Args:
        judgments: all draws of the first question, then all of the second, and so on.
        n_draws: how often each was asked, at least once.
    """
    starts = range(0, len(judgments), n_draws)
    return [take_vote(judgments[start : start + n_draws]) for start in starts]


def take_vote(draws: Sequence[Judgment | Failure]) -> Vote:
    """What several draws of one question come to; one draw alone is what it is.

    Args:
        draws: all draws of one question, in the order of their numbers; at least one.
    """
    if len(draws) == 1:
        return Vote(outcome=draws[0])
    judgments = [item for item in draws if isinstance(item, Judgment)]
    decided = [item for item in judgments if isinstance(item.reading, Decision)]
    rated = [item for item in judgments if isinstance(item.reading, Rating | Score)]
    if 2 * len(decided) > len(draws):
        return _vote_of_decisions(decided)
    if 2 * len(rated) > len(draws):
        return _mean_of_ratings(rated)
    if not judgments:
        return Vote(outcome=draws[0])
    said = f"{max(len(decided), len(rated))} of {len(draws)} draws could be read"
    return Vote(outcome=_open(judgments[0], said))


def _vote_of_decisions(decided: Sequence[Judgment]) -> Vote:
    votes = [item.reading.shown for item in decided if isinstance(item.reading, Decision)]
    ((stated, n_votes),) = Counter(votes).most_common(1)
    share = n_votes / len(votes)
    if 2 * n_votes <= len(votes):
        said = f"{n_votes} of {len(votes)} readable draws are no majority"
        return Vote(outcome=_open(decided[0], said), split=True, share=share)
    return Vote(outcome=decided[votes.index(stated)], share=share)


def _mean_of_ratings(rated: Sequence[Judgment]) -> Vote:
    values = [item.reading.value for item in rated if isinstance(item.reading, Rating | Score)]
    mean = math.fsum(values) / len(values)
    nearest = min(range(len(values)), key=lambda draw: abs(values[draw] - mean))
    chosen = rated[nearest]
    assert isinstance(chosen.reading, Rating | Score)
    return Vote(
        outcome=replace(chosen, reading=replace(chosen.reading, value=mean)),
        deviation=statistics.stdev(values),
    )


def _open(judgment: Judgment, reason: str) -> Judgment:
    return replace(judgment, reading=Unreadable(reason=reason))
