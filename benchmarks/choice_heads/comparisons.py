"""A head for comparisons: fitted to what people chose, in both orders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from autoj.backends._choice_heads import QUESTIONS
from autoj.calibration.sureness import fit_sureness
from autoj.errors import ConfigError
from benchmarks.choice_heads.reading import LABELS, Floats, Read, joined

_MOVES = np.array(QUESTIONS["comparison"].moves)
N_FOLDS = 8
_EXCHANGED = [1, 0, 2]
"""The choices in the other order: which of a, b and tie is first, second and tie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """Settings of a fit; chosen by `held_out`."""

    share_right: float
    """The weight of a pair of which one response is right, beside that of a vote."""
    penalties: tuple[float, float]
    """Of half the squared weight of the order and of the tie, where states have a mean square of 1
    around their mean; biases are free."""
    share_ties: float
    """The share of the votes that ties are weighted to; people vote about 0.3 where they may, and
    many files have fewer."""


def fit(votes: Read, right: Read, settings: Fitting) -> tuple[Floats, Floats]:
    """The weight of a head, [2, width], and its bias, [2].

    The loss is the negative log-likelihood of the labels, each in both orders.

    Args:
        votes: pairs that people judged, ties among them.
        right: pairs of which one response is right.
        settings: of the fit.
    """
    both = joined([votes, right])
    states = both.states.reshape(2 * len(both), -1)
    mean = states.mean(0)
    scale = np.sqrt(((states - mean) ** 2).sum(1).mean())
    states = (states - mean) / scale
    logprobs = both.logprobs.reshape(2 * len(both), 3)
    chosen = np.eye(3)[_shown(both.labels).reshape(-1)]
    weights = [_weights(votes, settings.share_ties), np.full(len(right), settings.share_right)]
    shares = np.repeat(np.concatenate(weights), 2)[:, None]
    penalty = np.array(settings.penalties)[:, None]

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


def _weights(votes: Read, share_ties: float) -> Floats:
    """The weight of each pair, 1 on the mean, [n]."""
    ties = votes.labels == LABELS.index("tie")
    if not ties.any() or ties.all():
        return np.ones(len(votes))
    share: float = ties.mean()
    weights: Floats = np.where(ties, share_ties / share, (1 - share_ties) / (1 - share))
    return weights


def held_out(votes: Read, right: Read, settings: Fitting) -> tuple[Read, Read]:
    """Both, scored by heads that were fitted without them, in `N_FOLDS` parts."""
    draw = np.random.default_rng(0)
    both = (votes, right)
    orders = [draw.permutation(len(pairs)) for pairs in both]
    scored = [replace(pairs, logprobs=pairs.logprobs.copy()) for pairs in both]
    for fold in range(N_FOLDS):
        left_out = [order[fold::N_FOLDS] for order in orders]
        seen = [np.setdiff1d(order, rows) for order, rows in zip(orders, left_out, strict=True)]
        head = fit(votes[seen[0]], right[seen[1]], settings)
        for pairs, rows, found in zip(both, left_out, scored, strict=True):
            found.logprobs[rows] = moved(pairs[rows], *head).logprobs
    return scored[0], scored[1]


def _shown(labels: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The right choice in each order, [n, 2]."""
    return np.stack([labels, np.array(_EXCHANGED)[labels]], axis=1)


def moved(pairs: Read, weight: Floats, bias: Floats) -> Read:
    """The pairs, scored with a head."""
    moves: Floats = (pairs.states @ weight.T + bias) @ _MOVES
    return replace(pairs, logprobs=pairs.logprobs + moves)


def chances(pairs: Read) -> Floats:
    """The probabilities of a, b and tie in each order, [n, 2, 3]."""
    shown: Floats = softmax(pairs.logprobs, axis=-1)
    return np.stack([shown[:, 0], shown[:, 1][:, _EXCHANGED]], axis=1)


def figures(pairs: Read) -> dict[str, float]:
    """Agreement and consistency of both orders, and what their average is worth."""
    each = chances(pairs)
    mean, winners = each.mean(1), each.argmax(-1)
    agrees: npt.NDArray[Any] = (winners == pairs.labels[:, None]).all(1)
    decided = pairs.labels < LABELS.index("tie")
    sides = mean[:, :2].argmax(1)
    longer = np.diff(pairs.n_characters)[:, 0]
    rows = np.arange(len(pairs))
    return {
        "agreement": float(agrees.mean()),
        "on decided": float(agrees[decided].mean()),
        "consistency": float((winners[:, 0] == winners[:, 1]).mean()),
        "averaged": float((mean.argmax(1) == pairs.labels).mean()),
        "decided": float((sides == pairs.labels)[decided].mean()),
        "log_loss": float(-np.log(mean[rows, pairs.labels]).mean()),
        "ties": float((winners == LABELS.index("tie")).mean()),
        "longer": float((sides == (longer > 0)).mean()),
        "n": len(pairs),
    }


def sureness(pairs: Read, right: float) -> str:
    """The confidence at or above which verdicts are right at a rate, for the judge's card."""
    mean = chances(pairs).mean(1)
    hits = (mean.argmax(1) == pairs.labels).astype(float)
    queries = [str(number) for number in range(len(pairs))]
    try:
        fit = fit_sureness(mean.max(1), hits, queries, right)
    except ConfigError as error:
        return f"nothing is sure: {error}"
    return (
        f"sure from {fit.below} on: {fit.sure.mean():.3f} of {len(pairs)}, "
        f"right {hits[fit.sure].mean():.3f}; by thresholds of other folds "
        f"{hits[fit.held_out].mean():.3f} of {fit.held_out.sum()}"
    )
