"""Losses: what they are by hand, and what they must not depend on."""

from __future__ import annotations

import math
from typing import Any

import pytest

from autoj.records import WINNERS, Winner
from autoj.training.judge.losses import comparison_losses
from autoj.training.judge.recipe import Objective

torch = pytest.importorskip("torch")

OBJECTIVE = Objective(kind="preference", protocol="pairwise-by-rating", temperature=2.0, tie=0.3)


def loss_of(first: float, second: float, shares: tuple[float, float, float]) -> float:
    settings = torch.tensor([[2.0, 0.3, 1.0, 0.0]])
    found = comparison_losses(torch.tensor([first - second]), torch.tensor([shares]), settings)
    return float(found)


def loss_of_label(difference: Any, winner: Winner, objective: Objective) -> Any:
    """Rao and Kupper's model written out for one label."""
    x, t = difference / objective.temperature, torch.tensor(objective.tie)
    log_a = torch.nn.functional.logsigmoid(x - t)
    log_b = torch.nn.functional.logsigmoid(-x - t)
    if winner == "tie":
        band = torch.log(torch.expm1(2 * t)) if objective.tie else 0.0
        return -objective.tie_weight * (log_a + log_b + band)
    right, wrong = (log_a, log_b) if winner == "a" else (log_b, log_a)
    share = objective.label_smoothing
    return -((1 - share) * right + share * wrong)


def test_the_three_outcomes_have_probabilities_that_sum_to_one() -> None:
    certain = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    losses = [loss_of(7.0, 4.0, shares) for shares in certain]
    assert sum(math.exp(-loss) for loss in losses) == pytest.approx(1, abs=1e-5)
    # P(a) = sigmoid((7 - 4) / 2 - 0.3)
    assert math.exp(-losses[0]) == pytest.approx(1 / (1 + math.exp(-1.2)), abs=1e-5)
    for loss, winner in zip(losses, WINNERS, strict=True):
        by_hand = loss_of_label(torch.tensor(3.0), winner, OBJECTIVE)
        assert loss == pytest.approx(float(by_hand), abs=1e-5)


def test_a_soft_label_weighs_each_outcome_by_its_share() -> None:
    whole = [loss_of(6.0, 5.0, shares) for shares in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    assert len({round(loss, 4) for loss in whole}) == 3
    expected = 0.5 * whole[0] + 0.2 * whole[1] + 0.3 * whole[2]
    assert loss_of(6.0, 5.0, (0.5, 0.2, 0.3)) == pytest.approx(expected, abs=1e-5)


def test_exchanging_the_responses_and_their_shares_changes_nothing() -> None:
    one, other = loss_of(8.0, 3.0, (0.7, 0.1, 0.2)), loss_of(3.0, 8.0, (0.1, 0.7, 0.2))
    assert one == pytest.approx(other, abs=1e-5)
