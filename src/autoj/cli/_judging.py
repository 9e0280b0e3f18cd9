"""The work behind `autoj judge` and `autoj rate`: by one judge, by a jury, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

from autoj.cli import _console
from autoj.cli._progress import watching
from autoj.cluster.ray import judge_on_cluster
from autoj.datasets.base import Cases
from autoj.reports.scenario_sources import Breakdown
from autoj.reports.show import finished
from autoj.runs import RunSpec
from autoj.runs.budget import Budget
from autoj.tasks.judge import judge
from autoj.tasks.jurors import Jury
from autoj.tasks.jury import judge_by_jury


def show_judged(
    cases: Cases,
    asked: RunSpec | Jury,
    out: Path | None,
    cluster: Literal["ray"] | None,
    n_shards: int | None,
    *,
    budget: Budget,
    cache: bool | None,
    by: Breakdown | None,
) -> None:
    """Judges as the flags want it, and shows the run.

    Args:
        cases: the data.
        asked: the settings of the run, or the jury.
        out: the run's folder; None takes the default one.
        cluster: the kind of cluster, if any.
        n_shards: its number of shards.
        budget: the caps.
        cache: the use of earlier runs' answers; None where a judge costs.
        by: the breakdown of the figures.
    """
    judge_cases: Callable[..., Any] = judge_by_jury if isinstance(asked, Jury) else judge
    if cluster or n_shards:
        judge_cases = partial(judge_on_cluster, cluster=cluster, n_shards=n_shards)
    with watching() as watch:
        run = judge_cases(cases, asked, out, budget=budget, watch=watch, cache=cache)
    _console.show_either(finished(run, by))
