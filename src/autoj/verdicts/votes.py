"""Several samples of one question as one reading: a vote on decisions, the mean of ratings.

A sample that failed or could not be read is never a vote. Two rules leave a question open, and both
show in the verdict's `rule`. More than half of the samples must be readable, else the question is
`incomplete`, since unreadable samples are not missing at random. A decision needs more than half of
the readable samples, else the vote is `split`. Nothing is decided at random or by order.

**Source:** Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models"
(arXiv 2203.11171), takes the most frequent answer, with no threshold; the absolute majority is
ours.
"""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autoj.records import Decision, Failure, Judgment, Rating, Score, Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """The outcome of the samples of one question."""

    outcome: Judgment | Failure
    """Stands for all of them: of decisions the first sample with the winning decision, of ratings
    the sample next to the mean, with the mean in its place."""
    split: bool = False
    """True where enough samples could be read, and no decision has more than half of the votes."""
    share: float | None = None
    """Of decisions: the share of the readable samples with the most frequent decision."""
    deviation: float | None = None
    """Of ratings: the standard deviation of the readable samples, n - 1 in the denominator."""


def take_votes(judgments: Sequence[Judgment | Failure], n_draws: int) -> list[Vote]:
    """The outcome of each question about a case.

    Args:
        judgments: all samples of the first question, then all of the second, and so on.
        n_draws: the number of samples per question, at least one.
    """
    starts = range(0, len(judgments), n_draws)
    return [take_vote(judgments[start : start + n_draws]) for start in starts]


def take_vote(draws: Sequence[Judgment | Failure]) -> Vote:
    """The outcome of several samples of one question; a single sample stays as it is.

    Args:
        draws: all samples of one question, in order of their numbers; at least one.
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
    said = f"only {max(len(decided), len(rated))} of {len(draws)} samples could be read"
    return Vote(outcome=_open(judgments[0], said))


def _vote_of_decisions(decided: Sequence[Judgment]) -> Vote:
    votes = [item.reading.shown for item in decided if isinstance(item.reading, Decision)]
    ((stated, n_votes),) = Counter(votes).most_common(1)
    share = n_votes / len(votes)
    if 2 * n_votes <= len(votes):
        said = f"{n_votes} of {len(votes)} readable samples are not a majority"
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
