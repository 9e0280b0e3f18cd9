"""A jury's verdict on a case, from the verdicts of its judges: votes, or mean probabilities.

A juror votes if its verdict names a winner: "a", "b" or "tie". A juror that failed, could not be
read, or contradicts itself without a rule to decide has no vote. More than half of the jurors must
vote, else the winner is unknown.

- `mean`: the votes' probabilities are averaged and the likeliest outcome wins. In a case where a
  vote comes without probabilities, the majority decides.
- `majority`: an outcome needs more than half of the votes. A tie is an outcome like any other, not
  a compromise: where no outcome has more than half (one vote for a and one for b, say), the mean
  probabilities decide if each vote has them, and the winner is unknown if not.

A rating is the mean of the jurors' ratings where more than half of them could be read.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias

from autoj.records import Verdict, Winner, likeliest
from autoj.verdicts.resolve import preference
from autoj.verdicts.sureness import confidence_of

Method: TypeAlias = Literal["majority", "mean"]

JURY_RULES: Mapping[str, str] = {
    "mean": "the mean of the votes' probabilities decides",
    "majority": "more than half of the votes are for it",
    "split, mean": "no outcome has more than half of the votes; the mean probabilities decide",
    "no majority": "no outcome has more than half of the votes",
    "too few votes": "no more than half of the judges name a winner",
    "first judge": "the first judge is sure, or its answer failed, and only it was asked",
    "escalated": "the first judge is unsure, and the stronger one decides",
    "drawn": "the pair was drawn at random to be asked in full, and the stronger judge decides",
    "too few ratings": "for some response, no more than half of the judges could be read",
}
"""Rules by which a jury's verdict comes about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryVerdict(Verdict):
    """The verdict of several judges on one case; `rule` is a name from `JURY_RULES`."""

    judges: tuple[Verdict, ...]
    """Each judge's own verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalatedVerdict(JuryVerdict):
    """A verdict of a cheap judge, or of a stronger one where the cheap one is unsure."""

    decided_by: str
    """The name of the judge whose verdict it is."""


NOT_ASKED = "not asked"
"""The rule that stands for the verdict of a judge that was not asked about a case."""


def wants_stronger(verdict: Verdict, below: float | None) -> bool:
    """True where a stronger judge is asked about a pair.

    Args:
        verdict: the cheap judge's. One whose answer failed is none to be unsure of: it is asked
            again when the run is resumed.
        below: a lower confidence is unsure; None goes by the orders alone.
    """
    if verdict.n_failed:
        return False
    if verdict.winner is None or verdict.consistent is False:
        return True
    confidence = confidence_of(verdict)
    return below is not None and confidence is not None and confidence < below


def escalated_verdict(
    first: Verdict, second: Verdict | None, names: tuple[str, str], below: float | None
) -> EscalatedVerdict:
    """The verdict of two judges of which the second is asked where the first is unsure.

    Where the second was asked, its verdict stands, also where it names no winner.

    Args:
        first: the cheap judge's.
        second: the stronger one's, from `as_vote`; None where it was not asked.
        names: of both.
        below: as in `wants_stronger`.
    """
    decisive = first if second is None else second
    missing = Verdict(case_id=first.case_id, judge=names[1], rule=NOT_ASKED)
    counted = _counted([first, second or missing], ", ".join(names))
    known = {field.name: getattr(counted, field.name) for field in fields(JuryVerdict)}
    rule = "escalated" if wants_stronger(first, below) else "drawn"
    known |= {
        "winner": decisive.winner,
        "probabilities": decisive.probabilities,
        "rule": "first judge" if second is None else rule,
    }
    return EscalatedVerdict(**known, decided_by=names[second is not None])


def as_vote(verdict: Verdict) -> Verdict:
    """A juror's vote on a pair; where the juror only rated both responses, the higher rating wins.

    Scores of reward models have no common scale: two scores of one model can be compared, scores of
    two models cannot.
    """
    if verdict.winner is not None or len(verdict.ratings) != 2:
        return verdict
    gap = preference(verdict)
    if gap is None:
        return verdict
    winner: Winner = "tie" if gap == 0 else "a" if gap > 0 else "b"
    return replace(verdict, winner=winner, rule="ratings")


def jury_verdict(verdicts: Sequence[Verdict], method: Method, name: str = "jury") -> JuryVerdict:
    """The verdict of several jurors on a pair.

    Args:
        verdicts: one per juror, from `as_vote`; at least one.
        method: the rule that decides.
        name: the name of the jury.

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
    """The mean ratings of several jurors.

    Args:
        verdicts: one per juror, on the same responses and the scale 1 to 10; at least one.
        name: the name of the jury.
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
        scenario=verdicts[0].scenario,
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
    # `fsum` does not depend on the order, so exchanging the responses exchanges the first two.
    a, b, tie = (math.fsum(share[index] for share in known) / len(known) for index in range(3))
    return a, b, tie


def _mean_rating(ratings: Sequence[float | None]) -> float | None:
    known = [rating for rating in ratings if rating is not None]
    return math.fsum(known) / len(known) if 2 * len(known) > len(ratings) else None
