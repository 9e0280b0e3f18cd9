"""Several judges' verdicts on one case to the verdict of a jury: votes, or mean probabilities.

A judge votes if its verdict names a winner: "a", "b" or "tie". A judge that failed, could not be
read, or contradicts itself with nothing to decide, has no vote. More than half of the judges must
vote, else the winner is unknown.

- `mean`: the votes' probabilities are averaged and the likeliest outcome wins. In a case where a
  vote comes without probabilities, the majority decides.
- `majority`: an outcome wins that more than half of the votes are for. A tie is such an outcome,
  and no compromise: where none has more than half (one judge for a and one for b, say), the mean
  probabilities decide if each vote has them, and the winner is unknown if not.

A rating is the mean of the judges' ratings where more than half of them could be read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from autoj.records import Verdict, Winner, likeliest
from autoj.verdicts.resolve import preference

__all__ = ["JURY_RULES", "JuryVerdict", "Method", "as_vote", "jury_rating", "jury_verdict"]

Method: TypeAlias = Literal["majority", "mean"]

JURY_RULES: Mapping[str, str] = {
    "mean": "the mean of the votes' probabilities decides",
    "majority": "more than half of the votes are for it",
    "split, mean": "no outcome has more than half of the votes; the mean probabilities decide",
    "no majority": "no outcome has more than half of the votes",
    "too few votes": "no more than half of the judges name a winner",
    "too few ratings": "no more than half of the judges could be read on some response",
}
"""How a jury's verdict came about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryVerdict(Verdict):
    """What several judges' verdicts on one case come to; `rule` is a name from `JURY_RULES`."""

    judges: tuple[Verdict, ...]
    """Each judge's own verdict."""


def as_vote(verdict: Verdict) -> Verdict:
    """A verdict on a pair; where the judge only rated both responses, the higher rating wins.

    Reward models' scores are on no scale of their own, so two of one judge can be compared, and
    those of two judges cannot.
    """
    if verdict.winner is not None or len(verdict.ratings) != 2:
        return verdict
    gap = preference(verdict)
    if gap is None:
        return verdict
    winner: Winner = "tie" if gap == 0 else "a" if gap > 0 else "b"
    return replace(verdict, winner=winner, rule="ratings")


def jury_verdict(verdicts: Sequence[Verdict], method: Method, name: str = "jury") -> JuryVerdict:
    """The verdict of several judges on a pair.

    Args:
        verdicts: one per judge, from `as_vote`; at least one.
        method: what decides.
        name: what the jury is called.

    Returns:
        The jury's verdict. `probabilities` are the mean over the votes where each has them, whether
        or not they decided; `n_unreadable` and the like are sums over the judges.
    """
    counted = _counted(verdicts, name)
    votes = [verdict for verdict in verdicts if verdict.winner is not None]
    if 2 * len(votes) <= len(verdicts):
        return replace(counted, rule="too few votes")
    averaged = _mean([vote.probabilities for vote in votes])
    counted = replace(counted, probabilities=averaged)
    if method == "mean" and averaged is not None:
        return replace(counted, winner=likeliest(averaged), rule="mean")
    ((winner, n_for),) = Counter(vote.winner for vote in votes).most_common(1)
    if 2 * n_for > len(votes):
        return replace(counted, winner=winner, rule="majority")
    if averaged is not None:
        return replace(counted, winner=likeliest(averaged), rule="split, mean")
    return replace(counted, rule="no majority")


def jury_rating(verdicts: Sequence[Verdict], name: str = "jury") -> JuryVerdict:
    """The mean ratings of several judges.

    Args:
        verdicts: one per judge, on the same responses and the scale 1 to 10; at least one.
        name: what the jury is called.
    """
    n_responses = max(len(verdict.ratings) for verdict in verdicts)
    columns = [
        [verdict.ratings[index] if verdict.ratings else None for verdict in verdicts]
        for index in range(n_responses)
    ]
    ratings = tuple(_mean_rating(column) for column in columns)
    return replace(
        _counted(verdicts, name),
        ratings=ratings,
        rule="too few ratings" if None in ratings else None,
    )


def _counted(verdicts: Sequence[Verdict], name: str) -> JuryVerdict:
    return JuryVerdict(
        case_id=verdicts[0].case_id,
        judge=name,
        n_unreadable=sum(verdict.n_unreadable for verdict in verdicts),
        n_failed=sum(verdict.n_failed for verdict in verdicts),
        n_truncated=sum(verdict.n_truncated for verdict in verdicts),
        judges=tuple(verdicts),
    )


def _mean(
    shares: Sequence[tuple[float, float, float] | None],
) -> tuple[float, float, float] | None:
    known = [share for share in shares if share is not None]
    if len(known) < len(shares):
        return None
    # An exact sum is the same in any order, so exchanged responses exchange the first two.
    a, b, tie = (math.fsum(share[index] for share in known) / len(known) for index in range(3))
    return a, b, tie


def _mean_rating(ratings: Sequence[float | None]) -> float | None:
    known = [rating for rating in ratings if rating is not None]
    return math.fsum(known) / len(known) if 2 * len(known) > len(ratings) else None
