"""Kappa, biases and calibration, by cases computed by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from autoj.metrics import Row, averaged_accuracy, calibration, kappa, length_bias, position_bias
from autoj.records import Winner

UNKNOWN = Row(cluster=0, label=None, winner=None, winners=(), consistent=None, scenario=None)


def one_order(label: Winner | None, winner: Winner | None, cluster: int = 0) -> Row:
    return Row(
        cluster=cluster,
        label=label,
        winner=winner,
        winners=(winner,),
        consistent=None,
        scenario=None,
    )


def sure(label: Winner, probabilities: tuple[float, float, float] | None, cluster: int = 0) -> Row:
    return Row(
        cluster=cluster,
        label=label,
        winner=None,
        winners=(),
        consistent=None,
        scenario=None,
        probabilities=probabilities,
    )


def of_lengths(label: Winner, winner: Winner | None, lengths: tuple[int, int], cluster: int) -> Row:
    return Row(
        cluster=cluster,
        label=label,
        winner=winner,
        winners=(),
        consistent=None,
        scenario=None,
        lengths=lengths,
    )


def both_orders(*winners: Winner | None, cluster: int = 0) -> Row:
    return Row(
        cluster=cluster, label=None, winner=None, winners=winners, consistent=None, scenario=None
    )


def test_kappa_is_what_agreement_is_above_chance() -> None:
    # Label a: 20 judged a, 5 b. Label b: 10 judged a, 15 b. po = 35/50, pe = (25*30 + 25*20)/2500.
    table: list[tuple[Winner, Winner, int]] = [
        ("a", "a", 20), ("a", "b", 5), ("b", "a", 10), ("b", "b", 15),
    ]  # fmt: skip
    rows = [
        one_order(label, winner, cluster=index * 100 + number)
        for index, (label, winner, n) in enumerate(table)
        for number in range(n)
    ]
    found = kappa.compute(rows)
    assert found.value == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert found.low is not None
    assert found.high is not None
    # The textbook standard error of this table is 0.130.
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * 0.130, rel=0.12)


def test_kappa_of_one_class_alone_has_a_reason_and_no_number() -> None:
    found = kappa.compute([one_order("a", "a", cluster=number) for number in range(9)])
    assert found.value is None
    assert "a single class only" in str(found.reason)


def test_a_judge_that_says_one_thing_only_has_a_kappa_of_zero_and_no_made_up_interval() -> None:
    labels: list[Winner] = ["a", "b", "tie", "a"] * 5
    rows = [one_order(label, "a", cluster=index) for index, label in enumerate(labels)]
    found = kappa.compute(rows)
    assert found.value == pytest.approx(0)
    assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize(
    ("winners", "bias"),
    [(("a", "b"), 1.0), (("b", "a"), -1.0), (("a", "a"), 0.0), (("tie", "tie"), 0.0)],
)
def test_position_bias_is_signed(winners: tuple[Winner, Winner], bias: float) -> None:
    found = position_bias.compute([both_orders(*winners, cluster=number) for number in range(20)])
    assert found.value == bias
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low <= bias <= found.high <= 1
    assert found.high - found.low > 0


def test_position_bias_weighs_a_half_decided_pair_by_half_and_leaves_out_the_unread() -> None:
    rows = [both_orders("a", "tie"), both_orders("tie", "tie"), both_orders("a", None)]
    found = position_bias.compute(rows)
    assert (found.value, found.n, found.n_unscored) == (0.25, 2, 1)
    assert found.bounds == pytest.approx((-1 / 6, 1 / 2))


def test_length_bias_is_the_judges_share_less_the_human_share() -> None:
    rows = [
        of_lengths("a", "a", (9, 1), 0),  # both for the longer
        of_lengths("b", "a", (9, 1), 1),  # the judge alone
        of_lengths("tie", "a", (9, 1), 2),  # people decide nothing
        of_lengths("b", "tie", (9, 1), 3),  # the judge decides nothing
        of_lengths("a", "a", (5, 5), 4),  # neither is longer: unscored
        of_lengths("a", None, (9, 1), 5),  # no verdict: unscored
    ]
    found = length_bias.compute(rows)
    assert found.value == pytest.approx(3 / 3 - 1 / 3)
    assert (found.n, found.n_unscored) == (4, 2)


def test_the_share_for_the_longer_response_counts_decided_pairs_alone() -> None:
    rows = [
        of_lengths("a", "a", (9, 1), 0),
        of_lengths("a", "b", (9, 1), 1),
        of_lengths("a", "tie", (9, 1), 2),
        of_lengths("a", "a", (3, 3), 3),
    ]
    found = length_bias.share_of_longer("longer", rows, lambda row: row.winner)
    assert (found.value, found.n) == (0.5, 2)


@pytest.mark.parametrize(
    ("lengths", "close"),
    [((100, 90), True), ((100, 89), False), ((0, 0), True), ((0, 1), False), (None, False)],
)
def test_pairs_are_close_in_length_within_a_tenth_of_the_longer(
    lengths: tuple[int, int] | None, close: bool
) -> None:
    row = Row(
        cluster=0,
        label=None,
        winner=None,
        winners=(),
        consistent=None,
        scenario=None,
        lengths=lengths,
    )
    assert length_bias.is_close_in_length(row) is close


def test_the_brier_score_sums_over_the_three_outcomes() -> None:
    rows = [
        sure("a", (1.0, 0.0, 0.0)),
        sure("a", (0.0, 1.0, 0.0), 1),
        sure("b", (0.2, 0.5, 0.3), 2),
    ]
    found = calibration.compute(rows)
    assert found.value == pytest.approx((0 + 2 + (0.04 + 0.25 + 0.09)) / 3)
    third = calibration.compute([sure("tie", (1 / 3, 1 / 3, 1 / 3))])
    assert third.value == pytest.approx(2 / 3)


def test_the_calibration_error_is_the_gap_between_confidence_and_accuracy() -> None:
    # Eight of ten right at 0.8: no gap. Five of ten right at 0.95: a gap of 0.45.
    rows = [sure("a" if n < 8 else "b", (0.8, 0.1, 0.1), n) for n in range(10)]
    rows += [sure("a" if n < 5 else "b", (0.95, 0.03, 0.02), 10 + n) for n in range(10)]
    found = calibration.expected_calibration_error(rows)
    assert found.value == pytest.approx(0.45 / 2)
    bins = calibration.reliability(rows)
    assert [(found.n, round(found.confidence, 2), found.accuracy) for found in bins] == [
        (10, 0.8, 0.8),
        (10, 0.95, 0.5),
    ]


def test_certainty_falls_into_the_last_bin() -> None:
    (only,) = calibration.reliability([sure("a", (1.0, 0.0, 0.0))])
    assert (only.low, only.high, only.accuracy) == (0.9, 1.0, 1.0)


def simulated(n: int, accuracy: float, seed: int) -> Sequence[Row]:
    draw = random.Random(seed)
    return [
        sure("a" if draw.random() < accuracy else "b", (0.75, 0.15, 0.1), cluster)
        for cluster in range(n)
    ]


def test_a_calibration_error_is_near_the_known_gap_and_claims_no_interval() -> None:
    found = calibration.expected_calibration_error(simulated(400, accuracy=0.55, seed=3))
    assert found.value == pytest.approx(0.20, abs=0.06)
    assert (found.low, found.high) == (None, None)


def test_averaged_accuracy_counts_the_averaged_verdict_and_not_the_orders() -> None:
    row = both_orders("a", "b")
    rows = [
        Row(
            cluster=index,
            label=label,
            winner=None,
            winners=row.winners,
            consistent=False,
            scenario=None,
            averaged=averaged,
        )
        for index, (label, averaged) in enumerate(
            [("a", "a"), ("b", "a"), ("tie", "tie"), ("a", None), (None, "a")]  # type: ignore[list-item]
        )
    ]
    found = averaged_accuracy.compute(rows)
    assert (found.value, found.n, found.n_unscored) == (2 / 3, 3, 1)
