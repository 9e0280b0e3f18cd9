"""The task behind `autoj judge` and `autoj rate`: by one judge, by a jury, or on a cluster."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

from autoj.cluster.ray import judge_on_cluster
from autoj.runs import RunSpec
from autoj.runs.stores.address import StoreAddress
from autoj.tasks.judge import judge
from autoj.tasks.judge_in_store import judge_in_store
from autoj.tasks.jurors import Jury
from autoj.tasks.jury import judge_by_jury


def judging(
    asked: RunSpec | Jury,
    cluster: Literal["ray"] | None,
    n_shards: int | None,
    out: Path | StoreAddress | None,
) -> Callable[..., Any]:
    """The call that judges as the flags want it; each takes the same arguments.

    Args:
        asked: the settings of the run, or the jury.
        cluster: the kind of cluster, if any.
        n_shards: its number of shards.
        out: the run's folder, or its address in an object store.
    """
    if cluster or n_shards:
        return partial(judge_on_cluster, cluster=cluster, n_shards=n_shards)
    if isinstance(out, StoreAddress):
        return judge_in_store
    return judge_by_jury if isinstance(asked, Jury) else judge
