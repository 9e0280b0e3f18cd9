"""Correlations, paired differences, Holm, prediction-powered means, and the bootstrap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from autoj.metrics import Row, correlation, difference, holm, prediction_powered
from autoj.metrics._bootstrap import cluster_totals, from_totals, student_interval
from autoj.metrics.correlation import Coefficient, correlate


def row(cluster: int, rating: float | None, label: float | None = None) -> Row:
    return Row(
        cluster=cluster,
        label=label,
        winner=None,
        winners=(),
        consistent=None,
        scenario=None,
        rating=rating,
    )


DRAW = np.random.default_rng(7)
X = DRAW.normal(size=60)
Y = 0.7 * X + 0.7 * DRAW.normal(size=60)
FUNCTIONS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
every_coefficient = pytest.mark.parametrize("coefficient", list(FUNCTIONS))


@every_coefficient
def test_coefficients_and_p_values_are_scipys(coefficient: Coefficient) -> None:
    found = correlate("c", X, Y, coefficient)
    expected = FUNCTIONS[coefficient](X, Y)
    assert found.estimate.value == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)


@every_coefficient
def test_ties_are_handled_as_scipy_does(coefficient: Coefficient) -> None:
    x, y = np.round(X), np.round(Y)
    found = correlate("c", x, y, coefficient).estimate
    assert found.value == pytest.approx(FUNCTIONS[coefficient](x, y).statistic)


def test_the_interval_of_pearson_is_near_fishers_for_normal_scores() -> None:
    found = correlate("c", X, Y, "pearson").estimate
    fisher = stats.pearsonr(X, Y).confidence_interval()
    assert (found.low, found.high) == (
        pytest.approx(fisher.low, abs=0.06),
        pytest.approx(fisher.high, abs=0.06),
    )


@every_coefficient
def test_things_of_one_query_are_resampled_together(coefficient: Coefficient) -> None:
    copies = np.repeat(np.arange(60), 5)
    alone = correlate("c", X, Y, coefficient).estimate
    together = correlate("c", X[copies], Y[copies], coefficient, clusters=copies).estimate
    assert (together.n, together.n_clusters) == (300, 60)
    # The same queries five times over are worth no more than once.
    assert together.low == pytest.approx(alone.low, abs=0.02)
    assert together.high == pytest.approx(alone.high, abs=0.02)


@every_coefficient
def test_the_p_value_of_repeated_queries_does_not_count_their_copies(
    coefficient: Coefficient,
) -> None:
    copies = np.repeat(np.arange(12), 30)
    weak = 0.5 * X[:12] + 0.8 * np.random.default_rng(5).normal(size=12)
    together = correlate("c", X[copies], weak[copies], coefficient, clusters=copies)
    alone = correlate("c", X[:12], weak, coefficient)
    naive = FUNCTIONS[coefficient](X[copies], weak[copies]).pvalue
    assert together.p_value is not None
    assert alone.p_value is not None
    assert together.p_value > 20 * naive
    assert together.p_value == pytest.approx(alone.p_value, abs=0.15)


@every_coefficient
def test_a_constant_score_has_no_correlation_but_a_reason(coefficient: Coefficient) -> None:
    found = correlate("c", np.full(8, 3.3), X[:8], coefficient)
    assert (found.estimate.value, found.p_value) == (None, None)
    assert "the same everywhere" in str(found.estimate.reason)


@every_coefficient
@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_things_give_no_interval_and_no_error(coefficient: Coefficient, n: int) -> None:
    found = correlate("c", X[:n], Y[:n], coefficient)
    assert (found.estimate.low, found.estimate.high, found.p_value) == (None, None, None)
    assert found.estimate.n == n
    assert found.estimate.reason is not None


def test_ratings_are_correlated_with_the_labels_that_are_numbers() -> None:
    rows = [row(n, rating=float(X[n]), label=float(Y[n])) for n in range(60)]
    rows += [row(60, rating=None, label=1.0), row(61, rating=2.0)]
    found = correlation.compute(rows)
    assert (found.n, found.n_unscored) == (60, 1)
    assert found.value == pytest.approx(stats.pearsonr(X, Y).statistic)


def test_a_paired_difference_cancels_what_both_share() -> None:
    one = [row(n, rating=5 + (n % 7) + (0.5 if n % 2 else 0.3)) for n in range(40)]
    other = [row(n, rating=5.0 + (n % 7)) for n in range(40)]
    found = difference("d", one, other, lambda item: item.rating, span=(1.0, 12.0))
    gaps = [0.5 if n % 2 else 0.3 for n in range(40)]
    expected = stats.ttest_1samp(gaps, 0)
    assert found.estimate.value == pytest.approx(0.4)
    assert found.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert found.estimate.low == pytest.approx(interval.low)
    assert found.estimate.high == pytest.approx(interval.high)


def test_a_difference_counts_cases_that_both_have() -> None:
    one = [row(0, 1.0), row(1, None), row(2, 4.0)]
    other = [row(0, 2.0), row(1, 2.0), row(2, None)]
    found = difference("d", one, other, lambda item: item.rating, span=(1.0, 12.0))
    assert (found.estimate.value, found.estimate.n, found.estimate.n_unscored) == (-1.0, 1, 2)
    assert (found.estimate.low, found.p_value) == (None, None)
    nothing = difference("d", one[1:2], other[1:2], lambda item: item.rating, span=None)
    assert nothing.estimate.value is None
    assert nothing.estimate.reason == "no case is scored for both"


p_values = st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8)


@given(drawn=p_values)
def test_holm_never_lowers_a_p_value_and_keeps_their_order(drawn: dict[str, float]) -> None:
    corrected = holm(drawn)
    assert list(corrected) == list(drawn)
    assert all(drawn[name] <= corrected[name] <= 1 for name in drawn)
    ordered = sorted(drawn, key=lambda name: drawn[name])
    assert [corrected[name] for name in ordered] == sorted(corrected.values())


def test_holm_by_hand() -> None:
    assert holm({"x": 0.02, "y": 0.01, "z": 0.5}) == {"x": 0.04, "y": 0.03, "z": 0.5}
    assert holm({}) == {}


def biased_judge(n: int, n_labelled: int, seed: int) -> tuple[list[Row], float]:
    """A judge that calls a win where people do nine times of ten, and three of ten where not."""
    draw = np.random.default_rng(seed)
    people = draw.random(n) < 0.5
    judge = np.where(people, draw.random(n) < 0.9, draw.random(n) < 0.3)
    rows = [
        row(
            index,
            rating=float(judge[index]),
            label=float(people[index]) if index < n_labelled else None,
        )
        for index in range(n)
    ]
    return rows, 0.5


def powered(rows: list[Row]):
    return prediction_powered(
        "win rate",
        rows,
        lambda item: item.rating,
        lambda item: item.label if isinstance(item.label, float) else None,
        span=(0, 1),
    )


def test_a_few_labels_correct_a_biased_judge() -> None:
    rows, truth = biased_judge(5000, 500, seed=1)
    naive = math.fsum(item.rating or 0 for item in rows) / len(rows)
    found = powered(rows)
    assert naive == pytest.approx(0.6, abs=0.02)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < truth < found.high
    # The labels alone would give 2 x 1.96 x sqrt(0.25 / 500) = 0.088.
    assert found.high - found.low < 0.08


def test_a_corrected_figure_covers_the_truth_as_often_as_it_says() -> None:
    inside = 0
    for seed in range(200):
        rows, truth = biased_judge(400, 60, seed)
        found = powered(rows)
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= truth <= found.high
    assert 180 <= inside <= 198


def test_without_a_label_there_is_nothing_to_correct_by() -> None:
    found = powered([row(n, rating=1.0) for n in range(5)])
    assert found.value is None
    assert found.reason == "no judged case has a label"


def test_totals_sum_each_clusters_rows() -> None:
    values = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert cluster_totals(values, np.array([-5, 9, -5])).tolist() == [[5.0, 50.0], [2.0, 20.0]]


def test_many_clusters_are_pooled_without_changing_the_interval() -> None:
    draw = np.random.default_rng(3)
    values = np.stack([np.ones(30_000), draw.normal(size=30_000)], axis=1)
    found = from_totals(
        "m",
        values,
        np.arange(30_000),
        lambda totals: totals[..., 1] / totals[..., 0],
        span=(-9.0, 9.0),
        fisher=False,
        undefined="-",
    )
    assert found.low is not None
    assert found.high is not None
    assert found.n_clusters == 30_000
    assert found.high - found.low == pytest.approx(2 * 1.96 / math.sqrt(30_000), rel=0.06)


def test_an_interval_needs_draws_that_have_a_value() -> None:
    few = np.array([np.nan] * 300 + [0.1] * 700)
    spread = np.linspace(0, 1, 1000)
    for value, draws, n_clusters, reason in [
        (0.1, few, 10, "give no value"),
        (0.1, np.full(1000, 0.1), 10, "the same value"),
        (1.0, spread, 10, "an end of its scale"),
        (0.1, spread, 1, "two queries"),
    ]:
        found = student_interval(value, draws, n_clusters, span=(-1.0, 1.0), fisher=True)
        assert (found.low, found.high) == (None, None)
        assert reason in str(found.reason)
