"""The end of a command with `--plan`: nothing is judged, and what it would take is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from autoj.cli import _console
from autoj.cli._progress import watching
from autoj.datasets.base import Cases
from autoj.reports.plan import plan_view
from autoj.runs.estimate import RunEstimate
from autoj.runs.spec import RunSpec
from autoj.tasks.jury_folder import Jury
from autoj.tasks.plan import plan_jury, plan_run, plan_tournaments


def show_plan(
    cases: Cases, planned: RunSpec | Jury, out: Path | None, cache: bool | None, as_json: bool
) -> None:
    """Show what a run of one judge or of a jury would take.

    Args:
        cases: the data.
        planned: the settings of the run, or the jury.
        out: the run's folder; None takes the default one.
        cache: the use of earlier runs' answers; None where a judge costs.
        as_json: whether stdout is for a machine.
    """
    estimates: Sequence[RunEstimate]
    with watching() as watch:
        if isinstance(planned, Jury):
            estimates = plan_jury(cases, planned, out, cache=cache, watch=watch)
        elif planned.task == "select":
            estimates = [plan_tournaments(cases, planned, out, cache=cache, watch=watch)]
        else:
            estimates = [plan_run(cases, planned, out, cache=cache, watch=watch)]
    if as_json:
        _console.print_json({"plan": [asdict(found) for found in estimates]})
    else:
        _console.print_result(plan_view(estimates))
