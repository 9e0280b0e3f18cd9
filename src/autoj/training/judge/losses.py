"""The losses: torch tensors in, one number per sample out; each can be differentiated.

Notation of shapes: `n` samples, `c` choices, `m` tokens to write, `v` tokens of the vocabulary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoj.protocols.single import RATINGS
from autoj.records import WINNERS, Winner
from autoj.training.judge.recipe import Objective

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["choice_loss", "comparison_loss", "expected_rating", "preference_loss", "written_loss"]


def written_loss(logits: Tensor, tokens: Tensor) -> Tensor:
    """The mean negative log-likelihood of what is to be written, the end token included.

    Args:
        logits: [m, v] of what follows each token before the one to be written.
        tokens: [m]
    """
    import torch

    return torch.nn.functional.cross_entropy(logits, tokens)


def choice_loss(logprobs: Tensor, weights: tuple[float, ...]) -> Tensor:
    """The cross entropy of whole choices to the probabilities that they should have.

    The log-probabilities are of all strings, not among the choices alone: what a model gives to
    strings off the menu is a loss, too.

    Args:
        logprobs: [c], natural.
        weights: one per choice; they sum to 1.
    """
    return -(logprobs * logprobs.new_tensor(weights)).sum()


def expected_rating(logprobs: Tensor) -> Tensor:
    """The mean of the rating distribution, as `single-verdict` reads it: a number from 1 to 10.

    Args:
        logprobs: [10], of the ratings 1 to 10.
    """
    return (logprobs.softmax(dim=-1) * logprobs.new_tensor(RATINGS)).sum()


def preference_loss(first: Tensor, second: Tensor, winner: Winner, objective: Objective) -> Tensor:
    """The negative log-likelihood of a label under Rao and Kupper's model of pairs with ties.

    With x the difference of the ratings over the temperature and t half the tie band,
    P(a) = sigmoid(x - t), P(b) = sigmoid(-x - t), and a tie has the rest.

    Args:
        first: the rating or score of the first response, a number.
        second: of the second.
        winner: the label.
        objective: its temperature, tie band, smoothing and weight of ties.
    """
    import torch

    difference = (first - second) / objective.temperature
    log_a = torch.nn.functional.logsigmoid(difference - objective.tie)
    log_b = torch.nn.functional.logsigmoid(-difference - objective.tie)
    if winner == "tie":
        # 1 - P(a) - P(b) = P(a) P(b) (e^(2t) - 1); with no band there is no tie, and a label of
        # one still pulls the ratings together.
        band = torch.expm1(2 * difference.new_tensor(objective.tie))
        spread = log_a + log_b
        return -objective.tie_weight * (spread + torch.log(band) if objective.tie else spread)
    right, wrong = (log_a, log_b) if winner == "a" else (log_b, log_a)
    share = objective.label_smoothing
    return -((1 - share) * right + share * wrong)


def comparison_loss(
    first: Tensor, second: Tensor, shares: tuple[float, float, float], objective: Objective
) -> Tensor:
    """The cross entropy of a comparison to the labels that several judges of it gave.

    Args:
        first: the rating or score of the first response, a number.
        second: of the second.
        shares: of the labels, how many parts named the first, the second, and neither.
        objective: as of `preference_loss`.
    """
    import torch

    losses = [
        share * preference_loss(first, second, winner, objective)
        for winner, share in zip(WINNERS, shares, strict=True)
        if share
    ]
    return torch.stack(losses).sum()
