"""The end that `autoj judge` and `autoj rate` share: one judge or a jury, tables, exit code."""

from __future__ import annotations

from pathlib import Path

from autoj.cli import _console
from autoj.cli._progress import watching
from autoj.cluster.ray import judge_on_ray
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.reports.judge import run_record, run_view
from autoj.reports.jury import jury_record, jury_session_record, jury_view
from autoj.reports.jury_summary import summarise_jury
from autoj.reports.scenario_sources import Breakdown
from autoj.reports.summary import summarise
from autoj.runs import RunSpec
from autoj.runs.budget import Budget
from autoj.tasks.jurors import Jury
from autoj.tasks.jury import judge_by_jury
from autoj.tasks.run import Run

N_SHOWN = 20
"""Cases whose verdicts are listed above the summary."""


def run_jury(
    jury: Jury,
    cases: Cases,
    out: Path | None,
    by: Breakdown | None,
    budget: Budget,
    cache: bool | None,
) -> None:
    """Judge by a jury, print the result, and exit with 1 where something failed.

    Args:
        jury: the judges, and the rule that decides.
        cases: the data.
        out: the jury's folder; None takes the default one.
        by: the breakdown of the figures.
        budget: the caps on spending.
        cache: the use of earlier runs' answers; None where a judge costs.
    """
    with watching() as watch:
        found = judge_by_jury(cases, jury, out, budget=budget, watch=watch, cache=cache)
    summary = summarise_jury(found.path, found.jury, by)
    first = found.path / found.jury.jurors[0].folder
    _console.show(
        summary,
        lambda its: jury_record(found, its) | jury_session_record(found),
        lambda its: jury_view(found, its, N_SHOWN),
        f"autoj show {first} CASE shows a case with a judge's judgments",
    )
    _console.exit_if(summary.jury.n_failed)


def run_cluster(
    cases: Cases,
    asked: RunSpec | Jury,
    out: Path | None,
    by: Breakdown | None,
    cluster: str | None,
    n_shards: int | None,
    budget: Budget,
    cache: bool | None,
) -> None:
    """Judge on a cluster by one judge, print the result, and exit with 1 where something failed.

    Raises:
        ConfigError: one of the two flags is missing, or another does not work on a cluster.
    """
    if cluster is None or n_shards is None:
        given, missing = ("--shards", "--cluster ray") if n_shards else ("--cluster", "--shards 64")
        raise ConfigError(f"{given} needs {missing}")
    if isinstance(asked, Jury):
        raise ConfigError(
            "--cluster takes one judge", hint="Run each judge, then show them with autoj report."
        )
    if (budget.max_usd, budget.max_requests) != (None, None) or cache:
        raise ConfigError(
            "--cluster has no --max-usd, --max-requests and --cache: its shards cannot see what "
            "the others spend"
        )
    with watching() as watch:
        run = judge_on_ray(cases, asked, out, n_shards=n_shards, watch=watch)
    show_run(run, by)


def show_run(run: Run, by: Breakdown | None) -> None:
    """Print a run's result, and exit with 1 where something failed or is left."""
    judged = run.folder.outlined() if run.spec.paired else run.folder.judged()
    summary = summarise(judged, run.spec, run.n_cases, by)
    _console.show(
        summary,
        lambda its: run_record(run, its),
        lambda its: run_view(run, its, N_SHOWN),
        f"autoj show {run.path} CASE shows a case with its judgments",
    )
    _console.exit_if(summary.n_failed or run.stopped)
