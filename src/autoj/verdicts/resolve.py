"""Resolves the judgments of one case to its verdict: order swap, ratings, probabilities, conflicts.

Nothing here depends on a model. A judgment that failed or could not be read leaves the verdict
open; it is counted and never turned into a tie or a loss.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, TypedDict, assert_never

from autoj.calibration import (
    outcome_probabilities,
    preference_of_probabilities,
    preference_of_ratings,
    style_lead,
)
from autoj.records import (
    Calibration,
    Case,
    Failure,
    Judgment,
    Unreadable,
    Verdict,
    Winner,
    likeliest,
)
from autoj.verdicts.own_frame import (
    critique_of,
    in_own_frame,
    pair_critique,
    probabilities_of,
    rating_of,
    reading_of,
    winner_of,
)
from autoj.verdicts.votes import Vote, take_votes

OnConflict: TypeAlias = Literal["probability", "tie", "unresolved"]

RULES = {
    "agreed": "both orders name this winner",
    "one order": "only one order was asked",
    "probability": "the orders disagree; the probabilities averaged over both decide",
    "tie": "the orders disagree, which counts as a tie",
    "unresolved": "the orders disagree and no rule decides",
    "calibrated": "the averaged probabilities decide, by the card's calibration",
    "calibrated with surface": "the averaged probabilities and the style features of the responses "
    "(length, layout, markup) decide, by the card's calibration",
    "ratings": "each response was rated alone, and the ratings decide",
    "ratings and surface": "each response was rated alone; ratings and style features (length, "
    "layout, markup) decide, by the card's calibration",
    "split": "no decision has more than half of an order's readable samples",
    "incomplete": "a judgment failed or could not be read; of several samples, at least half",
}
"""Rules by which a verdict's `winner` comes about. With several samples per question, an order's
winner needs more than half of its readable samples, and more than half of its samples must be
readable; a rating is the mean under the same condition (`verdicts.votes`)."""


def resolve(
    case: Case,
    judge: str,
    judgments: Sequence[Judgment | Failure],
    on_conflict: OnConflict | None = None,
    *,
    paired: bool,
    reads_alone: bool = False,
    calibration: Calibration | None = None,
    n_draws: int = 1,
) -> Verdict:
    """Resolves the judgments of one case to a verdict.

    With a calibration the likeliest outcome wins, by `model.outcome_probabilities` of the verdict's
    preference. Each order's own winner stays uncalibrated, so consistency and agreement describe
    raw verdicts. Where the orders disagree, an `on_conflict` of `tie` or `unresolved` takes
    precedence; a single order is not calibrated, since calibrations are fitted on both.

    Args:
        case: the judged case.
        judge: the judge's name.
        judgments: one per order of a pair, or one per response that was rated alone; of several
            samples, all of the first, then all of the second.
        on_conflict: the rule where both orders name different winners; None is `probability` where
            both orders have probabilities, else `unresolved`.
        paired: True where the verdict is on a pair, not on each response.
        reads_alone: True where each response of the pair was rated alone; the higher rating then
            wins, and equal ratings tie.
        calibration: maps a preference to probabilities; None leaves probabilities as they are.
        n_draws: the number of samples per question.

    Returns:
        The verdict; `winner` is None where no rule decides. Probabilities are exactly
        antisymmetric: swapping the case's responses swaps the first two.
    """
    readings = [reading_of(item) for item in judgments]
    counted = Verdict(
        case_id=case.id,
        judge=judge,
        n_unreadable=sum(isinstance(reading, Unreadable) for reading in readings),
        n_failed=sum(isinstance(reading, Failure) for reading in readings),
        n_truncated=sum(isinstance(item, Judgment) and item.asked.truncated for item in judgments),
    )
    votes = take_votes(judgments, n_draws)
    if paired and not reads_alone:
        if n_draws > 1:
            counted = replace(counted, vote_shares=tuple(vote.share for vote in votes))
        return _resolve_pair(counted, case, votes, on_conflict, calibration)
    outcomes = [reading_of(vote.outcome) for vote in votes]
    ratings = tuple(rating_of(reading) for reading in outcomes)
    rated = replace(
        counted,
        rule="incomplete" if None in ratings else None,
        ratings=ratings,
        rating_sds=tuple(vote.deviation for vote in votes) if n_draws > 1 else (),
        critiques=tuple(critique_of(reading) for reading in outcomes),
    )
    return _compared(rated, case, calibration) if paired else rated


def _compared(rated: Verdict, case: Case, calibration: Calibration | None) -> Verdict:
    """The verdict from two ratings."""
    gap = _corrected(preference(rated), case, calibration)
    if gap is None:
        return rated
    if calibration is None:
        winner: Winner = "tie" if gap == 0 else "a" if gap > 0 else "b"
        return replace(rated, winner=winner, rule="ratings")
    chances = outcome_probabilities(gap, calibration)
    rule = "ratings and surface" if calibration.surface else "ratings"
    return replace(rated, winner=likeliest(chances), rule=rule, probabilities=chances)


def _corrected(gap: float | None, case: Case, calibration: Calibration | None) -> float | None:
    """A preference corrected by the style features of the responses."""
    if gap is None or calibration is None or not calibration.surface:
        return gap
    # A sum of two numbers, each of which changes its sign exactly with the order.
    return gap + style_lead(case, calibration.surface)


def preference(verdict: Verdict) -> float | None:
    """The preference for a over b that calibrations are fitted to; None where it is unknown.

    Args:
        verdict: of a pair, resolved without a calibration: two ratings, or probabilities averaged
            over both orders.
    """
    if verdict.ratings:
        a, b = verdict.ratings
        return None if a is None or b is None else preference_of_ratings((a, b))
    if verdict.probabilities is None or len(verdict.winners) != 2:
        return None
    return preference_of_probabilities(verdict.probabilities)


def _resolve_pair(
    counted: Verdict,
    case: Case,
    votes: Sequence[Vote],
    on_conflict: OnConflict | None,
    calibration: Calibration | None,
) -> Verdict:
    winners = tuple(winner_of(vote.outcome) for vote in votes)
    averaged = _average([probabilities_of(vote.outcome) for vote in votes])
    settled = replace(
        counted,
        winners=winners,
        probabilities=averaged,
        critiques=tuple(pair_critique(vote.outcome, case) for vote in votes),
        **_settlement(winners, averaged, on_conflict),
    )
    undecided = [vote for vote, winner in zip(votes, winners, strict=True) if winner is None]
    if undecided and all(vote.split for vote in undecided):
        settled = replace(settled, rule="split")
    gap = None if calibration is None else _corrected(preference(settled), case, calibration)
    if calibration is None or gap is None:
        return settled
    chances = outcome_probabilities(gap, calibration)
    if settled.rule in ("tie", "unresolved"):
        return replace(settled, probabilities=chances)
    rule = "calibrated with surface" if calibration.surface else "calibrated"
    return replace(settled, winner=likeliest(chances), rule=rule, probabilities=chances)


def settle(verdict: Verdict, on_conflict: OnConflict | None = None) -> Verdict:
    """Derives a verdict's winner, consistency and rule from its orders.

    Args:
        verdict: holds each order's own winner in `winners` and, where known, `probabilities`.
        on_conflict: as in `resolve`.
    """
    return replace(verdict, **_settlement(verdict.winners, verdict.probabilities, on_conflict))


class _Settlement(TypedDict, total=False):
    """The fields of a verdict that follow from its orders."""

    winner: Winner | None
    consistent: bool
    rule: str


def _settlement(
    winners: Sequence[Winner | None],
    averaged: tuple[float, float, float] | None,
    on_conflict: OnConflict | None,
) -> _Settlement:
    if None in winners:
        return {"rule": "incomplete"}
    if len(winners) == 1:
        return {"winner": winners[0], "rule": "one order"}
    if len(set(winners)) == 1:
        return {"winner": winners[0], "consistent": True, "rule": "agreed"}
    rule = on_conflict or ("probability" if averaged else "unresolved")
    if rule == "probability" and averaged is None:
        rule = "unresolved"
    return {"winner": _decide(rule, averaged), "consistent": False, "rule": rule}


def _decide(rule: OnConflict, averaged: tuple[float, float, float] | None) -> Winner | None:
    match rule:
        case "tie":
            return "tie"
        case "unresolved":
            return None
        case "probability":
            assert averaged is not None
            return likeliest(averaged)
        case _:
            assert_never(rule)


def _average(
    orders: Sequence[tuple[float, float, float] | None],
) -> tuple[float, float, float] | None:
    known = [order for order in orders if order is not None]
    if not known or len(known) < len(orders):
        return None
    # Two numbers add up to the same in either order, which makes the average antisymmetric.
    first, second, tie = (sum(order[index] for order in known) / len(known) for index in range(3))
    return first, second, tie


def add_critiques(verdict: Verdict, written: Sequence[Judgment | Failure]) -> Verdict:
    """A verdict with the critiques that were written for it.

    Args:
        verdict: the verdict before.
        written: one for a pair, or one per rated response; critiques come into the case's frame.
    """
    readings = [reading_of(item) for item in written]
    return replace(
        verdict,
        critiques=tuple(map(in_own_frame, written)),
        n_unreadable=verdict.n_unreadable
        + sum(isinstance(reading, Unreadable) for reading in readings),
        n_failed=verdict.n_failed + sum(isinstance(reading, Failure) for reading in readings),
        n_truncated=verdict.n_truncated
        + sum(isinstance(item, Judgment) and item.asked.truncated for item in written),
    )
