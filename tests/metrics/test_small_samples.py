"""Intervals of few cases: inside of the figure's scale, or absent with the reason."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from benchmarks.coverage import coverage, figures

from autoj.metrics import (
    RATINGS,
    SHARES,
    Row,
    accuracy,
    agreement,
    averaged_accuracy,
    calibration,
    consistency,
    difference,
    f1,
    f1_difference,
    kappa,
    length_bias,
    mean_rating,
    position_bias,
    win_rate,
)
from autoj.metrics.base import mean
from autoj.metrics.calibration import expected_calibration_error
from autoj.metrics.correlation import correlate
from autoj.metrics.length_bias import share_of_longer
from autoj.records import WINNERS, Estimate, Winner

from ..intervals import SIZES, check

SIGNED = (-1.0, 1.0)


def drawn_row(draw: np.random.Generator, cluster: int) -> Row:
    def outcome() -> Winner:
        return WINNERS[int(draw.integers(3))]

    one, other = outcome(), outcome()
    a, b, tie = draw.dirichlet((1, 1, 1)).tolist()
    return Row(
        cluster=cluster,
        label=None if draw.random() < 0.1 else outcome(),
        winner=one,
        winners=(one, other),
        consistent=one == other,
        scenario=None,
        rating=float(draw.integers(1, 11)),
        averaged=outcome(),
        probabilities=(a, b, tie),
        lengths=(int(draw.integers(1, 9)), int(draw.integers(1, 9))),
    )


def shares(rows: list[Row]) -> Iterable[Estimate]:
    for metric in (accuracy, agreement, averaged_accuracy, consistency, win_rate):
        yield metric.compute(rows)
    for convention in win_rate.CONVENTIONS:
        yield win_rate.by_convention(rows, convention)
    yield win_rate.corrected(rows)
    yield expected_calibration_error(rows)
    yield share_of_longer("longer", rows, lambda row: row.winner)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("seed", range(12))
def test_figures_of_few_rows_stay_on_their_scale(n: int, seed: int) -> None:
    draw = np.random.default_rng([n, seed])
    # Every third set repeats a query.
    rows = [drawn_row(draw, number // (2 if seed % 3 == 0 else 1)) for number in range(n)]
    for estimate in shares(rows):
        check(estimate)
    for metric in (position_bias, length_bias, kappa):
        check(metric.compute(rows), SIGNED)
    check(calibration.compute(rows), (0.0, 2.0))
    check(mean_rating.compute(rows), RATINGS)
    check(mean("mean score", rows, lambda row: row.rating, span=None), None)
    other = [drawn_row(draw, row.cluster) for row in rows]
    lead = difference("lead", rows, other, lambda row: float(row.winner == "a"), span=SHARES)
    check(lead.estimate, SIGNED)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_correlations_and_f1_of_few_rows_stay_on_their_scale(n: int, seed: int) -> None:
    draw = np.random.default_rng([n, seed])
    x, y = draw.normal(size=(2, n))
    clusters = np.arange(n) // (2 if seed % 3 == 0 else 1)
    for coefficient in ("pearson", "spearman", "kendall"):
        found = correlate("c", x, y, coefficient, clusters=clusters)
        check(found.estimate, SIGNED)
        assert found.p_value is None or 0 <= found.p_value <= 1
    labels, one, other = (draw.choice(["x", "y", "z"], n).tolist() for _ in range(3))
    for average in ("macro", "weighted"):
        check(f1("F1", labels, one, clusters, average))
        gap = f1_difference("F1", labels, one, other, clusters, average)
        check(gap.estimate, SIGNED)
        assert gap.p_value is None or 0 <= gap.p_value <= 1


def test_the_ends_of_the_scale_do_not_move_the_p_value() -> None:
    labels, one, other = ["x", "y", "x"], ["x", "y", "x"], ["y", "y", "x"]
    found = f1_difference("F1", labels, one, other, np.arange(3), "weighted")
    assert found.estimate.high == 1.0
    assert found.p_value is not None
    assert found.p_value > 0.2


def test_a_mean_without_an_interval_says_why() -> None:
    def rated(*ratings: float) -> Estimate:
        rows = [drawn_row(np.random.default_rng(0), number) for number in range(len(ratings))]
        return mean_rating.compute(
            [row._replace(rating=rating) for row, rating in zip(rows, ratings, strict=True)]
        )

    assert rated(4.0).reason == "no interval: it takes two queries or more"
    assert rated(4.0, 4.0).reason == "no interval: all cases have the same score"
    assert (rated(1.0, 9.0).low, rated(1.0, 9.0).high) == RATINGS


@pytest.mark.parametrize("n_queries", [3, pytest.param(5, marks=pytest.mark.slow)])
def test_intervals_of_few_queries_hold_the_truth(n_queries: int) -> None:
    quick = {"accuracy 0.55", "accuracy 0.90", "mean rating", "paired difference", "Brier score"}
    for figure in figures():
        if figure.name in quick:
            held, _ = coverage(figure, n_queries, 120)
            assert held >= 0.87, figure.name


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [2, 3, 5, 10])
def test_every_interval_of_few_queries_holds_the_truth(n_queries: int) -> None:
    for figure in figures():
        held, without = coverage(figure, n_queries, 400)
        assert without == 1 or held >= 0.90, figure.name
