"""The audit's figures of the unmodified cases, from stored verdicts alone.

A judge that compares pairs is measured judgment by judgment (a pair is judged once in each order),
so that its position bias neither hides nor makes another bias: in both orders together each
response stands first once. The two judgments of a pair are one cluster.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from autoj import metrics
from autoj.metrics.base import proportion
from autoj.metrics.length_bias import is_close_in_length, share_of_longer
from autoj.metrics.rows import pair_row, scored_row
from autoj.records import WINNERS, Case, Estimate, Verdict
from autoj.verdicts.baselines import BASELINE_JUDGES, baseline_verdicts

Judged: TypeAlias = Sequence[tuple[Case, Verdict]]
"""Cases with their verdicts."""

ALONE = "not applicable: each response is rated alone"
_N_SIMULATED = 200


def _rows(judged: Judged) -> list[metrics.Row]:
    return [pair_row(case, verdict) for case, verdict in judged]


def _by_judgment(rows: Sequence[metrics.Row]) -> list[metrics.Row]:
    """A row for each order's own winner; a pair of ratings stays one."""
    return [
        row._replace(winner=winner)
        for row in rows
        for winner in (row.winners if row.winners else (row.winner,))
    ]


def without(name: str, reason: str) -> Estimate:
    """A figure without a value, with the reason."""
    return Estimate(name=name, value=None, n=0, n_clusters=0, reason=reason)


def because(estimate: Estimate, reason: str) -> Estimate:
    """The estimate; where it has no value, with a better reason than its own."""
    if estimate.value is not None:
        return estimate
    return replace(estimate, reason=reason, n_unscored=0, bounds=None)


def share_of(name: str, scores: Sequence[tuple[Case, float | None]]) -> Estimate:
    """The mean of scores between 0 and 1; None is unscored."""
    return proportion(
        name, [scored_row(case, score) for case, score in scores], lambda row: row.rating
    )


def people_figures(plain: Judged, *, paired: bool) -> list[Estimate]:
    """Accuracy, averaged accuracy, agreement and kappa with people's labels."""
    rows = _rows(plain)
    if not any(row.label is not None for row in rows):
        names = ("accuracy", "averaged accuracy", "agreement", "kappa")
        return [without(name, "no case has a label") for name in names]
    averaged = metrics.averaged_accuracy.compute(rows)
    if not paired:
        # Two ratings compared are this judge's one verdict on a pair.
        return [
            replace(averaged, name="accuracy"),
            without("agreement", ALONE),
            metrics.kappa.compute(rows, lambda row: row.averaged),
        ]
    found = [metrics.accuracy.compute(rows)]
    if any(row.probabilities is not None for row in rows):
        found.append(averaged)
    return [*found, metrics.agreement.compute(rows), metrics.kappa.compute(rows)]


def above_baselines(plain: Judged) -> dict[str, Estimate]:
    """The judge's lead in accuracy over each baseline on the same cases, by the baseline's name.

    Empty where no case has a label.
    """
    rows, cases = _rows(plain), [case for case, _ in plain]
    if not any(row.label is not None for row in rows):
        return {}
    its_rows = {
        name: _rows(list(zip(cases, baseline_verdicts(name, cases), strict=True)))
        for name in BASELINE_JUDGES
    }
    return {
        name: metrics.difference("above trivial", rows, its, _right, span=metrics.SHARES).estimate
        for name, its in its_rows.items()
    }


def _right(row: metrics.Row) -> float | None:
    """1 where one order, or two ratings compared, equals the label; else 0."""
    winner = row.winners[0] if row.winners else row.winner
    return None if row.label is None or winner is None else float(winner == row.label)


def position_figures(plain: Judged, *, paired: bool) -> list[Estimate]:
    """Consistency and the signed position bias."""
    if not paired:
        return [without(name, ALONE) for name in ("consistency", "position bias")]
    rows = _rows(plain)
    return [metrics.consistency.compute(rows), metrics.position_bias.compute(rows)]


def length_figures(plain: Judged) -> list[Estimate]:
    """Length bias, the two shares that it compares, and the accuracy at nearly equal length."""
    judgments = _by_judgment(_rows(plain))
    labelled = [row for row in judgments if row.label is not None]
    close = [row for row in labelled if is_close_in_length(row)]
    right = proportion(
        "accuracy, close in length",
        close,
        lambda row: None if row.winner is None else float(row.winner == row.label),
    )
    return [
        because(
            metrics.length_bias.compute(judgments),
            "the judge or the labels decide no pair of different lengths",
        ),
        share_of_longer("longer preferred by the judge", labelled, lambda row: row.winner),
        share_of_longer("longer preferred by people", labelled, lambda row: row.label),
        right if close else without(right.name, "no labelled pair is so close in length"),
    ]


def reading_figures(judged: Judged) -> list[Estimate]:
    """The shares of judgments without a readable verdict, and of failed ones."""

    def rate(name: str, count: Callable[[Verdict], int]) -> Estimate:
        return share_of(
            name,
            [
                (case, float(index < count(verdict)))
                for case, verdict in judged
                for index in range(len(verdict.winners or verdict.ratings))
            ],
        )

    return [
        rate("unreadable", lambda verdict: verdict.n_unreadable),
        rate("failed", lambda verdict: verdict.n_failed),
    ]


def probability_figures(plain: Judged) -> list[Estimate]:
    """The Brier score and the expected calibration error of the averaged probabilities."""
    rows = _rows(plain)
    figures = [
        metrics.calibration.compute(rows),
        metrics.calibration.expected_calibration_error(rows),
    ]
    if not any(row.probabilities is not None for row in rows):
        return [
            because(found, "not applicable: the judge gives no probabilities") for found in figures
        ]
    return [because(found, "no case has both a label and probabilities") for found in figures]


def calibrated_error(plain: Judged) -> Estimate | None:
    """The expected calibration error of a judge whose probabilities are the labels' own chances.

    Finite cases put it above 0. Labels are drawn from the judge's probabilities, so that nothing
    but its calibration is changed.

    Returns:
        The mean over the draws, and the range in which 95 % of them lie; None where no case has
        both a label and probabilities.
    """
    rows = [row for row in _rows(plain) if row.label is not None]
    known = [(row, row.probabilities) for row in rows if row.probabilities is not None]
    if not known:
        return None
    thresholds = np.cumsum([chances[:2] for _, chances in known], axis=1)
    generator = np.random.default_rng(0)
    errors = []
    for _ in range(_N_SIMULATED):
        drawn = (generator.random((len(known), 1)) >= thresholds).sum(axis=1)
        bins = metrics.calibration.reliability(
            [row._replace(label=WINNERS[one]) for (row, _), one in zip(known, drawn, strict=True)]
        )
        gaps = (found.n * abs(found.confidence - found.accuracy) for found in bins)
        errors.append(sum(gaps) / len(known))
    low, high = np.quantile(errors, (0.025, 0.975))
    mean = float(np.mean(errors))
    return Estimate(
        name="expected calibration error",
        value=mean,
        # Of few cases nearly all draws may be alike, and their mean beyond them.
        low=min(float(low), mean),
        high=max(float(high), mean),
        n=len(known),
        n_clusters=len({row.cluster for row, _ in known}),
    )
