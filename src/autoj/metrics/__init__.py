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
    risk_coverage,
    win_rate,
)
from autoj.metrics._bootstrap import cluster_weights, from_totals, student_interval
from autoj.metrics._classification import class_f1, f1, f1_difference
from autoj.metrics._comparison import Difference, difference, difference_of, holm
from autoj.metrics._full_asking import FullAsking
from autoj.metrics._intervals import (
    RATINGS,
    SHARES,
    TOO_FEW_QUERIES,
    TOO_FEW_VALUES,
    Floats,
    Ints,
    Span,
    cluster_totals,
    scale_of,
)
from autoj.metrics._prediction_powered import prediction_powered
from autoj.metrics.base import Row, by

__all__ = [
    "RATINGS",
    "SHARES",
    "TOO_FEW_QUERIES",
    "TOO_FEW_VALUES",
    "Difference",
    "Floats",
    "FullAsking",
    "Ints",
    "Row",
    "Span",
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
    "risk_coverage",
    "scale_of",
    "student_interval",
    "win_rate",
]
