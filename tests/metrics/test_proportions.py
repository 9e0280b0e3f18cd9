"""Figures and the intervals that one can believe them by."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.metrics.base import Row, by, mean, proportion
from autoj.records import Estimate

Z = 1.959963984540054


def row(cluster: int, share: float | None, scenario: str | None = None) -> Row:
    """A row whose share of the figure is `share`; it travels in the rating's place."""
    return Row(
        cluster=cluster,
        label=None,
        winner=None,
        winners=(),
        consistent=None,
        scenario=scenario,
        rating=share,
    )


def estimate(*shares: float | None, clusters: list[int] | None = None) -> Estimate:
    numbers = clusters or list(range(len(shares)))
    rows = [row(number, share) for number, share in zip(numbers, shares, strict=True)]
    return proportion("figure", rows, lambda item: item.rating)


def width(found: Estimate) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


def wilson(value: float, n: float) -> tuple[float, float]:
    """Wilson's interval, written as the roots of (p - value)² = z² p (1 - p) / n."""
    a, b, c = 1 + Z**2 / n, -2 * value - Z**2 / n, value**2
    root = math.sqrt(b**2 - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def test_a_figure_is_the_mean_of_what_could_be_scored() -> None:
    found = estimate(1.0, 1.0, 0.5, 0.0, None)
    assert (found.name, found.value, found.n, found.n_clusters) == ("figure", 0.625, 4, 4)
    assert found.n_unscored == 1
    assert found.reason is None


def test_bounds_are_the_value_if_all_unscored_were_against_it_and_for_it() -> None:
    found = estimate(1.0, 1.0, 0.5, 0.0, None)
    assert found.bounds == (2.5 / 5, 3.5 / 5)
    assert estimate(1.0, 0.0).bounds is None


@pytest.mark.parametrize(
    ("shares", "reason"), [([], "no cases"), ([None, None], "no case could be scored")]
)
def test_a_figure_without_a_scored_case_has_a_reason_and_no_number(
    shares: list[float | None], reason: str
) -> None:
    found = estimate(*shares)
    assert (found.value, found.low, found.high, found.bounds) == (None, None, None, None)
    assert (found.n, found.n_clusters, found.n_unscored) == (0, 0, len(shares))
    assert found.reason is not None
    assert reason in found.reason


@pytest.mark.parametrize(("wins", "n"), [(7, 10), (1, 24), (60, 100), (499, 1000)])
def test_single_cases_have_wilsons_interval_but_for_one_degree_of_freedom(
    wins: int, n: int
) -> None:
    found = estimate(*([1.0] * wins + [0.0] * (n - wins)))
    assert (found.low, found.high) == pytest.approx(wilson(wins / n, n - 1))


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("n", [1, 2, 10])
def test_cases_that_all_came_out_the_same_still_have_a_width(share: float, n: int) -> None:
    found = estimate(*[share] * n)
    assert (found.low, found.high) == pytest.approx(wilson(share, n))
    assert width(found) > 0.2


def test_the_same_case_many_times_in_one_cluster_is_worth_one_case() -> None:
    once = estimate(1.0, 0.0, 1.0, 1.0)
    often = estimate(*[1.0, 0.0, 1.0, 1.0] * 5, clusters=[0, 1, 2, 3] * 5)
    assert (often.value, often.n, often.n_clusters) == (once.value, 20, 4)
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


def test_cases_that_share_their_query_widen_the_interval() -> None:
    shares = [1.0] * 30 + [0.0] * 20
    alone = estimate(*shares)
    together = estimate(*shares, clusters=[index // 5 for index in range(50)])
    assert together.value == alone.value
    assert width(together) > 1.8 * width(alone)


def test_one_query_alone_is_worth_one_case_whatever_its_rows() -> None:
    found = estimate(*[1.0, 0.0] * 50, clusters=[7] * 100)
    assert (found.n, found.n_clusters) == (100, 1)
    assert (found.low, found.high) == pytest.approx(wilson(0.5, 1))


shares = st.lists(
    st.tuples(st.integers(0, 8), st.sampled_from([0.0, 0.25, 0.5, 1.0, None])), max_size=30
)


@given(drawn=shares)
def test_an_interval_holds_its_value_and_stays_inside_0_and_1(
    drawn: list[tuple[int, float | None]],
) -> None:
    found = estimate(*[share for _, share in drawn], clusters=[number for number, _ in drawn])
    assert found.n + found.n_unscored == len(drawn)
    assert found.n_clusters == len({number for number, share in drawn if share is not None})
    if found.value is None:
        assert found.n == 0
        return
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low < found.high <= 1
    assert found.low - 1e-12 <= found.value <= found.high + 1e-12
    if found.bounds is not None:
        assert 0 <= found.bounds[0] <= found.value <= found.bounds[1] <= 1


@given(drawn=shares, seed=st.integers(0, 100))
def test_the_order_of_the_cases_and_the_numbers_of_their_clusters_do_not_matter(
    drawn: list[tuple[int, float | None]], seed: int
) -> None:
    shuffled = random.Random(seed).sample(drawn, len(drawn))
    one = estimate(*[share for _, share in drawn], clusters=[number for number, _ in drawn])
    other = estimate(
        *[share for _, share in shuffled], clusters=[100 - number for number, _ in shuffled]
    )
    for name in ("value", "low", "high", "n_clusters", "n_unscored"):
        assert getattr(other, name) == pytest.approx(getattr(one, name)), name


@pytest.mark.parametrize("truth", [0.55, 0.8])
@pytest.mark.parametrize(
    ("sizes", "alike"), [((1,), 0.0), ((5,), 0.5), ((1, 2, 3, 10), 0.3), ((4,), 1.0)]
)
def test_about_95_of_100_intervals_hold_the_truth(
    truth: float, sizes: tuple[int, ...], alike: float
) -> None:
    """Queries of `sizes` cases, whose outcome is the query's own with probability `alike`."""
    chance, n_trials, n_held = random.Random(20), 400, 0
    for _ in range(n_trials):
        rows: list[Row] = []
        for cluster in range(60):
            own = chance.random() < truth
            for _ in range(chance.choice(sizes)):
                won = own if chance.random() < alike else chance.random() < truth
                rows.append(row(cluster, float(won)))
        found = proportion("figure", rows, lambda item: item.rating)
        assert found.low is not None
        assert found.high is not None
        n_held += found.low <= truth <= found.high
    assert 0.91 <= n_held / n_trials <= 0.985


def averaged(*scores: float | None, clusters: list[int] | None = None) -> Estimate:
    numbers = clusters or list(range(len(scores)))
    rows = [row(number, score) for number, score in zip(numbers, scores, strict=True)]
    return mean("mean", rows, lambda item: item.rating, span=None)


def test_a_mean_of_single_cases_has_students_interval() -> None:
    found = averaged(2.0, 4.0, 6.0, 8.0, None)
    # The sample's deviation is sqrt(20 / 3); Student's quantile at 3 degrees is 3.182446.
    half = 3.182446 * math.sqrt(20 / 3) / 2
    assert (found.value, found.n, found.n_clusters, found.n_unscored) == (5.0, 4, 4, 1)
    assert (found.low, found.high) == pytest.approx((5 - half, 5 + half), abs=1e-5)


def test_a_mean_of_repeated_cases_is_worth_no_more_than_its_queries() -> None:
    once = averaged(2.0, 4.0, 6.0, 8.0)
    often = averaged(*[2.0, 4.0, 6.0, 8.0] * 5, clusters=[0, 1, 2, 3] * 5)
    assert (often.value, often.n, often.n_clusters) == (once.value, 20, 4)
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


def test_a_mean_over_one_query_has_no_interval() -> None:
    found = averaged(2.0, 4.0, 6.0, clusters=[1, 1, 1])
    assert (found.value, found.low, found.high) == (4.0, None, None)


@given(drawn=shares)
def test_a_mean_lies_in_the_middle_of_its_interval(drawn: list[tuple[int, float | None]]) -> None:
    found = averaged(*[share for _, share in drawn], clusters=[number for number, _ in drawn])
    assert (found.value is None) == (found.n == 0)
    assert (found.low is None) == (found.reason is not None)
    if found.value is not None and found.low is not None and found.high is not None:
        assert found.n_clusters > 1
        assert found.low <= found.value <= found.high
        assert (found.low + found.high) / 2 == pytest.approx(found.value)


def test_rows_are_parted_by_name_and_those_without_one_are_left_out() -> None:
    rows = [row(0, 1.0, "x"), row(1, 0.0, None), row(2, 0.0, "y"), row(3, 0.5, "x")]
    assert by(rows, lambda item: item.scenario) == {"x": [rows[0], rows[3]], "y": [rows[2]]}
