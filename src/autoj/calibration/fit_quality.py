"""Goodness of fit of preferences and probabilities against human labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from autoj.records import WINNERS, Winner, likeliest

Chances: TypeAlias = tuple[float, float, float]
"""The probabilities of a, b and tie."""
Floats: TypeAlias = npt.NDArray[np.float64]


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
