"""The end that `autoj judge` and `autoj rate` share: one judge or a jury, tables, exit code."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from autoj.cli import _console
from autoj.cli._progress import watching
from autoj.datasets.base import Cases
from autoj.reports.judge import run_view
from autoj.reports.jury import jury_view
from autoj.reports.jury_summary import summarise_jury
from autoj.reports.scenario_sources import Breakdown
from autoj.reports.summary import summarise
from autoj.runs.budget import Budget
from autoj.tasks.jury import JuryRun, judge_by_jury
from autoj.tasks.jury_folder import Jury
from autoj.tasks.run import Run

N_SHOWN = 20
"""Cases whose verdicts are listed above the summary."""


def run_jury(
    jury: Jury, cases: Cases, out: Path | None, by: Breakdown | None, budget: Budget, as_json: bool
) -> None:
    """Judge by a jury, print the result, and exit with 1 where something failed.

    Args:
        jury: the judges, and the rule that decides.
        cases: the data.
        out: the jury's folder; None takes the default one.
        by: the breakdown of the figures.
        budget: the caps on spending.
        as_json: whether stdout is for a machine.
    """
    with watching() as watch:
        found = judge_by_jury(cases, jury, out, budget=budget, watch=watch)
    show_jury(found, by, N_SHOWN, as_json, {"session": asdict(found.counts)})


def show_run(run: Run, by: Breakdown | None, as_json: bool) -> None:
    """Print a run's result, and exit with 1 where something failed or is left."""
    judged = run.folder.outlined() if run.spec.paired else run.folder.judged()
    summary = summarise(judged, run.spec, run.n_cases, by)
    if as_json:
        _console.print_json(
            {
                "run": str(run.path),
                "summary": asdict(summary),
                "session": asdict(run.counts),
                "verdicts": list(run.folder.verdicts()),
            }
        )
    else:
        _console.print_result(run_view(run, summary, N_SHOWN))
        _console.print_message(f"autoj show {run.path} CASE shows a case with its judgments")
    if summary.n_failed or run.stopped:
        raise typer.Exit(1)


def show_jury(
    run: JuryRun,
    by: Breakdown | None,
    n_shown: int,
    as_json: bool,
    session: dict[str, Any] | None = None,
) -> None:
    """Print a jury's result; after it judged, exit with 1 where something failed.

    Args:
        run: the jury, which has judged.
        by: the breakdown of its figures.
        n_shown: the number of cases to list.
        as_json: whether stdout is for a machine.
        session: this session's counts; None where the folder is only shown.
    """
    summary = summarise_jury(run.path, run.jury, by)
    if as_json:
        _console.print_json(
            _jury_record(run) | {"summary": asdict(summary)} | _verdicts(run) | (session or {})
        )
    else:
        _console.print_result(jury_view(run, summary, n_shown))
    if session is None:
        return
    if not as_json:
        first = run.path / run.jury.jurors[0].folder
        _console.print_message(f"autoj show {first} CASE shows a case with a judge's judgments")
    if summary.jury.n_failed:
        raise typer.Exit(1)


def _jury_record(run: JuryRun) -> dict[str, Any]:
    return {
        "run": str(run.path),
        "jury": run.jury.method or "mean rating",
        "judges": [
            {
                "name": juror.name,
                "protocol": juror.spec.protocol,
                "run": str(run.path / juror.folder),
            }
            for juror in run.jury.jurors
        ],
    }


def _verdicts(run: JuryRun) -> dict[str, Any]:
    return {"verdicts": [verdict for _, verdict in run.outlined()]}
