"""Risk and coverage against values computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from autoj.metrics import Row, risk_coverage


def row(confidence: float, right: bool, cluster: int) -> Row:
    rest = (1 - confidence) / 2
    return Row(
        cluster=cluster, label="a" if right else "b", winner="a", winners=("a", "a"),
        consistent=True, scenario=None, probabilities=(confidence, rest, rest),
    )  # fmt: skip


# Wrong at ranks 2 and 5 of five: the risks are 0, 1/2, 1/3, 1/4, 2/5.
FIVE = [row(0.9 - 0.1 * rank, rank not in (1, 4), rank) for rank in range(5)]
AREA = (0 + 1 / 2 + 1 / 3 + 1 / 4 + 2 / 5) / 5


def test_the_area_and_the_curve_are_those_by_hand() -> None:
    assert risk_coverage.compute(FIVE).value == pytest.approx(AREA)
    found = risk_coverage.curve(FIVE, (0.2, 0.4, 0.6, 0.8, 1.0))
    assert found is not None
    assert found.area.value == pytest.approx(AREA)
    assert [point.coverage for point in found.points] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert [point.accuracy.value for point in found.points] == pytest.approx(
        [1, 1 / 2, 2 / 3, 3 / 4, 3 / 5]
    )
    assert [point.confidence for point in found.points] == pytest.approx([0.9, 0.8, 0.7, 0.6, 0.5])
    assert [point.accuracy.n for point in found.points] == [1, 2, 3, 4, 5]
    assert found.area_at_random == pytest.approx(2 / 5)
    # The wrong ones last: 0, 0, 0, 1/4, 2/5.
    assert found.area_at_best == pytest.approx((1 / 4 + 2 / 5) / 5)


def test_the_order_of_the_rows_changes_nothing() -> None:
    assert risk_coverage.compute(FIVE[::-1]).value == pytest.approx(AREA)


def test_cases_of_equal_confidence_are_kept_together_and_count_with_their_mean_risk() -> None:
    # Of three at 0.9 one is wrong: expected risks 1/3, 1/3, 1/3, then 1/4.
    rows = [row(0.9, rank != 1, rank) for rank in range(3)] + [row(0.5, True, 3)]
    assert risk_coverage.compute(rows).value == pytest.approx((3 * (1 / 3) + 1 / 4) / 4)
    found = risk_coverage.curve(rows, (0.25, 0.5, 1.0))
    assert found is not None
    assert [(point.coverage, point.accuracy.n) for point in found.points] == [(0.75, 3), (1.0, 4)]


def test_a_confidence_that_is_the_same_everywhere_has_the_area_of_chance() -> None:
    found = risk_coverage.curve_of(
        np.full(7, 0.5), np.array([1.0, 0, 0, 1, 1, 0, 0]), np.arange(7, dtype=np.int64)
    )
    assert found is not None
    assert found.area.value == pytest.approx(found.area_at_random) == pytest.approx(4 / 7)


def test_intervals_count_queries_and_the_unscored_are_counted() -> None:
    rows = [each._replace(cluster=0) for each in FIVE[:4]] + [
        FIVE[4],
        FIVE[0]._replace(winner=None),
        FIVE[0]._replace(label=None),
    ]
    found = risk_coverage.curve(rows)
    assert found is not None
    assert (found.area.n, found.area.n_clusters, found.area.n_unscored) == (5, 2, 1)
    assert found.points[-1].accuracy.n_clusters == 2
    assert found.points[-1].accuracy.low is not None


def test_without_a_confidence_there_is_no_curve() -> None:
    assert risk_coverage.curve([FIVE[0]._replace(probabilities=None)]) is None
