"""The shards of a run: a folder for each beside the whole run's, their progress, and the merge.

`OUT-shards/shards.json` lists the shards that make up the run now. A shard that gives up its rest,
or that another number of shards replaces, leaves the list; its folder stays, and the shards that
share cases with it take its answers before they ask.
"""

import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.cluster.dealing import PartSizes, deal, overlap, part_sizes
from autoj.cluster.worker import GIVE_UP, ShardRun
from autoj.datasets.base import Cases
from autoj.errors import ConfigError, DataError, SpecMismatch
from autoj.jsonl import read_records, write_records
from autoj.runs import RunFolder, RunSpec, is_finished, merge_runs
from autoj.runs.files import FAILURES, LEDGER
from autoj.runs.growth import MAY_GROW
from autoj.runs.opening import discarded_if_unused
from autoj.runs.place import HOLDER, locked
from autoj.runs.rereading import take_reading_settings
from autoj.runs.settings import changed_settings, read_settings, read_spec, settings_of
from autoj.runs.shards import Shard
from autoj.runs.stores.address import StoreAddress
from autoj.runs.stores.manifest import SHARDS
from autoj.system_errors import storage_error
from autoj.tasks.default_paths import run_folder
from autoj.tasks.run import Run

_log = logging.getLogger(__name__)

MOST_SHARDS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """The content of `shards.json`."""

    n_shards: int
    """The number that was asked for."""
    sizes: PartSizes
    shards: dict[str, str]
    """Of each folder its shard."""


class ShardRuns:
    """All shards of a run, as `open_shards` gives them to one driver at a time."""

    def __init__(
        self, out: Path, spec: RunSpec, listed: _Listed, store: StoreAddress | None = None
    ) -> None:
        self.out = out
        """The folder of the whole run, absolute."""
        self._store = store
        self.runs: tuple[ShardRun, ...] = ()
        """The shards that make up the run now."""
        self.spec = spec
        """The settings of the whole run."""
        self._folder = folder_of(out)
        self._take(listed)

    def _take(self, listed: _Listed) -> None:
        self._listed = listed
        parsed = {name: _parsed(text) for name, text in listed.shards.items()}
        self._n_questions = {name: listed.sizes.questions(its) for name, its in parsed.items()}
        found = {path: read_spec(path).shard for path in _runs_in(self._folder)}
        earlier = {
            path: _parsed(text)
            for path, text in found.items()
            if text is not None and path.name not in parsed
        }
        self.runs = tuple(
            ShardRun(
                spec=replace(self.spec, shard=listed.shards[name]),
                path=self._folder / name,
                known=tuple(path for path, other in earlier.items() if overlap(its, other)),
                store=self._store,
            )
            for name, its in parsed.items()
        )

    def deal_again(self, n_shards: int) -> None:
        """Deals out all parts but those of finished shards.

        Args:
            n_shards: the most shards for what is open.
        """
        kept = {run.name: _shard_of(run) for run in self.runs if _is_judged(run.path)}
        done = {part for shard in kept.values() for part in shard.parts}
        sizes = self._listed.sizes
        rest = [part for part in range(1, sizes.of + 1) if part not in done]
        dealt = deal(rest, sizes, n_shards)
        self._list({*kept}, dealt, f"{{}}-of-{n_shards}", n_shards)

    def _list(self, kept: set[str], added: Sequence[Shard], name: str, n_shards: int) -> set[str]:
        """Writes the list: those that stay, and new ones, whose names are returned."""
        shards = {its: text for its, text in self._listed.shards.items() if its in kept}
        taken = {*shards, *(path.name for path in _runs_in(self._folder))}
        for number, shard in enumerate(added, start=1):
            shards[_free(name.format(number), {*taken, *shards})] = str(shard)
        listed = replace(self._listed, n_shards=n_shards, shards=shards)
        write_records(self._folder / SHARDS, [listed])
        self._take(listed)
        return {*shards} - kept

    def n_questions(self, run: ShardRun) -> int:
        """The most questions of a shard, critiques after verdicts and second orders included."""
        return self._n_questions[run.name]

    def may_split(self, run: ShardRun) -> bool:
        """True where a shard has several parts."""
        return len(_shard_of(run).parts) > 1

    def split(self, run: ShardRun, n_pieces: int) -> list[ShardRun]:
        """Replaces a shard that has given up its rest by pieces, which take over its answers.

        Args:
            run: the shard; no worker is at it any more.
            n_pieces: the most pieces.
        """
        pieces = deal(_shard_of(run).parts, self._listed.sizes, n_pieces)
        kept = {*self._listed.shards} - {run.name}
        names = self._list(kept, pieces, f"{run.name}-{{}}", self._listed.n_shards)
        run.give_up.unlink(missing_ok=True)
        return [its for its in self.runs if its.name in names]

    def merge(self) -> Run:
        """Merges the shards that have cases into the whole run, and opens it."""
        listed = [run.path for run in self.runs if (run.path / "run.json").is_file()]
        if (self.out / "run.json").is_file():
            # An earlier merge goes first, and may be read in another way than its shards are now.
            with locked(self.out):
                take_reading_settings(RunFolder(self.out), self.spec)
        merge_runs(listed, self.out)
        return Run.open(self.out)


