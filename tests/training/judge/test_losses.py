"""Losses: what they are by hand, and what they must not depend on."""

from __future__ import annotations

import math

import pytest

from autoj.records import WINNERS
from autoj.training.judge.losses import comparison_loss, preference_loss
from autoj.training.judge.recipe import Objective

torch = pytest.importorskip("torch")

OBJECTIVE = Objective(kind="preference", protocol="pairwise-by-rating", temperature=2.0, tie=0.3)


def loss_of(first: float, second: float, shares: tuple[float, float, float]) -> float:
    return float(comparison_loss(torch.tensor(first), torch.tensor(second), shares, OBJECTIVE))


def test_the_three_outcomes_have_probabilities_that_sum_to_one() -> None:
    ratings = torch.tensor(7.0), torch.tensor(4.0)
    losses = [float(preference_loss(*ratings, winner, OBJECTIVE)) for winner in WINNERS]
    assert sum(math.exp(-loss) for loss in losses) == pytest.approx(1, abs=1e-5)
    # P(a) = sigmoid((7 - 4) / 2 - 0.3)
    assert math.exp(-losses[0]) == pytest.approx(1 / (1 + math.exp(-1.2)), abs=1e-5)


def test_a_soft_label_weighs_each_outcome_by_its_share() -> None:
    whole = [loss_of(6.0, 5.0, shares) for shares in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    assert len({round(loss, 4) for loss in whole}) == 3
    expected = 0.5 * whole[0] + 0.2 * whole[1] + 0.3 * whole[2]
    assert loss_of(6.0, 5.0, (0.5, 0.2, 0.3)) == pytest.approx(expected, abs=1e-5)


def test_exchanging_the_responses_and_their_shares_changes_nothing() -> None:
    one, other = loss_of(8.0, 3.0, (0.7, 0.1, 0.2)), loss_of(3.0, 8.0, (0.1, 0.7, 0.2))
    assert one == pytest.approx(other, abs=1e-5)
