"""Risk and coverage: how accurate verdicts are where only the most confident ones are kept."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autoj.metrics._bootstrap import cluster_weights, student_interval
from autoj.metrics._intervals import SHARES, Floats, Ints
from autoj.metrics.base import Row, Rows, contributions, is_labelled, proportion_of, select
from autoj.records import Estimate

COVERAGES = tuple(step / 10 for step in range(1, 11))
"""The shares of the cases at which a curve is read."""
_NAME = "risk coverage"
_MOST_GROUPS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveragePoint:
    """The cases whose confidence is no lower than that of a share of them."""

    coverage: float
    """The share of the scored cases that are kept, 0 to 1."""
    confidence: float
    """The lowest confidence among them."""
    accuracy: Estimate
    """The share in which the winner equals the label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskCoverage:
    """A curve of accuracy over coverage, and the area under that of risk (1 - accuracy)."""

    points: tuple[CoveragePoint, ...]
    """By rising coverage; the last one keeps all cases."""
    area: Estimate
    """The mean risk over all coverages, 0 to 1; lower is better."""
    area_at_random: float
    """The area if the confidence said nothing: the risk over all cases."""
    area_at_best: float
    """The area if every right verdict were more confident than every wrong one."""


def compute(rows: Rows) -> Estimate:
    """The area under the curve of risk over coverage, 0 to 1; lower is better.

    Args:
        rows: pairs; those with a label count, and one without a winner or probabilities is
            unscored.

    **Source:** Y. Geifman et al., "Bias-reduced uncertainty estimation for deep neural classifiers"
    (2019), section 3. Cases of equal confidence are kept in random order: each counts with their
    mean risk.
    """
    confidence, right, clusters, n_unscored = _scored(rows)
    return _area(confidence, right, clusters, n_unscored)


def curve(rows: Rows, coverages: Sequence[float] = COVERAGES) -> RiskCoverage | None:
    """Accuracy where only the most confident verdicts are kept.

    Args:
        rows: as for `compute`.
        coverages: shares of the cases, each above 0 and at most 1, rising. Cases of equal
            confidence are kept together, so that a point may keep more.

    Returns:
        None where no case has a label, a winner and probabilities.
    """
    confidence, right, clusters, n_unscored = _scored(rows)
    return curve_of(confidence, right, clusters, coverages, n_unscored)


def curve_of(
    confidence: Floats,
    right: Floats,
    clusters: Ints,
    coverages: Sequence[float] = COVERAGES,
    n_unscored: int = 0,
) -> RiskCoverage | None:
    """The curve of verdicts that are not rows; see `curve`.

    Args:
        confidence: `[n]`, 0 to 1.
        right: `[n]`, 1 where the verdict is right, else 0.
        clusters: `[n]`, a number shared by the cases of one query.
        coverages: as in `curve`.
        n_unscored: cases without a confidence.
    """
    if len(confidence) == 0:
        return None
    return RiskCoverage(
        points=_points(confidence, right, clusters, coverages),
        area=_area(confidence, right, clusters, n_unscored),
        area_at_random=float(1 - right.mean()),
        area_at_best=_mean_risk(np.arange(len(right)), np.sort(1 - right), np.ones(len(right))),
    )


def coverage_points(
    rows: Rows, coverages: Sequence[float] = COVERAGES
) -> tuple[CoveragePoint, ...]:
    """The points of a curve alone, without the area under it; none where no case is scored.

    Args:
        rows: as for `compute`.
        coverages: as in `curve`.
    """
    confidence, right, clusters, _ = _scored(rows)
    return _points(confidence, right, clusters, coverages) if len(confidence) else ()


def _points(
    confidence: Floats, right: Floats, clusters: Ints, coverages: Sequence[float]
) -> tuple[CoveragePoint, ...]:
    n = len(confidence)
    falling = np.sort(confidence)[::-1]
    # A product such as 0.7 * 10 is a little above its number.
    lowest = dict.fromkeys(float(falling[int(np.ceil(each * n - 1e-9)) - 1]) for each in coverages)
    points = []
    for least in lowest:
        kept = confidence >= least
        points.append(
            CoveragePoint(
                coverage=float(kept.mean()),
                confidence=least,
                accuracy=proportion_of("accuracy", right[kept], clusters[kept]),
            )
        )
    return tuple(points)


def _area(confidence: Floats, right: Floats, clusters: Ints, n_unscored: int) -> Estimate:
    """The area with the interval of a bootstrap over queries."""
    n = len(confidence)
    if n == 0:
        reason = "no case could be scored" if n_unscored else "there are no cases"
        return Estimate(
            name=_NAME, value=None, n=0, n_clusters=0, n_unscored=n_unscored, reason=reason
        )
    order, level = _by_falling_confidence(confidence)
    wrong = 1 - right[order]
    value = _mean_risk(level, wrong, np.ones(n))
    queries, query = np.unique(clusters[order], return_inverse=True)
    # Many queries are pooled into groups, as in other bootstraps here.
    group = np.random.default_rng(0).permutation(len(queries)) % _MOST_GROUPS
    drawn = cluster_weights(min(len(queries), _MOST_GROUPS))
    draws = np.array([_mean_risk(level, wrong, each[group[query]]) for each in drawn])
    interval = student_interval(value, draws, len(queries), span=SHARES, fisher=False)
    return Estimate(
        name=_NAME,
        value=value,
        low=interval.low,
        high=interval.high,
        n=n,
        n_clusters=len(queries),
        n_unscored=n_unscored,
        reason=interval.reason,
    )


def _by_falling_confidence(confidence: Floats) -> tuple[Ints, Ints]:
    """The order of the cases, and in that order a number shared by cases of equal confidence."""
    order = np.argsort(-confidence, kind="stable")
    _, group = np.unique(-confidence[order], return_inverse=True)
    return order, group


def _mean_risk(group: Ints, wrong: Floats, counts: Floats) -> float:
    """The mean over k of the expected share of wrong verdicts among the k most confident.

    Args:
        group: `[n]`, by falling confidence, a number shared by cases of equal confidence.
        wrong: `[n]`, 1 where the verdict is wrong, else 0.
        counts: `[n]`, how often each case is there.
    """
    size = np.bincount(group, weights=counts)
    # Within a group of equal confidence the errors come at their mean rate.
    n_wrong = np.bincount(group, weights=counts * wrong)
    rate = np.divide(n_wrong, size, out=np.zeros(len(size)), where=size > 0)
    kept, expected = np.cumsum(counts), np.cumsum(counts * rate[group])
    risk = np.divide(expected, kept, out=np.zeros(len(kept)), where=kept > 0)
    return float((counts * risk).sum() / counts.sum())


def _scored(rows: Rows) -> tuple[Floats, Floats, Ints, int]:
    """Per labelled row its confidence, 1 where it is right, its cluster; and the unscored ones."""
    labelled = select(rows, is_labelled)
    values, clusters = contributions(labelled, _confidence, 2)
    return values[:, 0], values[:, 1], clusters, len(labelled) - len(values)


def _confidence(row: Row) -> Sequence[float] | None:
    if row.probabilities is None or row.winner is None:
        return None
    return max(row.probabilities), float(row.winner == row.label)
