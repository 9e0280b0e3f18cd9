"""A head for comparisons: fitted to what people chose, in both orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from autoj.backends._choice_heads import QUESTIONS
from benchmarks.choice_heads.reading import LABELS, Floats, Read, joined

_MOVES = np.array(QUESTIONS["comparison"].moves)
_EXCHANGED = [1, 0, 2]
"""The choices in the other order: which of a, b and tie is first, second and tie."""


def fit(
    votes: Read, right: Read, *, share_right: float, penalties: tuple[float, float]
) -> tuple[Floats, Floats]:
    """The weight of a head, [2, width], and its bias, [2].

    The loss is the negative log-likelihood of the labels, each in both orders.

    Args:
        votes: pairs that people judged, ties among them.
        right: pairs of which one response is right.
        share_right: the weight of one of these beside one of the former.
        penalties: of half the squared weight of the order and of the tie, where states have a
            mean square of 1 around their mean; biases are free.
    """
    both = joined([votes, right])
    states = both.states.reshape(2 * len(both), -1)
    mean = states.mean(0)
    scale = np.sqrt(((states - mean) ** 2).sum(1).mean())
    states = (states - mean) / scale
    logprobs = both.logprobs.reshape(2 * len(both), 3)
    chosen = np.eye(3)[_shown(both.labels).reshape(-1)]
    shares = np.repeat([1.0, share_right], [2 * len(votes), 2 * len(right)])[:, None]
    penalty = np.array(penalties)[:, None]

    def loss(flat: Floats) -> tuple[float, Floats]:
        weight, bias = flat[:-2].reshape(2, -1), flat[-2:]
        scores = log_softmax(logprobs + (states @ weight.T + bias) @ _MOVES, axis=1)
        pulls = (shares * (np.exp(scores) - chosen)) @ _MOVES.T
        value = -(shares * scores * chosen).sum() + (penalty * weight**2).sum() / 2
        slopes = pulls.T @ states + penalty * weight
        return float(value), np.concatenate([slopes.reshape(-1), pulls.sum(0)])

    options = {"maxiter": 1000}
    start = np.zeros(2 * states.shape[1] + 2)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    weight, bias = found[:-2].reshape(2, -1) / scale, found[-2:]
    return weight, bias - weight @ mean


def _shown(labels: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The right choice in each order, [n, 2]."""
    return np.stack([labels, np.array(_EXCHANGED)[labels]], axis=1)


def chances(pairs: Read, weight: Floats, bias: Floats) -> Floats:
    """The probabilities of a, b and tie under a head in each order, [n, 2, 3]."""
    outputs = pairs.states @ weight.T + bias
    shown: Floats = softmax(pairs.logprobs + outputs @ _MOVES, axis=-1)
    return np.stack([shown[:, 0], shown[:, 1][:, _EXCHANGED]], axis=1)


def figures(pairs: Read, weight: Floats, bias: Floats) -> dict[str, float]:
    """Agreement and consistency of both orders, and what their average is worth."""
    each = chances(pairs, weight, bias)
    mean, winners = each.mean(1), each.argmax(-1)
    agrees: npt.NDArray[Any] = (winners == pairs.labels[:, None]).all(1)
    decided = pairs.labels < LABELS.index("tie")
    sides = mean[:, :2].argmax(1)
    longer = np.diff(pairs.n_characters)[:, 0]
    rows = np.arange(len(pairs))
    return {
        "agreement": float(agrees.mean()),
        "consistency": float((winners[:, 0] == winners[:, 1]).mean()),
        "averaged": float((mean.argmax(1) == pairs.labels).mean()),
        "decided": float((sides == pairs.labels)[decided].mean()),
        "log_loss": float(-np.log(mean[rows, pairs.labels]).mean()),
        "ties": float((winners == LABELS.index("tie")).mean()),
        "longer": float((sides == (longer > 0)).mean()),
        "n": len(pairs),
    }
