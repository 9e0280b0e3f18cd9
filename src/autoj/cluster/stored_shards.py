"""The shards of a run in an object store: the driver's copy of them follows what workers store.

```
OUT-shards/shards.json …     the list of shards, as a stored run of one file: its writer is the
                             driver, so that there is one at a time
OUT-shards/3-of-64/…         each shard, as a stored run: its writer is the worker
OUT-shards/3-of-64.give-up   tells that worker to leave the rest to others
```
The driver has the same folders and files on its disk as on shared storage, one interval behind.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from autoj.cluster.shard_runs import ShardRuns, folder_of, open_shards
from autoj.cluster.worker import GIVE_UP
from autoj.datasets.base import Cases
from autoj.runs import RunSpec
from autoj.runs.place import HOLDER
from autoj.runs.stores.address import StoreAddress, is_run_name
from autoj.runs.stores.fetching import StoredCopy
from autoj.runs.stores.manifest import SHARDS
from autoj.runs.stores.objects import Objects, persistently
from autoj.runs.stores.stored_run import stored_run
from autoj.runs.watch import Watch
from autoj.tasks.default_paths import RUNS, slug

_AT_ONCE = 16
"""Shards that are looked at at a time: each look takes a store about a tenth of a second."""


@contextmanager
def shared_shards(
    cases: Cases, spec: RunSpec, out: Path | StoreAddress | None, n_shards: int, watch: Watch
) -> Iterator[tuple[ShardRuns, Callable[[], None], Watch]]:
    """Opens the shards of a run, on shared storage or in an object store.

    Args:
        cases: as in `open_shards`, like the others.
        spec: the settings of the whole run.
        out: its folder, or its address.
        n_shards: the number of shards.
        watch: told of what is waited for.

    Yields:
        The shards, a call that brings their folders here up to date, for merging them, and the
        watch, which stops the driver where another has taken the run over.

    Raises:
        AutojError: as `open_shards` and `stored_run`.
    """
    if not isinstance(out, StoreAddress):
        with open_shards(cases, spec, out, n_shards) as shards:
            yield shards, lambda: None, watch
        return
    whole = (RUNS / f"{slug(out.name)}-{out.digest}").absolute()
    address, folder = out.beside("-shards"), folder_of(whole)
    follower = _Follower(address, folder)
    with (
        stored_run(address, watch, folder=folder, whole=(SHARDS,), on_sync=follower.look) as stored,
        open_shards(cases, spec, whole, n_shards, address) as shards,
    ):
        # The list is there before any shard, for a driver that goes on elsewhere.
        persistently(stored.sync)
        yield shards, lambda: persistently(stored.sync), stored.watch


class _Follower:
    """Keeps a folder of shards as the store has them, and passes on who shall give up."""

    def __init__(self, address: StoreAddress, folder: Path) -> None:
        self._address, self._folder = address, folder
        self._objects = Objects(address)
        self._copies: dict[str, StoredCopy] = {}

    def look(self) -> None:
        """Fetches what is new."""
        names = self._objects.names()
        shards = [name for name in names if is_run_name(name) and not name.endswith(GIVE_UP)]
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            for _ in threads.map(self._fetch, shards):
                pass
        wanted = {path.name for path in self._folder.glob(f"*{GIVE_UP}")}
        there = {name for name in names if name.endswith(GIVE_UP)}
        for name in wanted - there:
            self._objects.create(name, b"")
        for name in there - wanted:
            self._objects.remove(name)

    def _fetch(self, name: str) -> None:
        if (copy := self._copies.get(name)) is None:
            copy = StoredCopy(Objects(self._address / name), self._folder / name)
            self._copies[name] = copy
        holder = copy.folder / HOLDER
        if copy.update().writer is None:
            holder.unlink(missing_ok=True)
        else:
            holder.touch()
