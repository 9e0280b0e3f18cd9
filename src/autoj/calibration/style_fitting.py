"""What people's labels say of the surface of responses alone, whoever judges them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from autoj.calibration.style_features import SURFACE_FEATURES, surface_features
from autoj.errors import ConfigError
from autoj.records import Case

__all__ = ["N_PAIRS_NEEDED", "SurfaceFit", "fit_surface"]

N_PAIRS_NEEDED = 500
"""The fewest decided pairs: some thirty for each feature."""

_PENALTY = 10.0
"""Half of it times the square of a feature's weight, in log-odds per standard deviation, is what
the weight costs in nats: as if weights were drawn around 0 with a deviation of 0.3."""

_FEWEST_DIFFERING = 30
"""A feature in which fewer pairs differ gets no weight: a handful of labels would decide it."""

_Floats = npt.NDArray[np.float64]


class SurfaceFit(NamedTuple):
    """What labels say of surface."""

    weights: dict[str, float]
    """By feature, what a unit of it adds to a response's log-odds; features in which hardly any
    pair differs are left out."""
    n_pairs: int
    """How many decided pairs taught it."""


def fit_surface(cases: Sequence[Case]) -> SurfaceFit:
    """The weights of the surface features under which people's decided labels are likeliest.

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
            f"the weights of {len(SURFACE_FEATURES)} surface features need {N_PAIRS_NEEDED} pairs "
            f"labelled a or b at least, and there are {len(decided):,}"
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

    found = minimize(loss, np.zeros(len(used)), jac=True, method="L-BFGS-B")
    names = list(SURFACE_FEATURES)
    weights = {
        names[place]: float(weight / spreads[place])
        for place, weight in zip(used, found.x, strict=True)
    }
    return SurfaceFit(weights=weights, n_pairs=len(decided))


def _lead(case: Case) -> _Floats:
    a, b = (np.array(surface_features(case.query, each.text)) for each in case.responses)
    return np.asarray(a - b, dtype=np.float64)
