"""Fit a calibration: temperature and tie band from preferences and people's labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from autoj.errors import ConfigError
from autoj.records import WINNERS, Calibration, Winner
from autoj.ties.model import likeliest, outcome_probabilities

__all__ = ["N_NEEDED", "CalibrationFit", "FileFigures", "fit_calibration"]

N_NEEDED = 100
"""The fewest labelled pairs. The temperature of a judge that is right on 60 of 100 decided pairs is
known to within a half by then, and to within a fifth by 500."""

_FLATTEST = 1e-6
_NARROWEST = 1e-6
_DIGITS = 5

_Floats: TypeAlias = npt.NDArray[np.float64]
_Chances: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFigures:
    """How well verdicts go with the labels of the very file that they were fitted on."""

    log_loss: float | None
    """Mean negative natural logarithm of the label's probability; None without probabilities, or
    where a label had none at all."""
    brier: float | None
    """0 (sure and right) to 2 (sure and wrong); None without probabilities."""
    accuracy: float
    """The share of pairs whose verdict is the label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationFit:
    """A calibration and what it was fitted on; each figure is weighted as the fit was."""

    calibration: Calibration
    n: Mapping[Winner, int]
    """How many pairs have each label."""
    n_left_out: int
    """Pairs without a label or without a preference."""
    tie_share: float
    """The share of ties among the pairs as they were weighted."""
    before: FileFigures
    """Of the verdicts without a calibration."""
    after: FileFigures
    reason: str | None = None
    """Why there is no tie band; None where there is one."""


def fit_calibration(
    preferences: Sequence[float | None],
    labels: Sequence[Winner | float | None],
    *,
    tie_share: float | None = None,
    before: Sequence[_Chances | None] | None = None,
    data: str | None = None,
) -> CalibrationFit:
    """The temperature and the half tie band under which people's labels are likeliest.

    Weights make ties the share of the data that they would be in use, where a file holds fewer or
    more: each tie and each decided pair count so much that both sides add up to it. That is right
    where a label, and nothing else, decided whether a pair was kept.

    Labels that all name the same response are no fault: the model is the same with the responses
    exchanged.

    Args:
        preferences: how much better a is than b, per pair; None where it is not known.
        labels: what people said, per pair; a pair without a, b or tie is left out.
        tie_share: the share of ties that the pairs are weighted to, between 0 and 1; None takes
            them as they are.
        before: the probabilities of a, b and tie without a calibration, per pair, where there are
            any.
        data: the name of the data, for `Calibration.fitted_on`.

    Returns:
        The calibration, with both numbers to five digits, and figures before and after. Without a
        tie in the data and without a `tie_share` the band is 0, and `reason` says so.

    Raises:
        ConfigError: fewer than `N_NEEDED` labelled pairs, no decided pair, no tie to weight,
            preferences that are all equal or do not go with the labels, or labels that they
            separate without a fault, so that no temperature is cold enough.

    **Source:** maximum weighted likelihood of Rao and Kupper's model (`ties.model`); its negative
    logarithm is convex in (1 / T, t), so there is one best fit.
    """
    chosen = [
        (preference, label, place)
        for place, (preference, label) in enumerate(zip(preferences, labels, strict=True))
        if preference is not None and label in WINNERS
    ]
    gaps = np.array([preference for preference, _, _ in chosen], dtype=np.float64)
    names = [label for _, label, _ in chosen]
    counts = Counter(names)
    _check(gaps, counts, tie_share)
    weights = _weights(names, counts, tie_share)
    temperature, tie = _fit(gaps, names, weights)
    n: dict[Winner, int] = {label: counts[label] for label in WINNERS}
    calibration = Calibration(
        temperature=temperature, tie=tie, fitted_on=_described(data, n, tie_share)
    )
    fitted: list[_Chances | None] = [outcome_probabilities(gap, calibration) for gap in gaps]
    raw = None if before is None else [before[place] for _, _, place in chosen]
    return CalibrationFit(
        calibration=calibration,
        n=n,
        n_left_out=len(labels) - len(chosen),
        tie_share=tie_share or counts["tie"] / len(names),
        before=_figures(gaps, names, weights, raw),
        after=_figures(gaps, names, weights, fitted),
        reason=None if counts["tie"] else "no pair is labelled a tie, so there is no tie band",
    )


def _check(gaps: _Floats, counts: Mapping[Winner, int], tie_share: float | None) -> None:
    n, n_ties = len(gaps), counts["tie"]
    if tie_share is not None and not 0 < tie_share < 1:
        raise ConfigError(f"the share of ties is {tie_share:g}; expected one between 0 and 1")
    if n < N_NEEDED:
        raise ConfigError(
            f"a calibration needs {N_NEEDED} pairs with a label and a preference at least, and "
            f"there are {n:,}"
        )
    if n_ties == n:
        raise ConfigError("every pair is labelled a tie; a calibration needs decided pairs, too")
    if tie_share is not None and not n_ties:
        raise ConfigError(
            f"no pair is labelled a tie, so none can be weighted to {tie_share * 100:g} %",
            hint="Take labels with ties, or fit the temperature alone: --tie-share file.",
        )
    if np.ptp(gaps) == 0:
        raise ConfigError(f"all preferences are {gaps[0]:g}; a calibration needs some that differ")


