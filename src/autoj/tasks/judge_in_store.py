"""Judges or rates on a local disk, and keeps the run in an object store."""

from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.runs import RunSpec
from autoj.runs.budget import Budget
from autoj.runs.stores.address import StoreAddress
from autoj.runs.stores.stored_run import stored_run
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.judge import judge
from autoj.tasks.jurors import Jury
from autoj.tasks.run import Run


def judge_in_store(
    cases: Cases,
    asked: RunSpec | Jury,
    out: StoreAddress,
    *,
    budget: Budget | None = None,
    watch: Watch = SILENT,
    cache: bool | None = False,
) -> Run:
    """Judges in a local copy of a stored run, which is synced at an interval and at the end.

    Args:
        cases: the data.
        asked: the settings.
        out: the run's address.
        budget: as in `tasks.judge.judge`.
        watch: as there.
        cache: as there.

    Returns:
        The run in its local copy.

    Raises:
        ConfigError: a jury is asked for, or the store cannot be used.
        AutojError: as `tasks.judge.judge` and `stored_run`.
    """
    if isinstance(asked, Jury):
        raise ConfigError(
            f"{out} can keep one judge's run, not a jury's",
            hint="Judge by the jury into a folder, or run each judge with an address of its own.",
        )
    with stored_run(out, watch) as stored:
        run = judge(cases, asked, stored.folder, budget=budget, watch=stored.watch, cache=cache)
    watch.message(f"{out} keeps the run; its copy here is {stored.folder}")
    return run
