"""Metrics of predicted classes: F1 with its interval, and the difference of two classifiers' F1.

A class's F1 is a function of three counts: cases of the class, predictions of it, and correct
predictions. So a case is a vector of three counts for each class, and intervals are those of
functions of totals (`_bootstrap`), which resample queries.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
import scipy

from autoj.metrics._bootstrap import Statistic, from_totals
from autoj.metrics._comparison import Difference
from autoj.metrics._intervals import SHARES, Floats, Interval, Ints, cut
from autoj.records import Estimate

Average: TypeAlias = Literal["macro", "weighted"]
""""macro" weights all classes the same, "weighted" by their number of cases."""


def f1(
    name: str,
    labels: Sequence[str],
    guesses: Sequence[str | None],
    clusters: Ints,
    average: Average,
    n_unscored: int = 0,
) -> Estimate:
    """The mean F1 over all classes, 0 to 1, with a 95 % interval over queries.

    The classes are those of the labels and of the guesses: one that is guessed and never correct
    has an F1 of 0.

    In simulations of 623 cases of 59 classes, of 2 to 79 cases each, 97 % of the intervals covered
    the true value where the number of cases of each class is fixed, as in most test sets. Where it
    is random, too, 96 % do for the weighted mean and 84 % for the macro mean: classes with few
    cases then bias it downwards.

    Args:
        name: the figure's name.
        labels: each case's class.
        guesses: each case's predicted class; None, which is no class, where it could not be read.
        clusters: `[n]`, a number shared by the cases of one query.
        average: the weighting of classes.
        n_unscored: number of cases left out.

    **Source:** the value equals scikit-learn's `f1_score`; the interval is ours.

    >>> f1("F1", ["x", "x", "y"], ["x", "y", "y"], np.arange(3), "macro").value
    0.6666666666666666
    """
    classes = _places(labels, guesses)
    return from_totals(
        name,
        _counts(labels, guesses, classes),
        clusters,
        _statistic(average, len(classes)),
        # Fisher's scale goes from -1 to 1, an F1 from 0.
        span=SHARES,
        fisher=True,
        undefined="there are no cases",
        n_unscored=n_unscored,
    )


def class_f1(labels: Sequence[str], guesses: Sequence[str | None]) -> dict[str, float]:
    """Each class's F1, for all classes in labels and guesses, sorted by name."""
    classes = _places(labels, guesses)
    totals = _counts(labels, guesses, classes).sum(axis=0)
    each = _each_f1(totals.reshape(3, len(classes)))
    return dict(zip(classes, each.tolist(), strict=True))


def f1_difference(
    name: str,
    labels: Sequence[str],
    one: Sequence[str | None],
    other: Sequence[str | None],
    clusters: Ints,
    average: Average,
    n_unscored: int = 0,
) -> Difference:
    """The difference of two classifiers' F1 on the same cases.

    Args:
        name: the figure's name.
        labels: each case's class.
        one: the guesses of the first classifier.
        other: the guesses of the second.
        clusters: `[n]`, a number shared by the cases of one query.
        average: the weighting of classes.
        n_unscored: number of cases not scored for both.
    """
    known = [_places(labels, guesses) for guesses in (one, other)]
    figures = [_statistic(average, len(classes)) for classes in known]
    counts = [
        _counts(labels, guesses, classes)
        for guesses, classes in zip((one, other), known, strict=True)
    ]
    n_first = 3 * len(known[0])

    def less(totals: Floats) -> Floats:
        return figures[0](totals[..., :n_first]) - figures[1](totals[..., n_first:])

    estimate = from_totals(
        name,
        np.concatenate(counts, axis=1),
        clusters,
        less,
        span=(-math.inf, math.inf),
        fisher=False,
        undefined="there are no cases",
        n_unscored=n_unscored,
    )
    # The p-value is of the whole interval, so the ends of the scale are cut off after it.
    low, high, _ = cut(Interval(estimate.low, estimate.high), (-1.0, 1.0))
    return Difference(estimate=replace(estimate, low=low, high=high), p_value=_p_value(estimate))


def _p_value(estimate: Estimate) -> float | None:
    """The p-value of no difference, from the interval's standard error."""
    if estimate.value is None or estimate.high is None:
        return None
    freedom = estimate.n_clusters - 1
    error = (estimate.high - estimate.value) / scipy.special.stdtrit(freedom, 0.975)
    return 2 * float(scipy.special.stdtr(freedom, -abs(estimate.value) / error))


def _places(labels: Iterable[str], guesses: Iterable[str | None]) -> dict[str, int]:
    names = sorted({*labels, *(guess for guess in guesses if guess is not None)})
    return {name: place for place, name in enumerate(names)}


def _counts(
    labels: Sequence[str], guesses: Sequence[str | None], classes: dict[str, int]
) -> Floats:
    """Each case's contribution, `[n, 3 * n_classes]`: to its class, its guess, correct guesses."""
    counts = np.zeros((len(labels), 3, len(classes)))
    for row, (label, guess) in enumerate(zip(labels, guesses, strict=True)):
        counts[row, 0, classes[label]] = 1
        if guess is not None:
            counts[row, 1, classes[guess]] = 1
            counts[row, 2, classes[guess]] = guess == label
    return counts.reshape(len(labels), 3 * len(classes))


def _each_f1(totals: Floats) -> Floats:
    """Each class's F1, `[..., n_classes]`; not finite for a class without cases and guesses."""
    of_class, guessed, right = np.moveaxis(totals, -2, 0)
    with np.errstate(invalid="ignore"):
        found: Floats = 2 * right / (of_class + guessed)
    return found


def _statistic(average: Average, n_classes: int) -> Statistic:
    def statistic(totals: Floats) -> Floats:
        table = totals.reshape(*totals.shape[:-1], 3, n_classes)
        each = _each_f1(table)
        known = np.isfinite(each)
        # A bootstrap sample may lack a class: the mean is then over the others.
        weights = table[..., 0, :] if average == "weighted" else known.astype(np.float64)
        found: Floats = (np.where(known, each, 0.0) * weights).sum(axis=-1) / weights.sum(axis=-1)
        return found

    return statistic
