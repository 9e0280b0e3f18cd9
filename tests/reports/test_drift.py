"""A run beside its baseline: no figure is cut, and a passed limit is said."""

from __future__ import annotations

from autoj.reports.drift import drift_view
from autoj.tasks.drift import Drift, Limits

from .pages import check_pages, estimate
from .test_diff import pairs


def drift(name: str) -> Drift:
    return Drift(
        diff=pairs(name),
        flipped=estimate("flipped", 0.25, 0.2, 0.3),
        repeatability=estimate("repeatability", 0.75, 0.7, 0.8),
        lost=estimate("verdict accuracy", 0.0625, 0.01, 0.1),
        limits=Limits(most_flipped=0.05),
        beyond=("25.0 % of the verdicts flipped, and the limit is 5 %",),
    )


def test_pages():
    check_pages(lambda name: drift_view(drift(name), 20), "25.0 %", "+6.2", "the limit is 5 %")
