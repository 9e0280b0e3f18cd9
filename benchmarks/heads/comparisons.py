"""A head for comparisons, by which a verdict depends less on which response is shown first.

In two orders a judge prefers one response twice, or the first place twice. Half the sum of its two
log-odds of the first response is the preference for the place, which ought to be none; a head is
fitted to predict it from the state of either order alone, and takes it away. Nobody's votes are
needed for that, so it learns neither people's taste nor their errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from autoj.backends._heads import Head, comparison_head
from benchmarks.heads.reading import LABELS, Floats, Pairs

_N_FOLDS = 10
_SHOWN = np.array([[0, 1, 2], [1, 0, 2]])
"""Which of `LABELS` each choice stands for, by the order in which responses are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A head, and what heads that were fitted to other pairs of the same file make of each."""

    head: Head
    held_out: Floats
    """The choices' log-probabilities as these heads move them, [n, 2, 3], not normalised."""


def fit(pairs: Pairs, penalty: float) -> Fitted:
    """A head that takes away the preference for a place, and leaves verdicts as far apart.

    Args:
        pairs: in both orders; labels are not read.
        penalty: of the squared weight, in units of the states' standard deviations; the loss is a
            sum over readings.
    """
    log_odds = _log_odds(pairs.logprobs)
    states = pairs.states.reshape(-1, pairs.states.shape[-1])
    wanted = np.repeat(-log_odds.mean(1), 2)
    model = make_pipeline(StandardScaler(), Ridge(alpha=penalty))
    # Both readings of a pair are held out together.
    folds = np.random.default_rng(0).permutation(len(pairs)) % _N_FOLDS
    held_out = PredefinedSplit(np.repeat(folds, 2))
    outputs = cross_val_predict(model, states, wanted, cv=held_out).reshape(-1, 2)
    sharpness = float(_content(log_odds).std() / _content(log_odds + outputs).std())
    scaler, ridge = (step for _, step in model.fit(states, wanted).steps)
    weight = ridge.coef_ / scaler.scale_
    head = comparison_head(weight, float(ridge.intercept_ - weight @ scaler.mean_), sharpness)
    moved = sharpness * (pairs.logprobs + outputs[..., None] * head.steps)
    return Fitted(head=head, held_out=moved)


def _log_odds(scores: Floats) -> Floats:
    """The log-odds of the response that is shown first against the second, [n, 2]."""
    found: Floats = scores[..., 0] - scores[..., 1]
    return found


def _content(log_odds: Floats) -> Floats:
    """The log-odds of response A against B, the mean of both orders, [n]."""
    found: Floats = (log_odds[:, 0] - log_odds[:, 1]) / 2
    return found


def figures(scores: Floats, pairs: Pairs) -> dict[str, float]:
    """What both orders agree on, and how right they are.

    Args:
        scores: the choices' log-probabilities, [n, 2, 3].
        pairs: with their labels, and their log-probabilities without a head.
    """
    log_odds = _log_odds(scores)
    content = _content(log_odds)
    winners = np.stack([_SHOWN[order][scores[:, order].argmax(1)] for order in (0, 1)], axis=1)
    right = winners == pairs.labels[:, None]
    decided = pairs.labels < LABELS.index("tie")
    longer = -np.diff(pairs.n_characters)[:, 0] > 0
    return {
        "n": len(pairs),
        "decided": int(decided.sum()),
        # The spread of the preference for a place, in units of that of the preference for one.
        "place": float(np.sqrt((log_odds.mean(1) ** 2).mean()) / content.std()),
        "spread": float(content.std()),
        "consistency": float((winners[:, 0] == winners[:, 1]).mean()),
        "agreement": float(right.all(1).mean()),
        "one_order_right": float(right.mean()),
        "decided_averaged_right": float(((content > 0) == (pairs.labels == 0))[decided].mean()),
        "ties": float((winners == LABELS.index("tie")).mean()),
        "longer": float(((content > 0) == longer).mean()),
    }
