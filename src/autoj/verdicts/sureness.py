"""Sureness of verdicts on pairs: their confidence, and the mark of those below a threshold."""

from __future__ import annotations

from dataclasses import fields

from autoj.records import MarkedVerdict, SureThreshold, Verdict


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


def is_unsure(verdict: Verdict) -> bool:
    """True where a verdict is marked as unsure."""
    return isinstance(verdict, MarkedVerdict) and verdict.unsure is True
