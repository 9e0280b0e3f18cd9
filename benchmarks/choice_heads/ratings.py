"""A head for ratings: fitted so that the preferred response is the higher rated one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, softmax

from autoj.backends._choice_heads import QUESTIONS
from benchmarks.choice_heads.reading import LABELS, Floats, Read

RATINGS = np.arange(1, 11)
STEPS = np.array(QUESTIONS["rating"].moves[0])
VOTES_SLOPE, RIGHT_SLOPE = 0.4, 1.0
"""Log-odds of a point between two ratings: that the better one is voted for, that it is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Decided pairs, the preferred response first."""

    states: Floats
    """[n, 2, width]"""
    logprobs: Floats
    """[n, 2, 10]"""
    n_characters: Floats
    """[n, 2]"""

    def __len__(self) -> int:
        return len(self.states)

    def ratings(self, weight: Floats, bias: float) -> tuple[Floats, Floats]:
        """The expected ratings under a head, [n, 2], and their variances."""
        outputs = self.states @ weight + bias
        shares = softmax(self.logprobs + outputs[..., None] * STEPS, axis=-1)
        means = shares @ RATINGS
        return means, shares @ RATINGS**2 - means**2


def decided(pairs: Read) -> Pairs:
    """The pairs without ties."""
    kept = pairs[pairs.labels < LABELS.index("tie")]
    rows = np.arange(len(kept))[:, None]
    order = np.stack([kept.labels, 1 - kept.labels], axis=1)
    return Pairs(
        states=kept.states[rows, order],
        logprobs=kept.logprobs[rows, order],
        n_characters=kept.n_characters[rows, order],
    )


def fit(votes: Pairs, right: Pairs, *, share_right: float, penalty: float) -> tuple[Floats, float]:
    """The weight of a head and its bias.

    Args:
        votes: pairs that people decided.
        right: pairs of which one response is right.
        share_right: the weight of one of these beside one of the former.
        penalty: of the squared weight, in units of the states' standard deviations; the loss is a
            mean over pairs.
    """
    both = [votes, right]
    every = np.concatenate([pairs.states.reshape(-1, pairs.states.shape[-1]) for pairs in both])
    mean, spread = every.mean(0), every.std(0) + 1e-6
    slopes = np.repeat([VOTES_SLOPE, RIGHT_SLOPE], [len(pairs) for pairs in both])
    weights = np.repeat([1.0, share_right], [len(pairs) for pairs in both])
    weights /= weights.sum()
    together = Pairs(
        states=np.concatenate([(pairs.states - mean) / spread for pairs in both]),
        logprobs=np.concatenate([pairs.logprobs for pairs in both]),
        n_characters=np.concatenate([pairs.n_characters for pairs in both]),
    )

    def loss(weight: Floats) -> tuple[float, Floats]:
        ratings, variances = together.ratings(weight, 0.0)
        margins = slopes * (ratings[:, 0] - ratings[:, 1])
        pulls = -weights * slopes * expit(-margins)
        by_state = np.einsum("n,nr,nrw->w", pulls, variances * [1, -1], together.states)
        value = float(weights @ np.logaddexp(0, -margins) + penalty * weight @ weight)
        return value, by_state + 2 * penalty * weight

    found = minimize(loss, np.zeros(len(mean)), jac=True, method="L-BFGS-B").x / spread
    return found, float(-found @ mean)


def figures(pairs: Pairs, weight: Floats, bias: float) -> dict[str, float]:
    """The accuracy of the ratings, their log-loss at the best slope, and how far they spread."""
    ratings, _ = pairs.ratings(weight, bias)
    margins = ratings[:, 0] - ratings[:, 1]
    losses = [np.logaddexp(0, -slope * margins).mean() for slope in np.geomspace(0.02, 4, 60)]
    return {
        "accuracy": float((margins > 0).mean()),
        "log_loss": float(min(losses)),
        "mean": float(ratings.mean()),
        "sd": float(ratings.std()),
        "n": len(pairs),
        "longer": float((np.sign(margins) == np.sign(-np.diff(pairs.n_characters)[:, 0])).mean()),
    }
