"""A judge measured on labelled pairs: `autoj bench eval-p` and `autoj bench pairs` as one call."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from autoj.bench.eval_p.evaluate import TieBand, baseline_results, evaluate, fit_tie_band
from autoj.bench.eval_p.paired import FigureDifference, compare
from autoj.bench.sources import (
    Judged,
    JudgeSettings,
    Predictions,
    Scores,
    VerdictSource,
    get_verdicts,
    labelled_pairs,
    open_set,
    sampled,
)
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.metrics import risk_coverage
from autoj.metrics.result import Result, keep_result
from autoj.metrics.risk_coverage import RiskCoverage
from autoj.metrics.rows import pair_row
from autoj.records import Case
from autoj.runs.budget import Budget
from autoj.runs.watch import SILENT, Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationSet:
    """Labelled pairs on which the tie band of ratings is chosen."""

    path: Path
    scores: Path | None = None
    """A file of the pairs' scores; None runs the judge on them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairMeasurement:
    """The figures of a judge on labelled pairs, and those that stand beside them."""

    result: Result
    folder: Path | None
    """The run that holds the verdicts, where one does."""
    in_sample: Result | None
    """With the tie band that suits this very set best, as the release measures; None for judges
    that compare pairs themselves, and where a calibration says what a tie is."""
    baselines: Sequence[Result]
    """Of the baselines, which read nothing or only lengths."""
    other: Judged | None
    """The judge that it is compared with."""
    differences: Sequence[FigureDifference]
    """The judge's figures less the other's."""
    risk_coverage: RiskCoverage | None
    """Accuracy where only the most confident verdicts are kept; None without probabilities."""

    @property
    def n_failed(self) -> int:
        """Judgments without an answer."""
        n_failed: int = self.result.details["n_failed"]
        return n_failed

    def as_json(self) -> dict[str, Any]:
        """The same as plain values; the other judge's verdicts are left out."""
        found = asdict(self.result) | {"trivial": [asdict(its) for its in self.baselines]}
        if self.in_sample is not None:
            found["in_sample"] = asdict(self.in_sample)
        if self.other is not None:
            found["differences"] = [asdict(its) for its in self.differences]
        if self.risk_coverage is not None:
            found["risk_coverage"] = asdict(self.risk_coverage)
        return found

    def keep(self, place: Path | None = None) -> None:
        """Saves the judge's result in a place, else in its run's folder, if there is one."""
        keep_result(self.result, self.folder, place)


def measure_pairs(
    whole: Cases,
    source: VerdictSource,
    *,
    bench: str = "eval-p",
    validation: ValidationSet | None = None,
    unseen: frozenset[str] | None = None,
    against: VerdictSource | None = None,
    by: str = "group",
    sample: int | None = None,
    seed: int = 0,
    name: str | None = None,
    out: Path | None = None,
    budget: Budget | None = None,
    watch: Watch = SILENT,
) -> PairMeasurement:
    """Judge labelled pairs, or look their verdicts up, and compute all figures.

    Args:
        whole: the set.
        source: the verdicts to measure.
        bench: the meta-evaluation's name.
        validation: the data to choose a tie band of ratings on; None makes only equal ratings ties.
        unseen: scenarios that the judge was not trained on.
        against: another judge, whose figures are subtracted.
        by: the parts of these differences: "group", "scenario", "subset" or "style".
        sample: how many cases are drawn, from each scenario in proportion; None takes all.
        seed: of the random draw.
        name: the judge's name; None takes its own, or its file's.
        out: the folder of the judge's run; None takes one under `runs/`.
        budget: what the judge may spend, on a validation set too; None sets no limit.
        watch: told what happens.

    Raises:
        ConfigError: the settings exclude each other.
        DataError: a file cannot be read, or is not of these pairs.
        Unfinished: the budget left some cases without a verdict.
        BackendError: the engine broke down; what was judged is kept.
    """
    data, cases = sampled(whole, labelled_pairs(whole), sample, seed)
    if data.derivation is not None and isinstance(source, Predictions | Scores):
        raise ConfigError("--limit needs --judge or --run; predictions are of the whole set")
    judged = get_verdicts(source, data, cases, out=out, budget=budget, watch=watch)
    judged = _named(judged, name, data)
    band = None
    if validation is not None:
        _check_rated(judged)
        band = _tie_band(validation, source, cases, out, budget, watch)
    other = None if against is None else get_verdicts(against, data, cases)
    return PairMeasurement(
        result=evaluate(
            cases,
            judged.verdicts,
            judge=judged.judge,
            source=judged.source,
            tie_band=band,
            calibration=judged.calibration,
            unseen=unseen,
            bench=bench,
        ),
        folder=judged.folder,
        in_sample=_in_sample(cases, judged, bench),
        baselines=baseline_results(cases, bench),
        other=other,
        risk_coverage=risk_coverage.curve(
            [pair_row(*each) for each in zip(cases, judged.verdicts, strict=True)]
        ),
        differences=()
        if other is None
        else compare(cases, judged.verdicts, other.verdicts, by, band),
    )


def _named(judged: Judged, name: str | None, data: Cases) -> Judged:
    sample = f", {data.derivation}" if data.derivation else ""
    return replace(judged, judge=name or judged.judge, source=judged.source + sample)


def _check_rated(judged: Judged) -> None:
    """Refuse verdicts to which no tie band applies."""
    if not any(verdict.ratings for verdict in judged.verdicts):
        raise ConfigError(
            "--validation chooses a tie band for ratings, but this judge compares pairs"
        )
    if judged.calibration is not None:
        raise ConfigError(
            "--validation chooses a tie band for ratings, but this judge's card has a calibration, "
            "which defines ties"
        )


def _tie_band(
    validation: ValidationSet,
    source: VerdictSource,
    tested: Sequence[Case],
    out: Path | None,
    budget: Budget | None,
    watch: Watch,
) -> TieBand:
    """The tie band chosen on a validation set."""
    data = open_set(validation.path, watch)
    cases = labelled_pairs(data)
    if validation.scores is not None:
        its = get_verdicts(Scores(validation.scores), data, cases)
    elif isinstance(source, JudgeSettings):
        place = None if out is None else out / "validation"
        its = get_verdicts(source, data, cases, out=place, budget=budget, watch=watch)
    else:
        raise ConfigError("--validation needs --judge, or --validation-scores beside --scores")
    shared = len({case.cluster for case in cases} & {case.cluster for case in tested})
    overlap = f" (in-sample: {shared:,} of its queries are in the set)" if shared else ""
    return fit_tie_band(cases, its.verdicts, f"{validation.path}{overlap}")


def _in_sample(cases: Sequence[Case], judged: Judged, bench: str) -> Result | None:
    if judged.calibration is not None or not any(verdict.ratings for verdict in judged.verdicts):
        return None
    return evaluate(
        cases,
        judged.verdicts,
        judge=judged.judge,
        source=judged.source,
        tie_band=fit_tie_band(cases, judged.verdicts, "this very set (in-sample)"),
        bench=bench,
    )
