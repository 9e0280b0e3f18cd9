"""From how much a judge prefers one response to how likely each wins or neither does."""

from autoj.ties.model import (
    likeliest,
    outcome_probabilities,
    preference_of_probabilities,
    preference_of_ratings,
    tie_width,
)

__all__ = [
    "likeliest",
    "outcome_probabilities",
    "preference_of_probabilities",
    "preference_of_ratings",
    "tie_width",
]
