"""Fits the weights of style features to human labels, whoever the judge is."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from autoj.calibration.style_features import STYLE_FEATURES, style_features
from autoj.errors import ConfigError
from autoj.records import Case

N_PAIRS_NEEDED = 500
"""The fewest decided pairs: about thirty per feature."""

_PENALTY = 10.0
"""The L2 penalty: half of it times the squared weight (in log-odds per standard deviation), in
nats. It is a normal prior around 0 with a standard deviation of 0.3."""

_FEWEST_DIFFERING = 30
"""A feature that differs in fewer pairs gets no weight: a handful of labels would decide it."""

_Floats = npt.NDArray[np.float64]


class StyleFit(NamedTuple):
    """Weights of style features and the number of pairs behind them."""

    weights: dict[str, float]
    """By feature, the log-odds that one unit adds to a response; features that differ in hardly any
    pair are left out."""
    n_pairs: int
    """Number of decided pairs."""


def fit_style(cases: Sequence[Case]) -> StyleFit:
    """Fits the weights of the style features by penalised likelihood on decided labels.

    Args:
        cases: pairs; those that are not labelled a or b are left out.

    Raises:
        ConfigError: fewer than `N_PAIRS_NEEDED` decided pairs.

    **Source:** Bradley and Terry's model with a penalty; it has no constant, so that exchanging the
    responses of a pair changes nothing.
    """
    decided = [case for case in cases if case.label in ("a", "b") and len(case.responses) == 2]
    if len(decided) < N_PAIRS_NEEDED:
        raise ConfigError(
            f"the weights of {len(STYLE_FEATURES)} style features need at least {N_PAIRS_NEEDED} "
            f"pairs labelled a or b, found {len(decided):,}"
        )
    leads = np.array([_lead(case) for case in decided])
    spreads = np.sqrt(np.mean(leads**2, axis=0))
    used = np.flatnonzero(np.count_nonzero(leads, axis=0) >= _FEWEST_DIFFERING)
    toward = leads[:, used] / spreads[used]
    toward *= np.where([case.label == "a" for case in decided], 1.0, -1.0)[:, None]

    def loss(weights: _Floats) -> tuple[float, _Floats]:
        ahead = toward @ weights
        drawn = _PENALTY * weights
        wrong = np.exp(-np.logaddexp(0.0, ahead))
        lost = float(np.logaddexp(0.0, -ahead).sum()) + float(drawn @ weights) / 2
        return lost, drawn - wrong @ toward

    found = scipy.optimize.minimize(loss, np.zeros(len(used)), jac=True, method="L-BFGS-B")
    names = list(STYLE_FEATURES)
    weights = {
        names[place]: float(weight / spreads[place])
        for place, weight in zip(used, found.x, strict=True)
    }
    return StyleFit(weights=weights, n_pairs=len(decided))


def _lead(case: Case) -> _Floats:
    a, b = (np.array(style_features(case.query, each.text)) for each in case.responses)
    return np.asarray(a - b, dtype=np.float64)
