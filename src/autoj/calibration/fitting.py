"""Fits a calibration: temperature, tie band and weight of style features, from labelled pairs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autoj.calibration.folds import N_FOLDS, folds_of
from autoj.calibration.likelihood import (
    Chances,
    FileFigures,
    Floats,
    LabelledPreferences,
    figures_of,
    most_likely,
    rounded,
)
from autoj.errors import ConfigError
from autoj.records import WINNERS, Calibration, Winner

N_NEEDED = 100
"""The fewest labelled pairs. For a judge that is right on 60 of 100 decided pairs, the temperature
is then known to within a half; with 500 pairs, to within a fifth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleLeads:
    """Differences in style features between the responses of pairs, with weights learnt before."""

    weights: Mapping[str, float]
    """Weight of one unit of each feature."""
    leads: Sequence[float]
    """The style score of a minus that of b, per pair."""
    fitted_on: str
    """A description of the data that the weights were learnt from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationFit:
    """A calibration and the data it was fitted on; figures are weighted as the fit was."""

    calibration: Calibration
    n: Mapping[Winner, int]
    """Number of pairs by label."""
    n_left_out: int
    """Pairs without a label or without a preference."""
    tie_share: float
    """The weighted share of ties among the pairs."""
    before: FileFigures
    """Figures of the verdicts without a calibration."""
    after: FileFigures
    held_out: FileFigures | None
    """The same figures under cross-validation over `N_FOLDS` folds by query; None where the queries
    are unknown or a fold leaves too few pairs."""
    reason: str | None = None
    """The reason for which there is no tie band; None where there is one."""


def fit_calibration(
    preferences: Sequence[float | None],
    labels: Sequence[Winner | float | None],
    *,
    tie_share: float | None = None,
    before: Sequence[Chances | None] | None = None,
    surface: StyleLeads | None = None,
    clusters: Sequence[str] | None = None,
    data: str | None = None,
) -> CalibrationFit:
    """Fits the temperature and tie band by maximum likelihood on human labels.

    Weights raise or lower the share of ties to the one expected in use: all ties together and all
    decided pairs together count as much as their shares. That is right where the label, and nothing
    else, decided whether a pair was kept.

    The labels may all name the same response: the model is symmetric under exchanging the
    responses.

    Args:
        preferences: the preference for a over b, per pair; None where it is unknown.
        labels: the human label, per pair; a pair without a, b or tie is left out.
        tie_share: the share of ties that the pairs are weighted to, between 0 and 1; None leaves
            them unweighted.
        before: the uncalibrated probabilities of a, b and tie, per pair, if there are any.
        surface: differences in style features, which are fitted beside the preferences; None
            leaves them out.
        clusters: the normalised query of each pair, for cross-validation.
        data: the name of the data, for `Calibration.fitted_on`.

    Returns:
        The calibration, with numbers to five digits, and figures before and after. Without a
        tie in the data and without a `tie_share` the band is 0, and `reason` says so.

    Raises:
        ConfigError: fewer than `N_NEEDED` labelled pairs, no decided pair, no tie to weight,
            preferences that are all equal or do not agree with the labels, or labels that they
            separate perfectly, so that no finite temperature fits.

    **Source:** maximum weighted likelihood of Rao and Kupper's model (`calibration.likelihood`).
    """
    chosen = [
        (preference, label, place)
        for place, (preference, label) in enumerate(zip(preferences, labels, strict=True))
        if preference is not None and label in WINNERS
    ]
    places = [place for _, _, place in chosen]
    pairs = LabelledPreferences(
        gaps=np.array([preference for preference, _, _ in chosen], dtype=np.float64),
        names=[label for _, label, _ in chosen],
        leads=None if surface is None else np.array(surface.leads, dtype=np.float64)[places],
    )
    counts = Counter(pairs.names)
    _check(pairs.gaps, counts, tie_share)
    weights = _weights(pairs.names, counts, tie_share)
    fitted = most_likely(pairs, weights)
    n: dict[Winner, int] = {label: counts[label] for label in WINNERS}
    raw = None if before is None else [before[place] for place in places]
    held_out = None
    if clusters is not None:
        held_out = _held_out(pairs, [clusters[place] for place in places], tie_share)
    return CalibrationFit(
        calibration=Calibration(
            temperature=fitted.temperature,
            tie=fitted.tie,
            surface={
                name: rounded(fitted.share * weight)
                for name, weight in (surface.weights.items() if surface else ())
            },
            fitted_on=_described(data, n, tie_share)
            + (f"; style features: {surface.fitted_on}" if surface else ""),
        ),
        n=n,
        n_left_out=len(labels) - len(chosen),
        tie_share=tie_share or counts["tie"] / len(pairs.names),
        before=figures_of(pairs.gaps, pairs.names, raw, weights),
        after=figures_of(*pairs.under(fitted), weights),
        held_out=held_out,
        reason=None if counts["tie"] else "no pair is labelled a tie, so there is no tie band",
    )


def _held_out(
    pairs: LabelledPreferences, clusters: Sequence[str], tie_share: float | None
) -> FileFigures | None:
    """Figures by calibrations that were fitted without a pair's query; None where a fit fails."""
    folds = folds_of(clusters)
    gaps = np.zeros(len(folds))
    chances: list[Chances | None] = [None] * len(folds)
    for fold in range(N_FOLDS):
        seen, shown = pairs.some(np.flatnonzero(folds != fold)), np.flatnonzero(folds == fold)
        counts = Counter(seen.names)
        try:
            _check(seen.gaps, counts, tie_share)
            fitted = most_likely(seen, _weights(seen.names, counts, tie_share))
        except ConfigError:
            return None
        gaps[shown], _, found = pairs.some(shown).under(fitted)
        for place, its in zip(shown, found, strict=True):
            chances[place] = its
    weights = _weights(pairs.names, Counter(pairs.names), tie_share)
    return figures_of(gaps, pairs.names, chances, weights)


