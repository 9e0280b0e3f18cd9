"""Fit a judge's calibration to people's labels, from a run that judged them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from autoj.calibration import style_lead
from autoj.calibration.fitting import CalibrationFit, StyleLeads, fit_calibration
from autoj.calibration.style_fitting import fit_style
from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError
from autoj.judges.card_edits import find_card, write_calibration
from autoj.records import Case, Verdict
from autoj.runs import RunFolder, RunSpec, resolve_run
from autoj.runs.watch import SILENT, Watch
from autoj.verdicts.resolve import preference

NATURAL_TIE_SHARE = 0.30
"""The share of ties among people's votes on two chat models' responses, where they may vote ties
freely; files of votes often hold fewer, such as the 3 % that are left in arena55k."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedRun:
    """A calibration that was fitted to a run."""

    run: Path
    spec: RunSpec
    """The run's settings."""
    fit: CalibrationFit
    card: Path | None
    """The card that the calibration was written to."""

    def as_json(self) -> dict[str, Any]:
        """The same as plain values, of the settings the judge and the protocol alone."""
        return {
            "run": str(self.run),
            "judge": self.spec.judge.name,
            "protocol": self.spec.protocol,
            "fit": asdict(self.fit),
            "card": None if self.card is None else str(self.card),
        }


def calibrate(
    run: Path,
    *,
    tie_share: float | None = NATURAL_TIE_SHARE,
    surface: Path | None = None,
    write: Path | None = None,
    watch: Watch = SILENT,
) -> FittedRun:
    """Fit temperature and tie band to the labels of a finished run on pairs.

    Args:
        run: the run's folder. A calibration that its judge has already is not used.
        tie_share: ties are weighted to this share of the pairs, 0-1; None takes the file's own.
        surface: labelled pairs from which the weights of length, layout and marks are learnt; None
            leaves these out of the calibration.
        write: a card or a judge's folder that the calibration is put into.
        watch: told what is left out.

    Raises:
        ConfigError: the run gives no preferences of both orders, or the card is another judge's.
        DataError: the run is not finished or has no labels, or a file cannot be read.
    """
    folder = RunFolder.existing(run)
    spec = folder.spec()
    check_calibrated_run(run, spec)
    card = None if write is None else find_card(write)
    raw = replace(spec, judge=replace(spec.judge, calibration={}))
    judged = judged_with_labels(folder, raw)
    cases = [case for case, _ in judged]
    fit = fit_calibration(
        [preference(verdict) for _, verdict in judged],
        [case.label for case in cases],
        tie_share=tie_share,
        before=[verdict.probabilities for _, verdict in judged],
        surface=None if surface is None else _style_leads(surface, cases, watch),
        clusters=[case.cluster for case in cases],
        data=data_name(folder),
    )
    if card is not None:
        write_calibration(card, spec.judge, spec.protocol, fit.calibration)
    return FittedRun(run=run, spec=spec, fit=fit, card=card)


def check_calibrated_run(path: Path, spec: RunSpec) -> None:
    """Check that a run's verdicts have probabilities of both orders, or two ratings.

    Raises:
        ConfigError: they have not.
    """
    if spec.task != "judge":
        raise ConfigError(
            f"{path} is a run of autoj {spec.task}; a calibration needs verdicts on pairs",
            hint="Make one with autoj judge; --protocol pairwise-by-rating rates each response.",
        )
    if not spec.plain_protocol.gives_probabilities:
        raise ConfigError(
            f"{path} was judged by protocol {spec.protocol!r}, which gives no probabilities and "
            "so no preferences to fit",
            hint="pairwise-verdict and pairwise-by-rating give some.",
        )
    if spec.has_orders and spec.orders != "both":
        raise ConfigError(
            f"{path} was judged in one order; a calibration is of both orders' averaged verdicts"
        )
    if spec.second_order is not None:
        raise ConfigError(
            f"{path} has the second orders of unsure pairs alone; a calibration is of all pairs",
            hint="The command that made it asks the rest without --second-order.",
        )


def judged_with_labels(folder: RunFolder, spec: RunSpec) -> list[tuple[Case, Verdict]]:
    """The cases with their verdicts by these settings.

    Raises:
        DataError: the run is not finished, or has no label.
    """
    judged = list(resolve_run(folder, spec))
    n_cases = folder.n_cases()
    if len(judged) < n_cases:
        raise DataError(
            f"is not finished: {len(judged):,} of {n_cases:,} cases are judged",
            path=folder.path,
            hint="The command that began it goes on with it.",
        )
    if all(case.label is None for case, _ in judged):
        raise DataError(
            "has no labels; a calibration is fitted to what people said", path=folder.path
        )
    return judged


def data_name(folder: RunFolder) -> str:
    """The names of the run's files, without where they lie."""
    return " and ".join(Path(path).name for path in folder.settings()["data"]["paths"])


def _style_leads(path: Path, judged: Sequence[Case], watch: Watch) -> StyleLeads:
    """The style features' weights by labelled pairs, those of the run's own queries left out."""
    known = {case.cluster for case in judged}
    cases: list[Case] = []
    n_known = 0
    for _, case in open_cases(path).readable():
        n_known += case.cluster in known
        if case.cluster not in known:
            cases.append(case)
    if n_known:
        watch.message(f"{n_known:,} rows of {path} ask a query of the run: left out")
    weights, n_pairs = fit_style(cases)
    return StyleLeads(
        weights=weights,
        leads=[style_lead(case, weights) for case in judged],
        fitted_on=f"{n_pairs:,} decided pairs of {path.name}",
    )
