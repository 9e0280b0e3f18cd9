"""A head for ratings: by which the response that people chose, or that is right, is rated higher.

What the last state of an embedded judge knows of people's votes is not all in its ratings. Of votes
people chose one response, so that even a much better one loses at times; of right pairs one is
right. Pairs that the judge was trained on tell nothing: its ratings of them are learnt by heart.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, softmax

from autoj.backends._heads import Head, rating_head
from benchmarks.heads.reading import Floats, Pairs

_RATINGS = np.arange(1, 11)
VOTES_SLOPE, RIGHT_SLOPE = 0.4, 1.0
"""Log-odds of a point between two ratings: that the better one is voted for, that it is right."""


def expected(pairs: Pairs, head: Head | None) -> tuple[Floats, Floats]:
    """The expected ratings of both responses, [n, 2], and their variances."""
    scores = pairs.logprobs if head is None else head.apply(pairs.logprobs, pairs.states)
    shares = softmax(scores, axis=-1)
    means = shares @ _RATINGS
    return means, shares @ _RATINGS**2 - means**2


def fit(votes: Pairs, right: Pairs, *, share_right: float, penalty: float) -> Head:
    """A head by which the preferred response is the higher rated one, and ratings spread as before.

    Args:
        votes: pairs that people decided, the chosen response first.
        right: pairs of which one response is right, which is first.
        share_right: the weight of one of these beside one of the former.
        penalty: of the squared weight, in units of the states' standard deviations; the loss is
            a mean over pairs.
    """
    both = [votes, right]
    every = np.concatenate([pairs.states.reshape(-1, pairs.states.shape[-1]) for pairs in both])
    mean, spread = every.mean(0), every.std(0) + 1e-6
    slopes = np.repeat([VOTES_SLOPE, RIGHT_SLOPE], [len(pairs) for pairs in both])
    weights = np.repeat([1.0, share_right], [len(pairs) for pairs in both])
    weights /= weights.sum()
    joined = Pairs(
        states=np.concatenate([(pairs.states - mean) / spread for pairs in both]),
        logprobs=np.concatenate([pairs.logprobs for pairs in both]),
        n_characters=np.concatenate([pairs.n_characters for pairs in both]),
        labels=np.concatenate([pairs.labels for pairs in both]),
    )

    def loss(weight: Floats) -> tuple[float, Floats]:
        ratings, variances = expected(joined, rating_head(weight, 0.0))
        margins = slopes * (ratings[:, 0] - ratings[:, 1])
        pulls = -weights * slopes * expit(-margins)
        by_state = np.einsum("n,nr,nrw->w", pulls, variances * [1, -1], joined.states)
        value = float(weights @ np.logaddexp(0, -margins) + penalty * weight @ weight)
        return value, by_state + 2 * penalty * weight

    found = minimize(loss, np.zeros(len(mean)), jac=True, method="L-BFGS-B").x / spread
    head = rating_head(found, float(-found @ mean))
    return replace(head, sharpness=_sharpness(votes, head))


def _sharpness(votes: Pairs, head: Head) -> float:
    """The sharpness from 0.5 to 2 by which ratings of votes vary most nearly as without a head."""
    wanted = expected(votes, None)[0].std()

    def apart(sharpness: float) -> float:
        return float((expected(votes, replace(head, sharpness=sharpness))[0].std() - wanted) ** 2)

    return float(minimize_scalar(apart, bounds=(0.5, 2.0), method="bounded").x)


def figures(pairs: Pairs, head: Head | None) -> dict[str, float]:
    """The accuracy of the ratings, their log-loss at the best slope, and how far they spread."""
    ratings, _ = expected(pairs, head)
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