@contextmanager
def open_shards(
    cases: Cases,
    spec: RunSpec,
    out: Path | None,
    n_shards: int,
    store: StoreAddress | None = None,
) -> Iterator[ShardRuns]:
    """Opens the shards of a run, each with its folder under `OUT-shards/`.

    A run that has shards keeps them. Where their number was another, those that are finished stay,
    and all others are dealt out again.

    Args:
        cases: the data; read here where it must be dealt out.
        spec: the settings of the whole run.
        out: the folder of the whole run; None takes the default one.
        n_shards: the number of shards, 2 to 100,000; several for each worker even out their times.
        store: the folder of all shards in an object store, of which `OUT-shards/` is a copy; None
            where workers share it.

    Raises:
        ConfigError: the settings name a shard already, the number is out of range, or the run is
            there and its shards are not.
        SpecMismatch: the shards that are there were made with other settings.
        RunBusy: another driver has them, or a worker of an earlier one is still at a shard.
        DataError: a row cannot be read.
        StorageFull: the disk is full.
    """
    if spec.shard is not None:
        raise ConfigError(
            f"shard {spec.shard} cannot be dealt out to a cluster",
            hint="Leave out --shard: every worker takes a shard of all cases.",
        )
    if not 2 <= n_shards <= MOST_SHARDS:
        raise ConfigError(f"a run on a cluster has 2 to {MOST_SHARDS:,} shards, not {n_shards:,}")
    whole = (out or run_folder(spec, cases)).absolute()
    folder = folder_of(whole)
    if whole.exists() and not folder.exists() and any(whole.iterdir()):
        raise ConfigError(
            f"{whole} is there, and its shards, {folder}, are not",
            hint="Leave out --cluster to go on in this process, or choose another --out.",
        )
    with discarded_if_unused(folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, folder) from error
        with locked(folder):
            for left in folder.glob(f"*{GIVE_UP}"):
                # Of a driver that was killed.
                left.unlink()
            for named in folder.glob(f"*/{HOLDER}"):
                # A worker that was killed has left its name. What one that is still at it asks must
                # not be asked by another, too.
                with locked(named.parent):
                    pass
            yield _opened(cases, spec, whole, n_shards, store)


def _opened(
    cases: Cases, spec: RunSpec, whole: Path, n_shards: int, store: StoreAddress | None
) -> ShardRuns:
    folder = folder_of(whole)
    listed = next(read_records(folder / SHARDS, _Listed), None)
    if listed is None or listed.n_shards != n_shards:
        _check_settings(_runs_in(folder), spec, cases)
        sizes = part_sizes(cases, spec, n_shards) if listed is None else listed.sizes
        runs = ShardRuns(whole, spec, listed or _Listed(n_shards=0, sizes=sizes, shards={}), store)
        runs.deal_again(n_shards)
        return runs
    return ShardRuns(whole, spec, listed, store)


def folder_of(whole: Path) -> Path:
    """The folder of a run's shards, beside the run's own."""
    return whole.with_name(f"{whole.name}-shards")


def _runs_in(folder: Path) -> list[Path]:
    """The folders of all shards, of earlier ones, too."""
    return sorted(path.parent for path in folder.glob("*/run.json"))


def _parsed(text: str) -> Shard:
    shard = Shard.parse(text)
    assert shard is not None, "a shard of a run with several is not all of it"
    return shard


def _shard_of(run: ShardRun) -> Shard:
    return _parsed(run.spec.shard or "")


def _free(name: str, taken: set[str]) -> str:
    """A name that no folder has."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}.{number}"
    return found


def _check_settings(paths: Sequence[Path], spec: RunSpec, cases: Cases) -> None:
    """Refuses shards whose answers the run could not take."""
    if not paths:
        return
    wanted = settings_of(spec, cases)
    for path in paths:
        found = changed_settings(read_settings(path), wanted)
        if wrong := [its for its in found if its.name not in (*MAY_GROW, "shard")]:
            raise SpecMismatch(path, map(str, wrong))


def _is_judged(path: Path) -> bool:
    """True where every question of a shard has its answer."""
    if not (path / "run.json").is_file():
        return False
    folder = RunFolder(path)
    try:
        return is_finished(folder, folder.spec())
    except DataError as error:
        _log.warning("%s; its shard is dealt out again", error.message)
        return False


class ShardProgress:
    """Counts the answers of all shards from their files, reading each line once."""

    def __init__(self, shards: ShardRuns) -> None:
        self._shards = shards
        self._counts: dict[str, tuple[_LineCount, _LineCount]] = {}

    def share_asked(self, ended: Collection[ShardRun]) -> float:
        """The share of the most questions that is asked: 1, or less where second orders are saved.

        The first orders say how many are saved, so it is that of the shards that have ended; until
        one has, it is the least that any asks.

        Args:
            ended: the shards with no worker at them.
        """
        spec = self._shards.spec
        if spec.second_order is None:
            return 1.0
        if n_most := sum(map(self._shards.n_questions, ended)):
            return sum(map(self.counted, ended)) / n_most
        n_critiques = int(spec.critique)
        return (1 + spec.second_order.always_full + n_critiques) / (2 + n_critiques)

    def counted(self, run: ShardRun) -> int:
        """The answers of a shard, and questions that failed, at most the number of its questions.

        A question that failed and was answered later stands in both files.
        """
        if run.name not in self._counts:
            self._counts[run.name] = (
                _LineCount(run.path / LEDGER),
                _LineCount(run.path / FAILURES),
            )
        n_lines = sum(each.count() for each in self._counts[run.name])
        return min(n_lines, self._shards.n_questions(run))


class _LineCount:
    """The lines of a file that grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._n = 0

    def count(self) -> int:
        try:
            with self._path.open("rb") as stream:
                if stream.seek(0, 2) < self._offset:
                    # A resumed shard has written the file anew.
                    self._offset = self._n = 0
                stream.seek(self._offset)
                while block := stream.read(1 << 20):
                    self._offset += len(block)
                    self._n += block.count(b"\n")
        except FileNotFoundError:
            return 0
        return self._n
