"""Fit the confidence below which a judge's verdicts are unsure, from a run on labelled pairs."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from autoj.calibration.folds import N_FOLDS
from autoj.calibration.sureness import N_SURE, fit_sureness
from autoj.errors import ConfigError
from autoj.judges.card_edits import find_card, write_sure_threshold
from autoj.metrics.base import proportion_of
from autoj.metrics.rows import cluster_number
from autoj.records import Estimate, SureThreshold
from autoj.runs import RunFolder, RunSpec
from autoj.tasks.calibrate import check_calibrated_run, data_name, judged_with_labels
from autoj.verdicts.sureness import confidence_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedSureness:
    """A threshold of unsure verdicts that was fitted to a run."""

    run: Path
    spec: RunSpec
    """The run's settings."""
    threshold: SureThreshold
    coverage: Estimate
    """The share of the pairs that are sure."""
    right: Estimate
    """The share of right verdicts among the sure ones, on the pairs of the fit."""
    held_out: Estimate
    """The same by thresholds that were fitted without a pair's query."""
    everywhere: Estimate
    """The share of right verdicts among all."""
    n_left_out: int
    """Pairs without a label, a winner or probabilities."""
    card: Path | None
    """The card that the threshold was written to."""

    def as_json(self) -> dict[str, Any]:
        """The same as plain values, of the settings the judge and the protocol alone."""
        found = asdict(self)
        del found["spec"]
        return {
            **found,
            "run": str(self.run),
            "judge": self.spec.judge.name,
            "protocol": self.spec.protocol,
            "card": None if self.card is None else str(self.card),
        }


def fit_run_sureness(run: Path, *, right: float, write: Path | None = None) -> FittedSureness:
    """Choose the confidence at or above which a run's verdicts are right at a stated rate.

    Args:
        run: the folder of a finished run on labelled pairs, in both orders or by ratings with a
            calibration. Its verdicts count as they are, with the calibration of its judge.
        right: the share of right verdicts among the sure ones, above 0 and below 1.
        write: a card or a judge's folder that the threshold is put into.

    Raises:
        ConfigError: the run gives no probabilities of both orders, no threshold reaches the rate,
            or it does so only on the pairs that it was chosen on.
        DataError: the run is not finished or has no labels, or a file cannot be read.
    """
    folder = RunFolder.existing(run)
    spec = folder.spec()
    check_calibrated_run(run, spec)
    card = None if write is None else find_card(write)
    judged = judged_with_labels(folder, spec)
    known = [
        (confidence, float(verdict.winner == case.label), case.cluster)
        for case, verdict in judged
        if isinstance(case.label, str) and (confidence := confidence_of(verdict)) is not None
    ]
    queries = [cluster for _, _, cluster in known]
    hits = np.array([hit for _, hit, _ in known], dtype=np.float64)
    fit = fit_sureness(np.array([found for found, _, _ in known]), hits, queries, right)
    clusters = np.array([cluster_number(query) for query in queries], dtype=np.int64)
    held_out = proportion_of("accuracy", hits[fit.held_out], clusters[fit.held_out])
    _check_held_out(held_out, right)
    threshold = SureThreshold(
        below=round(fit.below, 5), right=right, n=len(known), fitted_on=data_name(folder)
    )
    if card is not None:
        write_sure_threshold(card, spec.judge, spec.protocol, threshold)
    return FittedSureness(
        run=run,
        spec=spec,
        threshold=threshold,
        coverage=proportion_of("coverage", fit.sure.astype(np.float64), clusters),
        right=proportion_of("accuracy", hits[fit.sure], clusters[fit.sure]),
        held_out=held_out,
        everywhere=proportion_of("accuracy", hits, clusters),
        n_left_out=len(judged) - len(known),
        card=card,
    )


def _check_held_out(found: Estimate, wanted: float) -> None:
    if found.value is None or found.n < N_SURE:
        raise ConfigError(
            f"a threshold is right at a rate of {wanted:g} on the pairs that it is chosen on "
            f"alone: fitted without a pair's query ({N_FOLDS} folds), it leaves {found.n:,} sure "
            f"pairs, and {N_SURE} are needed",
            hint="Judge more labelled pairs, or ask for a lower --right.",
        )
    if found.high is not None and found.high < wanted:
        raise ConfigError(
            f"a threshold is right at a rate of {wanted:g} on the pairs that it is chosen on "
            f"alone: on held-out pairs it is right in {found.value * 100:.1f} %",
            hint="Judge more labelled pairs, or ask for a lower --right.",
        )
