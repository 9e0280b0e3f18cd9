"""The end of a command with `--plan`: nothing is judged, and what it would take is shown."""

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

from autoj.cli import _console
from autoj.cli._progress import watching
from autoj.datasets.base import Cases
from autoj.reports.plan import plan_view
from autoj.runs.spec import RunSpec
from autoj.runs.stores.address import StoreAddress
from autoj.tasks.judge_in_store import thrown_away_copy
from autoj.tasks.jurors import Jury
from autoj.tasks.plan import plan_all


def show_plan(
    cases: Cases, planned: RunSpec | Jury, out: Path | StoreAddress | None, cache: bool | None
) -> None:
    """Show what a run of one judge or of a jury would take.

    Args:
        cases: the data.
        planned: the settings of the run, or the jury.
        out: the run's folder, or its address in an object store; None takes the default folder.
        cache: the use of earlier runs' answers; None where a judge costs.
    """
    # Of a stored run a copy of its own, as its speed may be tried there.
    copied = thrown_away_copy(planned, out) if isinstance(out, StoreAddress) else nullcontext(out)
    with copied as folder, watching() as watch:
        estimates = plan_all(cases, planned, folder, kept=folder is out, cache=cache, watch=watch)
    _console.show(estimates, lambda found: {"plan": [*map(asdict, found)]}, plan_view)
