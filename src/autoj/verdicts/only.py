"""Kinds of cases that are worth a look: wrong, disagreeing, failed, unreadable, unsure, close."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from autoj.records import Case, MarkedVerdict, Verdict
from autoj.verdicts.jury import JuryVerdict

Only: TypeAlias = Literal["wrong", "disagree", "failed", "unreadable", "unsure", "close"]
UNSURE_MARGIN = 0.1
"""Two outcomes whose probabilities differ by less are both likely."""
UNSURE_SHARE = 2 / 3
"""A vote of samples with a smaller share is not clear."""
CLOSE_GAP = 0.5
"""Two ratings that differ by at most this much, on the scale 1 to 10, are close."""

_AnyVerdict = TypeVar("_AnyVerdict", bound=Verdict)


def is_wrong(case: Case, verdict: Verdict) -> bool | None:
    """True where a winner is named that is not the label's; None without such a label."""
    if not isinstance(case.label, str):
        return None
    return verdict.winner is not None and verdict.winner != case.label


def _disagree(case: Case, verdict: Verdict) -> bool | None:
    if isinstance(verdict, JuryVerdict):
        votes = {vote.winner for vote in verdict.judges if vote.winner is not None}
        return len(votes) > 1 if votes else None
    return None if verdict.consistent is None else not verdict.consistent


def _failed(case: Case, verdict: Verdict) -> bool:
    return verdict.n_failed > 0


def _unreadable(case: Case, verdict: Verdict) -> bool:
    return verdict.n_unreadable > 0


def _unsure(case: Case, verdict: Verdict) -> bool | None:
    # The judge's own threshold says more than a margin for all judges.
    if isinstance(verdict, MarkedVerdict) and verdict.unsure is not None:
        return verdict.unsure
    shares = [share for share in verdict.vote_shares if share is not None]
    if verdict.probabilities is not None:
        second, first = sorted(verdict.probabilities)[-2:]
        return first - second < UNSURE_MARGIN
    return min(shares) < UNSURE_SHARE if shares else None


def _close(case: Case, verdict: Verdict) -> bool | None:
    known = sorted(rating for rating in verdict.ratings if rating is not None)
    # Ratings have decimal steps: 4.1 and 3.6 differ by 0.5.
    return round(known[-1] - known[-2], 9) <= CLOSE_GAP if len(known) > 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseKind:
    """A kind of cases."""

    says: str
    """Its definition in words, as the end of "cases in which …"."""
    missing: str
    """The reason that no case of a run can be of this kind."""
    holds: Callable[[Case, Verdict], bool | None]
    """None where it cannot be told of a case."""


KINDS: Mapping[Only, CaseKind] = {
    "wrong": CaseKind(
        says="the verdict names another winner than the label",
        missing="no case has a label that names a winner",
        holds=is_wrong,
    ),
    "disagree": CaseKind(
        says="the two orders, or the judges of a jury, name different winners",
        missing="no case was asked in two orders that could both be read",
        holds=_disagree,
    ),
    "failed": CaseKind(
        says="a request got no answer", missing="no case was judged yet", holds=_failed
    ),
    "unreadable": CaseKind(
        says="an answer states no verdict", missing="no case was judged yet", holds=_unreadable
    ),
    "unsure": CaseKind(
        says="the confidence is below the threshold of the judge's card or, without one, the two "
        f"likeliest outcomes are less than {UNSURE_MARGIN} apart in probability or, "
        "with --samples, less than two thirds of an order's samples agree",
        missing="no verdict has probabilities or votes of samples",
        holds=_unsure,
    ),
    "close": CaseKind(
        says=f"the two highest ratings differ by {CLOSE_GAP} or less, on the scale 1 to 10",
        missing="no case has two ratings on the scale 1 to 10",
        holds=_close,
    ),
}
"""The kinds, in the order in which they are explained."""


@dataclass(frozen=True, slots=True)
class Found:
    """The cases of a kind."""

    first: list[tuple[Case, Any]]
    """The first of them, with their verdicts."""
    n: int
    """All of them."""
    n_told: int
    """Cases of which it can be told whether they are of the kind."""


def find(judged: Iterable[tuple[Case, _AnyVerdict]], only: Only, n_first: int) -> Found:
    """The cases of a kind.

    Args:
        judged: cases with their verdicts.
        only: the kind.
        n_first: the number of cases to keep.
    """
    first: list[tuple[Case, Any]] = []
    n = n_told = 0
    for case, verdict in judged:
        holds = KINDS[only].holds(case, verdict)
        n_told += holds is not None
        n += bool(holds)
        if holds and len(first) < n_first:
            first.append((case, verdict))
    return Found(first, n, n_told)
