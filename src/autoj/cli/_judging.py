"""The task behind `autoj judge` and `autoj rate`: by one judge, by a jury, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from autoj.cluster.ray import judge_on_cluster
from autoj.runs import RunSpec
from autoj.tasks.judge import judge
from autoj.tasks.jurors import Jury
from autoj.tasks.jury import judge_by_jury


def judging(
    asked: RunSpec | Jury, cluster: Literal["ray"] | None, n_shards: int | None
) -> Callable[..., Any]:
    """The call that judges as the flags want it; each takes the same arguments.

    Args:
        asked: the settings of the run, or the jury.
        cluster: the kind of cluster, if any.
        n_shards: its number of shards.
    """
    if cluster or n_shards:
        return partial(judge_on_cluster, cluster=cluster, n_shards=n_shards)
    return judge_by_jury if isinstance(asked, Jury) else judge