def _check(gaps: Floats, counts: Mapping[Winner, int], tie_share: float | None) -> None:
    n, n_ties = len(gaps), counts["tie"]
    if tie_share is not None and not 0 < tie_share < 1:
        raise ConfigError(f"the share of ties is {tie_share:g}; expected one between 0 and 1")
    if n < N_NEEDED:
        raise ConfigError(
            f"a calibration needs at least {N_NEEDED} pairs with a label and a preference, found "
            f"{n:,}"
        )
    if n_ties == n:
        raise ConfigError("every pair is labelled a tie; a calibration needs decided pairs, too")
    if tie_share is not None and not n_ties:
        raise ConfigError(
            f"no pair is labelled a tie, so ties cannot be weighted to {tie_share * 100:g} %",
            hint="Use labels with ties, or fit the temperature alone: --tie-share file.",
        )
    if np.ptp(gaps) == 0:
        raise ConfigError(f"all preferences are {gaps[0]:g}; a calibration needs different ones")


def _weights(
    names: Sequence[Winner], counts: Mapping[Winner, int], tie_share: float | None
) -> Floats:
    """The weight of each pair; weights sum to the number of pairs."""
    if tie_share is None:
        return np.ones(len(names))
    n, n_ties = len(names), counts["tie"]
    tied, decided = tie_share * n / n_ties, (1 - tie_share) * n / (n - n_ties)
    return np.array([tied if name == "tie" else decided for name in names])


def _described(data: str | None, n: Mapping[Winner, int], tie_share: float | None) -> str:
    """A description of the data that a calibration was fitted on."""
    labels = f"{n['a']:,} a, {n['b']:,} b, {n['tie']:,} ties"
    weighted = "" if tie_share is None else f" weighted to {tie_share * 100:g} %"
    return f"{data}: {labels}{weighted}" if data else f"{labels}{weighted}"
