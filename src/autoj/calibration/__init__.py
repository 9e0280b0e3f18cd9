"""Calibration: from a preference to probabilities of a, b and tie; style features."""

from autoj.calibration.model import (
    log_odds_of_rating,
    outcome_probabilities,
    preference_of_probabilities,
    preference_of_ratings,
    tie_width,
)
from autoj.calibration.style_features import STYLE_FEATURES, style_features, style_lead

__all__ = [
    "STYLE_FEATURES",
    "log_odds_of_rating",
    "outcome_probabilities",
    "preference_of_probabilities",
    "preference_of_ratings",
    "style_features",
    "style_lead",
    "tie_width",
]
