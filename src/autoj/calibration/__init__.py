"""Calibration: from a preference to probabilities of a, b and tie; style features."""

from autoj.calibration.model import (
    outcome_probabilities,
    preference_of_probabilities,
    preference_of_ratings,
    tie_width,
)
from autoj.calibration.style_features import SURFACE_FEATURES, surface_features, surface_lead

__all__ = [
    "SURFACE_FEATURES",
    "outcome_probabilities",
    "preference_of_probabilities",
    "preference_of_ratings",
    "surface_features",
    "surface_lead",
    "tie_width",
]
