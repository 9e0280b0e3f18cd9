"""The parameters of a calibration by maximum likelihood, and the goodness of its fit.

Pairs are weighted by the share of ties.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from autoj.calibration.model import outcome_probabilities
from autoj.errors import ConfigError
from autoj.records import WINNERS, Calibration, Winner, likeliest

_FLATTEST = 1e-6
_NARROWEST = 1e-6
_DIGITS = 5
_FLAT = (
    "the preferences do not agree with the labels: the preferred response is not labelled better "
    "more often than the other one, so no temperature fits"
)
_FLAT_BESIDE_SURFACE = (
    "the judge's preferences add nothing to the style features in predicting the labels; calibrate "
    "without style features, or use another judge"
)
Floats: TypeAlias = npt.NDArray[np.float64]
Chances: TypeAlias = tuple[float, float, float]
"""The probabilities of a, b and tie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPreferences:
    """Labelled pairs with a known preference."""

    gaps: Floats
    """The preference for a over b, `[n]`."""
    names: Sequence[Winner]
    """The labels, `[n]`."""
    leads: Floats | None
    """The difference in style score, a minus b, `[n]`; None where it is left out."""

    def some(self, places: npt.NDArray[np.int64]) -> "LabelledPreferences":
        """The pairs at the given indices."""
        return LabelledPreferences(
            gaps=self.gaps[places],
            names=[self.names[place] for place in places],
            leads=None if self.leads is None else self.leads[places],
        )

    def under(self, fitted: "Parameters") -> tuple[Floats, Sequence[Winner], list[Chances | None]]:
        """The style-corrected preferences, the labels, and the probabilities."""
        gaps = self.gaps if self.leads is None else self.gaps + fitted.share * self.leads
        model = Calibration(temperature=fitted.temperature, tie=fitted.tie)
        return gaps, self.names, [outcome_probabilities(gap, model) for gap in gaps]


class Parameters(NamedTuple):
    """The parameters of a calibration."""

    temperature: float
    tie: float
    share: float
    """The factor of the style differences, in units of the preference."""


def most_likely(pairs: LabelledPreferences, weights: Floats) -> Parameters:
    """The parameters of maximum likelihood.

    Args:
        pairs: labelled pairs, at least one of them decided.
        weights: of each pair, `[n]`.

    Raises:
        ConfigError: the preferences do not agree with the labels, or separate them perfectly, so
            that no finite temperature fits.

    **Source:** Rao and Kupper's model (`calibration.model`). The negative logarithm of its
    likelihood is convex in (1 / T, t, style weight / T), so the best fit is unique.
    """
    scale = float(np.median(np.abs(pairs.gaps[pairs.gaps != 0])))
    # Preferences in units of their median.
    columns = [pairs.gaps / scale] if pairs.leads is None else [pairs.gaps / scale, pairs.leads]
    n_more = len(columns) - 1
    # Signs are turned to the labelled response; for a tie either sign is as likely.
    sides = np.array([{"a": 1.0, "b": -1.0, "tie": 1.0}[name] for name in pairs.names])
    tied = np.array([name == "tie" for name in pairs.names])
    toward = np.stack(columns, axis=1) * sides[:, None]
    has_ties = bool(tied.any())
    _check_separable(toward[:, 0], tied)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        slopes, tie = parameters[:-1], parameters[-1]
        ahead = toward @ slopes
        won, lost = ahead - tie, -ahead - tie
        each, to_ahead = _log_logistic(won), _logistic(-won)
        to_tie = -_logistic(-won)
        # P(tie) = (exp(2t) - 1) P(a) P(b), which is exact where 1 - P(a) - P(b) is not.
        if has_ties:
            both = 2 * tie + math.log(-math.expm1(-2 * tie))
            each += np.where(tied, both + _log_logistic(lost), 0.0)
            to_ahead -= np.where(tied, _logistic(-lost), 0.0)
            to_tie += np.where(tied, 2 / -math.expm1(-2 * tie) - _logistic(-lost), 0.0)
        gradient = np.concatenate([(weights * to_ahead) @ toward, [weights @ to_tie]])
        return -float(weights @ each) / len(sides), -gradient / len(sides)

    band = (_NARROWEST, None) if has_ties else (0.0, 0.0)
    found = scipy.optimize.minimize(
        loss,
        x0=np.array([1.0, *[0.0] * n_more, 0.5 if has_ties else 0.0]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None), *[(None, None)] * n_more, band],
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000},
    )
    slope, *slopes, tie = (float(value) for value in found.x)
    if slope <= _FLATTEST:
        raise ConfigError(_FLAT if pairs.leads is None else _FLAT_BESIDE_SURFACE)
    if slopes:
        _check_separable(toward @ found.x[:-1], tied)
    temperature = scale / slope
    return Parameters(
        temperature=rounded(temperature),
        tie=rounded(tie),
        share=temperature * slopes[0] if slopes else 0.0,
    )


def _check_separable(toward: Floats, tied: npt.NDArray[np.bool_]) -> None:
    """Raises where the preferences separate the labels perfectly.

    Args:
        toward: `[n]`, preferences with their signs turned to the labels.
        tied: `[n]`, True where the label is a tie.
    """
    if toward[~tied].min() >= np.abs(toward[tied]).max(initial=0.0):
        raise ConfigError(
            "the preferences separate the labels perfectly, so no finite temperature fits; a "
            "calibration needs some pairs that the judge gets wrong"
        )


def rounded(value: float) -> float:
    """A parameter to five digits, as a card states it."""
    return float(f"{value:.{_DIGITS}g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFigures:
    """Goodness of fit of verdicts on the file that their calibration was fitted on."""

    log_loss: float | None
    """Mean negative natural logarithm of the label's probability; None without probabilities, or
    where a label had probability 0."""
    brier: float | None
    """0 (sure and right) to 2 (sure and wrong); None without probabilities."""
    accuracy: float
    """The share of pairs whose verdict equals the label."""
    decided: float
    """The share of decided pairs in which the preference points to the better response; a
    preference of 0 counts half."""


def figures_of(
    gaps: Floats,
    names: Sequence[Winner],
    chances: Sequence[Chances | None] | None,
    weights: Floats,
) -> FileFigures:
    """Figures of the probabilities, or of the preferences alone where there are none."""
    total = float(weights.sum())
    sides = [gap if name == "a" else -gap for gap, name in zip(gaps, names, strict=True)
             if name != "tie"]  # fmt: skip
    decided = float(np.mean(np.sign(sides)) + 1) / 2
    known = [] if chances is None else [its for its in chances if its is not None]
    if len(known) < len(names):
        verdicts = np.where(gaps > 0, "a", np.where(gaps < 0, "b", "tie"))
        right = float(weights @ (verdicts == np.array(names)))
        return FileFigures(log_loss=None, brier=None, accuracy=right / total, decided=decided)
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
        decided=decided,
    )


def _log_logistic(values: Floats) -> Floats:
    return -np.logaddexp(0.0, -values)


def _logistic(values: Floats) -> Floats:
    return np.exp(_log_logistic(values))
