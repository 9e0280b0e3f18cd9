"""Rao and Kupper's model of pairs with ties, and the preferences it takes.

A preference measures by how much response a is better than response b: above 0 for a, below for b.
With temperature T and half tie band t, x = preference / T and s the logistic function:

    P(a) = s(x - t)        P(b) = s(-x - t)        P(tie) = 1 - P(a) - P(b)

Everything here is antisymmetric to the last bit: exchanging the responses changes the sign of the
preference and exchanges its probabilities, exactly.

**Source:** P. V. Rao and L. L. Kupper, "Ties in paired-comparison experiments: a generalization of
the Bradley-Terry model", JASA 62 (1967). At t = 0 it is Bradley and Terry's model (1952).
"""

import math
import sys

from autoj.calibration.style_features import style_score
from autoj.records import Calibration

_LEAST = sys.float_info.min
"""Replaces a probability of 0, whose logarithm is not finite."""


def preference_of_ratings(ratings: tuple[float, float]) -> float:
    """The preference from two ratings, each given alone.

    Args:
        ratings: of a and of b, on the same scale.
    """
    return ratings[0] - ratings[1]


def preference_of_probabilities(probabilities: tuple[float, float, float]) -> float:
    """The preference from a pair's probabilities: the log-odds of a over b.

    The probability of a tie is not used: the model has its own.

    Args:
        probabilities: of a, b and tie, averaged over both orders.

    Returns:
        The natural logarithm of P(a) / P(b), between about -708 and 708.

    >>> preference_of_probabilities((0.3, 0.3, 0.4))
    0.0
    """
    a, b, _ = probabilities
    # Unlike the logarithm of the quotient, this difference changes its sign exactly.
    return math.log(max(a, _LEAST)) - math.log(max(b, _LEAST))


def outcome_probabilities(
    preference: float, calibration: Calibration
) -> tuple[float, float, float]:
    """The probabilities of a, b and tie under a calibration.

    Args:
        preference: the preference for a over b.
        calibration: the temperature and half the tie band.

    >>> outcome_probabilities(0.0, Calibration(temperature=1.0, tie=0.0))
    (0.5, 0.5, 0.0)
    """
    x = preference / calibration.temperature
    a, b = _logistic(x - calibration.tie), _logistic(-x - calibration.tie)
    # A sum of two is the same in either order; rounding must not put the rest below 0.
    return a, b, max(0.0, 1.0 - (a + b))


def log_odds_of_rating(rating: float, query: str, response: str, calibration: Calibration) -> float:
    """A response's rating in log-odds, as a calibration of pairs counts it.

    The difference of two of them is the x of this model, and with a tie band of 0 the log-odds that
    one response beats the other: what a Bradley-Terry reward model returns.

    Args:
        rating: the expected rating of the response, read alone.
        query: the request, of which a style feature takes the words.
        response: the text, whose style features count where the calibration has weights for them.
        calibration: of differences of two ratings.

    >>> log_odds_of_rating(6.0, "Why?", "So.", Calibration(temperature=2.0))
    3.0
    """
    return (rating + style_score(query, response, calibration.surface)) / calibration.temperature


def tie_width(calibration: Calibration) -> float:
    """The largest preference, either way, at which a tie is still the likeliest outcome.

    Args:
        calibration: with half a band of up to log 2 a tie is never the likeliest outcome, and
            the width is 0: only a preference of exactly 0 ties.
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
