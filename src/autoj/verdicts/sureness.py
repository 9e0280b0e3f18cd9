"""Sureness of verdicts on pairs: their confidence, and the mark of those below a threshold."""

from dataclasses import fields, replace
from typing import Literal, TypeAlias

from autoj.records import BudgetedVerdict, MarkedVerdict, SureThreshold, Verdict

HandTo: TypeAlias = Literal["tie", "unresolved"]
HANDED_RULE = "unsure"
"""The rule of a verdict that was handed over because its confidence was too low."""


def confidence_of(verdict: Verdict) -> float | None:
    """The largest of a verdict's probabilities, 0 to 1.

    Args:
        verdict: of a pair.

    Returns:
        None without a winner or without probabilities, and where one order alone was asked: those
        of one order hold its position bias, and no threshold is fitted to them.

    >>> confidence_of(
    ...     Verdict(case_id="1", judge="j", winner="a", winners=("a", "a"),
    ...             probabilities=(0.7, 0.2, 0.1)))
    0.7
    """
    whole = len(verdict.winners) == 2 or bool(verdict.ratings)
    if verdict.winner is None or verdict.probabilities is None or not whole:
        return None
    return max(verdict.probabilities)


def mark(verdict: Verdict, threshold: SureThreshold) -> MarkedVerdict:
    """A verdict with its confidence, marked as unsure where that is below a threshold.

    Args:
        verdict: of a pair; its winner stays.
        threshold: the judge's, for the protocol.
    """
    confidence = confidence_of(verdict)
    known = {field.name: getattr(verdict, field.name) for field in fields(Verdict)}
    unsure = None if confidence is None else confidence < threshold.below
    return MarkedVerdict(**known, confidence=confidence, unsure=unsure)


def with_budget(
    verdict: Verdict, *, first_confidence: float | None, below: float, drawn: bool
) -> BudgetedVerdict:
    """A verdict that says how many orders were asked, and why.

    Args:
        verdict: of a pair, from one order or both.
        first_confidence: the largest probability of the first order; None where it has none. Then
            no second order is asked but by the draw.
        below: a lower one has the second order asked.
        drawn: True where the second order is asked in any case.
    """
    known = {field.name: getattr(verdict, field.name) for field in fields(verdict)}
    return BudgetedVerdict(
        **known,
        n_orders=len(verdict.winners),
        first_confidence=first_confidence,
        first_sure=first_confidence is None or first_confidence >= below,
        drawn=drawn,
    )


def is_unsure(verdict: Verdict) -> bool:
    """True where a verdict is marked as unsure."""
    return isinstance(verdict, MarkedVerdict) and verdict.unsure is True


def hand_over(verdict: Verdict, below: float, to: HandTo) -> Verdict:
    """A verdict whose winner is taken away where its confidence is too low.

    Args:
        verdict: of a pair. One without a confidence (no winner, or no probabilities of both
            orders) stays as it is: nothing says that it is unsure.
        below: a lower confidence is too low.
        to: "tie" makes it a tie; "unresolved" leaves it without a winner.
    """
    confidence = confidence_of(verdict)
    if confidence is None or confidence >= below:
        return verdict
    return replace(verdict, winner="tie" if to == "tie" else None, rule=HANDED_RULE)
