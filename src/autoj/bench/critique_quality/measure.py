"""Measures a judge's critiques by planted errors: runs it, or takes a stored run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from autoj.bench.base import align
from autoj.bench.critique_quality.evaluate import baselines, evaluate, pairs_of
from autoj.bench.critique_quality.planted import SHIPPED, planted_cases, read_planted
from autoj.bench.eval_c.critics import CritiqueSettings, writing_spec
from autoj.bench.sources import StoredRun, judge_all
from autoj.errors import DataError
from autoj.judges import load_card
from autoj.metrics.result import Result, keep_result
from autoj.runs import RunFolder, resolve_run
from autoj.runs.budget import Budget
from autoj.runs.fit import OnOverflow
from autoj.runs.spec_checks import check_one
from autoj.runs.watch import SILENT, Watch

SOURCE = "MetaCritique (Sun et al., 2024): units judged by GPT-4, on data of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class CritiqueJudge:
    """A judge that writes the critiques, or did."""

    judge: str
    """Its name, the path of its card, or backend:model."""
    settings: CritiqueSettings = field(default_factory=CritiqueSettings)
    out: Path | None = None
    """The folder of its run; None takes one under `runs/`."""


CritiqueRunSource: TypeAlias = CritiqueJudge | StoredRun


@dataclass(frozen=True, slots=True, kw_only=True)
class CritiqueMeasurement:
    """The figures of a judge's critiques, and of texts that read nothing."""

    result: Result | None
    """None where the baselines alone were asked for."""
    baselines: Sequence[Result]
    folder: Path | None
    """The run that holds the critiques."""
    n_failed: int

    def as_json(self) -> dict[str, Any]:
        """The figures as plain values, for JSON."""
        return {
            "result": None if self.result is None else asdict(self.result),
            "baselines": [asdict(each) for each in self.baselines],
            "published": {"source": SOURCE, "scores": [asdict(each) for each in PUBLISHED]},
        }

    def keep(self, place: Path | None = None) -> None:
        """Saves the result in a place, else in the run's folder."""
        if self.result is not None:
            keep_result(self.result, self.folder, place)


def critique_source(
    judge: str | None = None,
    run: Path | None = None,
    out: Path | None = None,
    *,
    protocol: str | None = None,
    on_overflow: OnOverflow = "error",
) -> CritiqueRunSource | None:
    """The one source of critiques that is given; None where none is.

    Args:
        judge: its name, the path of its card, or backend:model.
        run: the folder of a finished run.
        out: the folder of the judge's run; None takes one under `runs/`.
        protocol: of the judge; None takes its own.
        on_overflow: the treatment of a case that is too long for the judge's context.

    Raises:
        ConfigError: both a judge and a run are given.
    """
    check_one({"--judge": judge, "--run": run}, least=0)
    if judge is None:
        return None if run is None else StoredRun(run)
    settings = CritiqueSettings(protocol=protocol, on_overflow=on_overflow)
    return CritiqueJudge(judge=judge, settings=settings, out=out)


def measure_critique_quality(
    source: CritiqueRunSource | None,
    *,
    cases: Path | None = None,
    limit: int | None = None,
    budget: Budget | None = None,
    watch: Watch = SILENT,
) -> CritiqueMeasurement:
    """Measure critiques of responses with one known error each, and of their clean twins.

    Args:
        source: a judge or a run; None measures the baselines that need no critic.
        cases: the file of planted errors; None takes the project's own.
        limit: its first rows that are taken, each with two responses; None takes all.
        budget: what a judge may spend; None sets no limit.
        watch: told what happens.

    Raises:
        DataError: the file cannot be read, or a run is not of it.
        ConfigError: the judge cannot rate by the protocol.
        Unfinished: the budget left some responses without a critique.
        BackendError: the engine broke down; what was written is kept.
    """
    path = _place(cases)
    rows = read_planted(path, limit)
    if source is None:
        return CritiqueMeasurement(
            result=None, baselines=baselines(rows, None), folder=None, n_failed=0
        )
    data = planted_cases(path, rows)
    if isinstance(source, StoredRun):
        folder = RunFolder.existing(source.path)
    else:
        spec = writing_spec(load_card(source.judge), source.settings)
        folder = judge_all(data, spec, source.out, budget=budget, watch=watch).folder
    spec = folder.spec()
    asked = [case for _, case in data.readable()]
    verdicts = align(asked, resolve_run(folder, spec), folder.path)
    pairs = pairs_of(verdicts)
    n_none = sum(each.critique is None for pair in pairs for each in (pair.planted, pair.clean))
    if n_none == len(verdicts):
        raise DataError(
            "has no critiques",
            path=folder.path,
            hint="Rate the responses with --critique, or name the judge with --judge.",
        )
    notes = (
        "Named and accused are matched by rules on the planted words; no model judges them.",
        *([f"Responses without a critique: {n_none:,}; unscored, not missed."] if n_none else []),
    )
    return CritiqueMeasurement(
        result=evaluate(
            rows,
            pairs,
            critic=(spec.critic or spec.judge).name,
            source=f"run {folder.path} ({spec.protocol})",
            notes=notes,
        ),
        baselines=baselines(rows, pairs),
        folder=folder.path,
        n_failed=sum(each.n_failed for each in verdicts),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedScores:
    """A critic's published figures; None where only F1 is stated."""

    critic: str
    precision: float | None
    recall: float | None
    f1: float


PUBLISHED = (
    PublishedScores(critic="Auto-J", precision=0.764, recall=0.707, f1=0.711),
    PublishedScores(critic="GPT-3.5", precision=None, recall=None, f1=0.687),
    PublishedScores(critic="SelFee", precision=None, recall=None, f1=0.542),
)
"""Shares, 0 to 1."""


def _place(cases: Path | None) -> Path:
    if cases is not None:
        return cases
    if not SHIPPED.is_file():
        raise DataError(
            "there is no such file",
            path=SHIPPED,
            hint="Run in the project's folder, or give a file in its layout with --cases.",
        )
    return SHIPPED
