"""`metrics.FullAsking`: what asking everything would give, from a random share that was."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.coverage import (
    TRUE_ACCURACY_IN_FULL,
    TRUE_CONSISTENCY_IN_FULL,
    Figure,
    coverage,
    in_full,
)

from autoj.metrics import FullAsking, Row
from autoj.metrics.base import proportion_of
from autoj.records import Estimate, Winner

from ..intervals import check


def row(cluster: int, winners: tuple[Winner, ...], winner: Winner | None = None) -> Row:
    same = len(set(winners)) == 1
    return Row(cluster, "a", winner or winners[0], winners, same, None)


def estimates(asked: FullAsking) -> dict[str, Estimate]:
    return {found.name: found for found in asked.estimates()}


def test_the_share_that_was_drawn_corrects_the_rest() -> None:
    asked = FullAsking(orders=True)
    for number in range(400):
        sure = row(number, ("a", "a"))
        # Half of the drawn pairs turn out to disagree, and to be b's.
        full = row(number, ("a", "b"), "b") if number % 8 == 0 else sure
        asked.add(sure, full if number % 4 == 0 else None, sure=True)
    found = estimates(asked)
    for name in ("consistency", "verdict accuracy", "agreement", "win rate"):
        each = found[f"{name}, all in full"]
        assert each.value == pytest.approx(0.5), name
        assert (each.n, each.n_clusters) == (400, 400)
        check(each)
        assert each.low is not None
        assert each.high is not None
        assert each.low > 0.35
        assert each.high < 0.65


def test_where_everything_was_drawn_it_is_the_plain_figure() -> None:
    asked, draw = FullAsking(orders=True), np.random.default_rng(1)
    right = draw.random(200) < 0.7
    for number, each in enumerate(right):
        full = row(number, ("a", "a") if each else ("a", "b"), "a" if each else "b")
        asked.add(row(number, ("a", "a")), full, sure=True)
    found = estimates(asked)
    assert found["verdict accuracy, all in full"].value == pytest.approx(right.mean())
    for name in ("consistency", "agreement"):
        each, plain = found[f"{name}, all in full"], proportion_of("", right * 1.0, np.arange(200))
        assert (each.value, each.low, each.high) == pytest.approx(
            (plain.value, plain.low, plain.high), abs=1e-3
        )


def test_nothing_drawn_gives_no_figure_and_the_reason() -> None:
    asked = FullAsking(orders=True)
    for number in range(20):
        asked.add(row(number, ("a", "a")), None, sure=True)
    found = estimates(asked)
    for name, what in (("win rate", "a verdict of all questions"),
                       ("consistency", "a sure first order and a verdict of both")):  # fmt: skip
        each = found[f"{name}, all in full"]
        assert each.value is None
        assert each.reason == f"no pair of the random share has {what}"


def test_where_no_first_order_is_sure_it_is_the_plain_figure() -> None:
    asked = FullAsking(orders=True)
    for number in range(40):
        full = row(number, ("a", "b") if number % 4 == 0 else ("a", "a"))
        asked.add(full, full if number == 0 else None, sure=False)
    each = estimates(asked)["consistency, all in full"]
    plain = proportion_of("", np.arange(40) % 4 > 0, np.arange(40))
    assert (each.value, each.low, each.high) == pytest.approx((0.75, plain.low, plain.high))


def test_where_no_drawn_pair_turns_the_interval_says_how_many_may() -> None:
    widths = []
    for n_drawn in (10, 20, 40, 80):
        asked = FullAsking(orders=True)
        for number in range(10 * n_drawn):
            sure = row(number, ("a", "a"))
            asked.add(sure, sure if number % 10 == 0 else None, sure=True)
        each = estimates(asked)["consistency, all in full"]
        check(each)
        assert (each.value, each.high) == (1.0, 1.0)
        assert each.low is not None
        widths.append(1 - each.low)
    # About 2.5 of the sample: at that rate one sample in twelve has no pair that turns.
    for n_drawn, width in zip((10, 20, 40, 80), widths, strict=True):
        assert 2 < width * n_drawn < 2.6


def test_judges_in_place_of_orders_have_no_consistency_and_labels_are_not_needed() -> None:
    asked = FullAsking(orders=False)
    for number in range(20):
        plain = row(number, ("a", "a"))._replace(label=None)
        asked.add(plain, plain, sure=True)
    assert set(estimates(asked)) == {"win rate, all in full"}


# In 200 draws the simulation has an error of about 3 points; benchmarks/coverage.py has more.


@pytest.mark.parametrize(
    ("figure", "truth"),
    [("verdict accuracy", TRUE_ACCURACY_IN_FULL), ("consistency", TRUE_CONSISTENCY_IN_FULL)],
)
def test_intervals_hold_the_truth_of_full_asking(figure: str, truth: float) -> None:
    share, without = coverage(Figure(figure, truth, in_full(figure, 0.2)), 150, 100)
    assert share >= 0.91
    assert without <= 0.02


def test_without_the_correction_they_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    class Uncorrected(FullAsking):
        def add(self, cheap: Row, full: Row | None, *, sure: bool) -> None:
            FullAsking.add(self, cheap, cheap, sure=sure)

    monkeypatch.setattr("benchmarks.coverage.FullAsking", Uncorrected)
    figure = Figure("consistency", TRUE_CONSISTENCY_IN_FULL, in_full("consistency", 0.2))
    share, _ = coverage(figure, 400, 40)
    assert share < 0.8
