"""Rao and Kupper's model of pairs with ties, and the preferences that go into it.

A preference says how much better response a is than response b: above 0 for a, below for b. With
temperature T and half band t it becomes, with x = preference / T and s the logistic function,

    P(a) = s(x - t)        P(b) = s(-x - t)        P(tie) = 1 - P(a) - P(b)

Everything here is antisymmetric to the last bit: the preference of the exchanged responses is the
same number with the other sign, and its probabilities are the same numbers, exchanged.

**Source:** P. V. Rao and L. L. Kupper, "Ties in paired-comparison experiments: a generalization of
the Bradley-Terry model", JASA 62 (1967). At t = 0 it is Bradley and Terry's model (1952).
"""

from __future__ import annotations

import math
import sys

from autoj.records import Calibration

__all__ = [
    "outcome_probabilities",
    "preference_of_probabilities",
    "preference_of_ratings",
    "tie_width",
]

_LEAST = sys.float_info.min
"""What stands for a probability of 0, whose logarithm is no number."""


def preference_of_ratings(ratings: tuple[float, float]) -> float:
    """How much better a is than b by the ratings that each got alone.

    Args:
        ratings: of a and of b, on the same scale.
    """
    return ratings[0] - ratings[1]


def preference_of_probabilities(probabilities: tuple[float, float, float]) -> float:
    """How much better a is than b where both were shown: the log-odds of a over b.

    The probability of a tie does not enter: the model has its own.

    Args:
        probabilities: of a, b and tie, averaged over both orders.

    Returns:
        The natural logarithm of P(a) / P(b), between about -708 and 708.

    >>> preference_of_probabilities((0.3, 0.3, 0.4))
    0.0
    """
    a, b, _ = probabilities
    # Two logarithms, and not that of the quotient, change their sign exactly.
    return math.log(max(a, _LEAST)) - math.log(max(b, _LEAST))


def outcome_probabilities(
    preference: float, calibration: Calibration
) -> tuple[float, float, float]:
    """The probabilities of a, b and tie that a preference stands for.

    Args:
        preference: how much better a is than b.
        calibration: the temperature and half the tie band.

    >>> outcome_probabilities(0.0, Calibration(temperature=1.0, tie=0.0))
    (0.5, 0.5, 0.0)
    """
    x = preference / calibration.temperature
    a, b = _logistic(x - calibration.tie), _logistic(-x - calibration.tie)
    # A sum of two is the same in either order; rounding must not put the rest below 0.
    return a, b, max(0.0, 1.0 - (a + b))


def tie_width(calibration: Calibration) -> float:
    """The largest preference, either way, at which a tie is still the likeliest outcome.

    Args:
        calibration: with half a band of up to log 2 a tie is never likelier than both responses,
            and the width is 0: the responses must be exactly level to tie.
    """
    if calibration.tie <= math.log(2):
        return 0.0
    # Where P(tie) = P(a): exp(x) = exp(t) - 2 exp(-t).
    x = calibration.tie + math.log1p(-2 * math.exp(-2 * calibration.tie))
    return calibration.temperature * max(x, 0.0)


def _logistic(x: float) -> float:
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    grown = math.exp(x)
    return grown / (1.0 + grown)