def _weights(
    names: Sequence[Winner], counts: Mapping[Winner, int], tie_share: float | None
) -> _Floats:
    """How much each pair counts; they add up to the number of pairs."""
    if tie_share is None:
        return np.ones(len(names))
    n, n_ties = len(names), counts["tie"]
    tied, decided = tie_share * n / n_ties, (1 - tie_share) * n / (n - n_ties)
    return np.array([tied if name == "tie" else decided for name in names])


def _fit(gaps: _Floats, names: Sequence[Winner], weights: _Floats) -> tuple[float, float]:
    """The temperature and the half band, to five digits."""
    scale = float(np.median(np.abs(gaps[gaps != 0])))
    # A preference in units of the median, with its sign turned to what people preferred.
    sides = np.array([{"a": 1.0, "b": -1.0, "tie": 0.0}[name] for name in names])
    tied = sides == 0
    toward = np.where(tied, np.abs(gaps), gaps * sides) / scale
    has_ties = bool(tied.any())
    if toward[~tied].min() >= toward[tied].max(initial=0.0):
        raise ConfigError(
            "the preferences separate the labels without a fault, so that no temperature is cold "
            "enough; a calibration needs pairs that the judge gets wrong, too"
        )

    def loss(parameters: _Floats) -> tuple[float, _Floats]:
        slope, tie = parameters
        won, lost = slope * toward - tie, -slope * toward - tie
        each, to_slope = _log_logistic(won), _logistic(-won) * toward
        to_tie = -_logistic(-won)
        # P(tie) = (exp(2t) - 1) P(a) P(b), which is exact where 1 - P(a) - P(b) is not.
        if has_ties:
            both = 2 * tie + math.log(-math.expm1(-2 * tie))
            each += np.where(tied, both + _log_logistic(lost), 0.0)
            to_slope -= np.where(tied, _logistic(-lost) * toward, 0.0)
            to_tie += np.where(tied, 2 / -math.expm1(-2 * tie) - _logistic(-lost), 0.0)
        gradient = np.array([weights @ to_slope, weights @ to_tie])
        return -float(weights @ each) / len(gaps), -gradient / len(gaps)

    band = (_NARROWEST, None) if has_ties else (0.0, 0.0)
    found = minimize(
        loss,
        x0=np.array([1.0, 0.5 if has_ties else 0.0]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None), band],
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000},
    )
    slope, tie = (float(value) for value in found.x)
    if slope <= _FLATTEST:
        raise ConfigError(
            "the preferences do not go with the labels: a higher one is not more often the one "
            "that people preferred, and no temperature mends that"
        )
    return _rounded(scale / slope), _rounded(tie)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _log_logistic(values: _Floats) -> _Floats:
    return -np.logaddexp(0.0, -values)


def _logistic(values: _Floats) -> _Floats:
    return np.exp(_log_logistic(values))


def _figures(
    gaps: _Floats,
    names: Sequence[Winner],
    weights: _Floats,
    chances: Sequence[_Chances | None] | None,
) -> FileFigures:
    """Figures of probabilities, or of the preferences alone where there are none."""
    total = float(weights.sum())
    known = [] if chances is None else [its for its in chances if its is not None]
    if len(known) < len(names):
        verdicts = np.where(gaps > 0, "a", np.where(gaps < 0, "b", "tie"))
        right = float(weights @ (verdicts == np.array(names)))
        return FileFigures(log_loss=None, brier=None, accuracy=right / total)
    shares = np.array(known, dtype=np.float64)
    truth = np.array([[float(name == label) for label in WINNERS] for name in names])
    of_label = (shares * truth).sum(axis=1)
    possible = bool((of_label > 0).all())
    right = float(
        weights @ np.array([likeliest(its) == name for its, name in zip(known, names, strict=True)])
    )
    return FileFigures(
        log_loss=-float(weights @ np.log(of_label)) / total if possible else None,
        brier=float(weights @ ((shares - truth) ** 2).sum(axis=1)) / total,
        accuracy=right / total,
    )


def _described(data: str | None, n: Mapping[Winner, int], tie_share: float | None) -> str:
    """What a calibration was fitted on, in words."""
    labels = f"{n['a']:,} a, {n['b']:,} b, {n['tie']:,} ties"
    weighted = "" if tie_share is None else f" weighted to {tie_share * 100:g} %"
    return f"{data}: {labels}{weighted}" if data else f"{labels}{weighted}"
