"""Metrics over verdicts: one a file, each `compute(rows) -> Estimate`; none uses a model."""

from autoj.metrics import (
    accuracy,
    agreement,
    averaged_accuracy,
    calibration,
    consistency,
    correlation,
    kappa,
    length_bias,
    mean_rating,
    position_bias,
    win_rate,
)
from autoj.metrics._bootstrap import (
    Floats,
    Ints,
    cluster_totals,
    cluster_weights,
    from_totals,
    student_interval,
)
from autoj.metrics._classification import class_f1, f1, f1_difference
from autoj.metrics._comparison import Difference, difference, difference_of, holm
from autoj.metrics._prediction_powered import prediction_powered
from autoj.metrics.base import Row, by

__all__ = [
    "Difference",
    "Floats",
    "Ints",
    "Row",
    "accuracy",
    "agreement",
    "averaged_accuracy",
    "by",
    "calibration",
    "class_f1",
    "cluster_totals",
    "cluster_weights",
    "consistency",
    "correlation",
    "difference",
    "difference_of",
    "f1",
    "f1_difference",
    "from_totals",
    "holm",
    "kappa",
    "length_bias",
    "mean_rating",
    "position_bias",
    "prediction_powered",
    "student_interval",
    "win_rate",
]
