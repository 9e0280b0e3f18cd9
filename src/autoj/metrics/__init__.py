"""Figures over verdicts: one metric a file, each `compute(rows) -> Estimate`; none sees a model."""

from autoj.metrics.base import Row, by

__all__ = ["Row", "by"]
