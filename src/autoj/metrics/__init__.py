"""Figures over verdicts: one metric a file, each `compute(rows) -> Estimate`; none sees a model."""

from autoj.metrics import accuracy, agreement, consistency, mean_rating, win_rate
from autoj.metrics.base import Row, by

__all__ = ["Row", "accuracy", "agreement", "by", "consistency", "mean_rating", "win_rate"]
