"""Fits the confidence below which a judge's verdicts are unsure, from labelled pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoj.calibration.folds import N_FOLDS, folds_of
from autoj.calibration.likelihood import Floats
from autoj.errors import ConfigError

N_NEEDED = 200
"""The fewest labelled pairs: the sure half's share of right verdicts is then known to 10 points."""
N_SURE = 50
"""The fewest sure pairs behind a threshold: among fewer, a high share may be luck."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SureFit:
    """A threshold of confidence, and which pairs are sure by one fitted without their query."""

    below: float
    """A verdict with a lower confidence is unsure."""
    sure: NDArray[np.bool_]
    """`[n]`, by the threshold itself."""
    held_out: NDArray[np.bool_]
    """`[n]`, by a threshold that was fitted on the other folds; where these have none, no pair is
    sure."""


def fit_sureness(
    confidence: Floats, right: Floats, clusters: Sequence[str], wanted: float
) -> SureFit:
    """The lowest threshold at which the verdicts at or above it are right at a stated rate.

    A threshold that is chosen and measured on the same pairs flatters itself. `held_out` says what
    each pair is by a threshold that never saw its query: the share of right verdicts among those is
    what to expect of new pairs.

    Args:
        confidence: `[n]`, the largest probability of each verdict, 0 to 1.
        right: `[n]`, 1 where the verdict is the label, else 0.
        clusters: `[n]`, the normalised query of each pair.
        wanted: the share of right verdicts among the sure ones, above 0 and below 1.

    Raises:
        ConfigError: there are fewer than `N_NEEDED` pairs, the rate is no share, or no threshold
            with at least `N_SURE` sure pairs reaches it.
    """
    if not 0 < wanted < 1:
        raise ConfigError(f"the rate of right verdicts is {wanted:g}; expected one between 0 and 1")
    if len(confidence) < N_NEEDED:
        raise ConfigError(
            f"a threshold of unsure verdicts needs at least {N_NEEDED} pairs with a label, a "
            f"winner and probabilities, found {len(confidence):,}"
        )
    below = _lowest(confidence, right, wanted)
    if below is None:
        best, n_best = _best(confidence, right)
        raise ConfigError(
            f"no confidence reaches {wanted * 100:g} % right: the best of all thresholds, with "
            f"{n_best:,} sure pairs, reaches {best * 100:.1f} %",
            hint="Ask for a lower --right, or for another judge.",
        )
    folds = folds_of(clusters)
    held_out = np.zeros(len(confidence), dtype=np.bool_)
    for fold in range(N_FOLDS):
        seen, shown = folds != fold, folds == fold
        found = _lowest(confidence[seen], right[seen], wanted)
        if found is not None:
            held_out[shown] = confidence[shown] >= found
    return SureFit(below=below, sure=confidence >= below, held_out=held_out)


def _lowest(confidence: Floats, right: Floats, wanted: float) -> float | None:
    """The lowest confidence at or above which verdicts are right at the rate; None without one."""
    levels, n_sure, rates = _rates(confidence, right)
    fits = (n_sure >= N_SURE) & (rates >= wanted)
    return float(levels[fits].min()) if fits.any() else None


def _best(confidence: Floats, right: Floats) -> tuple[float, int]:
    """The highest rate at any threshold with enough sure pairs, and their number."""
    _, n_sure, rates = _rates(confidence, right)
    enough = n_sure >= N_SURE
    at = int(np.argmax(np.where(enough, rates, -1.0)))
    return float(rates[at]), int(n_sure[at])


def _rates(confidence: Floats, right: Floats) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Each level of confidence, the pairs at or above it, and the share of right ones of these."""
    # Five digits are what a card states.
    levels, group = np.unique(np.floor(confidence * 1e5) / 1e5, return_inverse=True)
    n_sure = np.cumsum(np.bincount(group)[::-1])[::-1]
    n_right = np.cumsum(np.bincount(group, weights=right)[::-1])[::-1]
    return levels, n_sure, n_right / n_sure
