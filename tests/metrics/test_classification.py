"""F1 of guessed classes: by hand, against scikit-learn, and its interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.metrics import Ints, class_f1, difference_of, f1, f1_difference
from autoj.metrics.base import mean_of, proportion_of
from autoj.metrics.calibration import calibration_error, reliability_bins

LABELS = ["x", "x", "x", "y", "y", "z"]
GUESSES = ["x", "x", "y", "y", "z", "w"]
both = pytest.mark.parametrize("average", ["macro", "weighted"])


def alone(n: int) -> Ints:
    return np.arange(n, dtype=np.int64)


def test_each_classs_f1_by_hand() -> None:
    # x: 2 right of 3 and of 2 guesses; y: 1 of 2 and 2; z: 0 of 1 and 1; w is no label.
    assert class_f1(LABELS, GUESSES) == {"x": 0.8, "y": 0.5, "z": 0.0, "w": 0.0}
    assert f1("F1", LABELS, GUESSES, alone(6), "macro").value == pytest.approx(1.3 / 4)
    weighted = f1("F1", LABELS, GUESSES, alone(6), "weighted").value
    assert weighted == pytest.approx((3 * 0.8 + 2 * 0.5) / 6)


@both
@given(pairs=st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcdef")), min_size=1))
def test_f1_is_scikit_learns(average: str, pairs: list[tuple[str, str]]) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    labels, guesses = [a for a, _ in pairs], [b for _, b in pairs]
    found = f1("F1", labels, guesses, alone(len(pairs)), average)  # type: ignore[arg-type]
    expected = sklearn.f1_score(labels, guesses, average=average, zero_division=0)
    assert found.value == pytest.approx(expected)


def test_what_could_not_be_read_is_missed_and_is_no_class() -> None:
    guesses = ["x", "x", None, "y", "y", None]
    assert class_f1(LABELS, guesses) == {"x": 0.8, "y": 1.0, "z": 0.0}
    none = f1("F1", LABELS, [None] * 6, alone(6), "macro")
    assert (none.value, none.n) == (0.0, 6)


@both
def test_the_interval_holds_the_value_and_lies_within_0_and_1(average: str) -> None:
    drawn = np.random.default_rng(0).integers(0, 8, size=(2, 200))
    labels, guesses = ([f"c{number}" for number in row] for row in drawn)
    guesses = [label if index % 3 else guess for index, (label, guess) in
               enumerate(zip(labels, guesses, strict=True))]  # fmt: skip
    found = f1("F1", labels, guesses, alone(200), average)  # type: ignore[arg-type]
    assert 0 < found.low < found.value < found.high < 1
    assert 0.05 < found.high - found.low < 0.25
    poor = f1("F1", labels[:12], ["c1"] * 12, alone(12), average)  # type: ignore[arg-type]
    assert poor.low is None or poor.low >= 0


@both
def test_copies_of_a_query_are_worth_no_more_than_one(average: str) -> None:
    drawn = np.random.default_rng(1).integers(0, 4, size=(2, 60))
    labels, guesses = ([f"c{number}" for number in row] for row in drawn)
    once = f1("F1", labels, guesses, alone(60), average)  # type: ignore[arg-type]
    copies = f1("F1", labels * 5, guesses * 5, np.tile(alone(60), 5), average)  # type: ignore[arg-type]
    assert (copies.n, copies.n_clusters) == (300, 60)
    assert copies.value == pytest.approx(once.value)
    assert copies.low == pytest.approx(once.low)
    assert copies.high == pytest.approx(once.high)


def test_no_cases_give_no_figure() -> None:
    found = f1("F1", [], [], alone(0), "macro", n_unscored=3)
    assert (found.value, found.n_unscored, found.reason) == (None, 3, "no case could be scored")


@both
def test_a_difference_is_that_of_the_two_figures_and_changes_its_sign(average: str) -> None:
    labels = [f"c{index % 5}" for index in range(150)]
    good = [label if index % 5 else "c0" for index, label in enumerate(labels)]
    good = [label if index % 7 else "c1" for index, label in enumerate(good)]
    poor = [label if index % 3 else "other" for index, label in enumerate(labels)]
    one, other = (
        f1("F1", labels, guesses, alone(150), average)  # type: ignore[arg-type]
        for guesses in (good, poor)
    )
    there = f1_difference("F1", labels, good, poor, alone(150), average)  # type: ignore[arg-type]
    back = f1_difference("F1", labels, poor, good, alone(150), average)  # type: ignore[arg-type]
    assert there.estimate.value == pytest.approx(one.value - other.value)
    assert back.estimate.value == pytest.approx(-there.estimate.value)
    assert (back.estimate.low, back.p_value) == (
        pytest.approx(-there.estimate.high),
        pytest.approx(there.p_value),
    )
    assert there.estimate.low > 0
    assert there.p_value < 0.05


def test_equal_guesses_differ_by_nothing() -> None:
    found = f1_difference("F1", LABELS, GUESSES, GUESSES, alone(6), "macro")
    assert (found.estimate.value, found.estimate.low, found.p_value) == (0.0, None, None)


def test_figures_of_scores_that_are_no_rows() -> None:
    values = np.array([1.0, 0.0, 1.0, 1.0])
    share = proportion_of("accuracy", values, alone(4), n_unscored=1)
    assert (share.value, share.n, share.n_unscored, share.bounds) == (0.75, 4, 1, (0.6, 0.8))
    assert mean_of("mean", values * 4, alone(4), n_unscored=2, span=None).n_unscored == 2
    assert mean_of("mean", values[:0], alone(0), span=None).reason == "there are no cases"
    found = difference_of("d", np.array([1.0, -1.0, 1.0, 1.0]), alone(4), n_unscored=2, widest=1.0)
    assert (found.estimate.value, found.estimate.n_unscored) == (0.5, 2)


def test_the_calibration_error_is_the_mean_gap_of_ten_equal_bins() -> None:
    confidence = np.array([0.95, 0.91, 0.55, 0.55, 1.0])
    right = np.array([1.0, 0.0, 1.0, 0.0, 1.0])
    bins = reliability_bins(confidence, right)
    assert [(found.low, found.n, found.accuracy) for found in bins] == [
        (0.5, 2, 0.5),
        (0.9, 3, pytest.approx(2 / 3)),
    ]
    gaps = 2 * abs(0.55 - 0.5) + 3 * abs((0.95 + 0.91 + 1.0) / 3 - 2 / 3)
    found = calibration_error(confidence, right, alone(5), n_unscored=1)
    assert (found.value, found.low, found.n_unscored) == (pytest.approx(gaps / 5), None, 1)
