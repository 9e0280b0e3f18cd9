"""Loss functions: differentiable, from torch tensors to one number per sample.

Shapes: `n` samples, `c` choices, `m` tokens of the target text, `v` tokens of the vocabulary.
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
    """Computes the mean negative log-likelihood of the target text, the end token included.

    Args:
        logits: [m, v], each at the position before its target token.
        tokens: [m], the target tokens.
    """
    import torch

    return torch.nn.functional.cross_entropy(logits, tokens)


def choice_loss(logprobs: Tensor, weights: tuple[float, ...]) -> Tensor:
    """Computes the cross entropy of whole choices against their target probabilities.

    The log-probabilities are of the strings themselves and not normalised over the choices, so
    probability given to any other string adds to the loss.

    Args:
        logprobs: [c], natural logarithms.
        weights: the target probability of each choice; they sum to 1.
    """
    return -(logprobs * logprobs.new_tensor(weights)).sum()


def expected_rating(logprobs: Tensor) -> Tensor:
    """Computes the mean of the rating distribution as `single-verdict` reads it, from 1 to 10.

    Args:
        logprobs: [10], log-probabilities of the ratings 1 to 10.
    """
    return (logprobs.softmax(dim=-1) * logprobs.new_tensor(RATINGS)).sum()


def preference_loss(first: Tensor, second: Tensor, winner: Winner, objective: Objective) -> Tensor:
    """Computes the loss of a label under Rao and Kupper's model of pairs with ties.

    The loss is the negative log-likelihood. With x the difference of the ratings over the
    temperature and t half the tie band, P(a) = sigmoid(x - t), P(b) = sigmoid(-x - t), and a tie
    has the rest.

    Args:
        first: the rating or score of the first response, a scalar tensor.
        second: the same of the second.
        winner: the label.
        objective: its temperature, tie band, label smoothing and weight of ties.
    """
    import torch

    difference = (first - second) / objective.temperature
    log_a = torch.nn.functional.logsigmoid(difference - objective.tie)
    log_b = torch.nn.functional.logsigmoid(-difference - objective.tie)
    if winner == "tie":
        # 1 - P(a) - P(b) = P(a) P(b) (e^(2t) - 1). Without a band ties have no probability; the
        # loss of a tie then only pulls the ratings together.
        band = torch.expm1(2 * difference.new_tensor(objective.tie))
        spread = log_a + log_b
        return -objective.tie_weight * (spread + torch.log(band) if objective.tie else spread)
    right, wrong = (log_a, log_b) if winner == "a" else (log_b, log_a)
    share = objective.label_smoothing
    return -((1 - share) * right + share * wrong)


def comparison_loss(
    first: Tensor, second: Tensor, shares: tuple[float, float, float], objective: Objective
) -> Tensor:
    """Computes the cross entropy of a comparison against the labels of several annotators.

    Args:
        first: the rating or score of the first response, a scalar tensor.
        second: the same of the second.
        shares: the shares of labels for the first, the second, and a tie.
        objective: as in `preference_loss`.
    """
    import torch

    losses = [
        share * preference_loss(first, second, winner, objective)
        for winner, share in zip(WINNERS, shares, strict=True)
        if share
    ]
    return torch.stack(losses).sum()
