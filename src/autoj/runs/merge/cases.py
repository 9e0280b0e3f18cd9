"""The cases of several runs in the order of the data, each once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from autoj.errors import ConfigError, DataError
from autoj.jsonl import read_records
from autoj.records import Asked, Case
from autoj.runs.files import CASES, FOLLOW, PLAN
from autoj.runs.folder import RunFolder
from autoj.runs.merge.row_index import RowIndex
from autoj.runs.settings import stable_part
from autoj.runs.shards import PlacedCase, Shard, joined_shards


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """The fields of a case that state its position."""

    position: int | None = None


class JoinedRun:
    """A run to be merged: its settings, and its rows by case."""

    def __init__(self, path: Path) -> None:
        """Reads its files once.

        Raises:
            DataError: it is not a run, or a file is damaged.
        """
        self.folder = RunFolder.existing(path)
        self.settings = self.folder.settings()
        self.spec = self.folder.spec()
        self.shard = None if self.spec.shard is None else Shard.parse(self.spec.shard)
        for name in (CASES, PLAN, FOLLOW):
            self.folder.compare(name)
        self.cases = RowIndex(path / CASES, PlacedCase, lambda case: case.id)
        if not len(self.cases):
            raise DataError("holds no cases", path=path / CASES)
        self.plan = RowIndex(path / PLAN, Asked, lambda asked: asked.case_id)
        self.follow = RowIndex(path / FOLLOW, Asked, lambda asked: asked.case_id)

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.folder.path

    def positions(self) -> npt.NDArray[np.int64]:
        """The position of each of its cases in the data, in the order of its file."""
        if self.shard is None:
            return np.arange(len(self.cases))
        path = self.path / CASES
        found = [place.position for place in read_records(path, _Place)]
        if None in found:
            raise DataError("is damaged: a case of a shard has no position", path=path)
        return np.array(found, dtype=np.int64)

    def dealt(self) -> tuple[int, int]:
        """The number of cases that its data has for all shards, and of distinct ones."""
        if self.shard is None:
            return len(self.cases), len(self.cases)
        match self.settings.get("dealt"):
            case {"n_cases": int(n_cases), "n_distinct": int(n_distinct)}:
                return n_cases, n_distinct
        raise DataError(
            "is damaged: it does not state the number of cases of all shards",
            path=self.path / "run.json",
            field="dealt",
        )

    def close(self) -> None:
        """Closes its files."""
        for rows in (self.cases, self.plan, self.follow):
            rows.close()


class JoinedCases:
    """The cases of several runs, each once.

    Memory is 24 bytes a case of each run.
    """

    def __init__(self, sources: Sequence[JoinedRun]) -> None:
        """Compares the cases of the runs.

        Raises:
            ConfigError: incomplete shards of different data sets are merged.
            DataError: a run is damaged.
        """
        data: dict[bytes, list[JoinedRun]] = {}
        for source in sources:
            data.setdefault(orjson.dumps(stable_part(source.settings)["data"]), []).append(source)
        self._groups = [_Group(group) for group in data.values()]
        parts = [group for group in self._groups if group.shard is not None]
        if parts and len(self._groups) > 1:
            raise ConfigError(
                f"{parts[0].sources[0].path} is shard {parts[0].shard} of its data, and the runs "
                "are of different data sets",
                hint="Merge the shards of each data set first, then the results.",
            )
        self.shard = self._groups[0].shard
        """The part of the data that they hold together; None where it is all."""
        self.dealt = self._groups[0].dealt
        """The number of cases of the data, and of distinct ones, where `shard` is not None."""
        self.n_missing = sum(group.dealt[0] - group.n_cases for group in self._groups)
        """The number of cases of the data that no run holds."""

    @property
    def several_data(self) -> bool:
        """True where the runs are of different data sets."""
        return len(self._groups) > 1

    def data(self) -> dict[str, Any]:
        """The data's description for `run.json`."""
        records = [group.sources[0].settings["data"] for group in self._groups]
        files: dict[str, str] = {}
        for record in records:
            for path, digest in zip(record["paths"], record["sha256"], strict=True):
                files.setdefault(digest, path)
        derivations = dict.fromkeys(filter(None, (record.get("derivation") for record in records)))
        return {
            "format": records[0]["format"],
            "paths": list(files.values()),
            "sha256": list(files),
            "derivation": "; ".join(derivations) or None,
        }

    def first_sources(self) -> list[JoinedRun]:
        """One run of each data set."""
        return [group.sources[0] for group in self._groups]

    def __iter__(self) -> Iterator[Case]:
        """Iterates over the cases in order.

        Raises:
            DataError: two runs hold different cases under one id.
        """
        earlier: list[JoinedRun] = []
        for group in self._groups:
            for source, case in group.cases():
                known = next((rows[0] for one in earlier if (rows := one.cases.of(case.id))), None)
                if known is not None:
                    _check_same(known, case, source)
                    continue
                yield case if self.shard is not None else case.plain()
            earlier += group.sources


class _Group:
    """Runs of the same data."""

    def __init__(self, sources: list[JoinedRun]) -> None:
        self.sources = sources
        self.dealt = sources[0].dealt()
        for source in sources:
            if source.dealt()[0] != self.dealt[0]:
                raise DataError(
                    f"is damaged: its data has {source.dealt()[0]:,} cases, and by "
                    f"{sources[0].path} the same data has {self.dealt[0]:,}",
                    path=source.path,
                )
        if known := [source for source in sources if source.shard is not None]:
            self.dealt = known[0].dealt()
        positions = [source.positions() for source in sources]
        self._positions = np.concatenate(positions)
        self._runs = np.repeat(np.arange(len(sources)), [len(found) for found in positions])
        self._places = np.concatenate([np.arange(len(found)) for found in positions])
        self.n_cases = len(np.unique(self._positions))
        joined = joined_shards(source.shard for source in sources)
        self.shard = None if self.n_cases == self.dealt[0] else joined
        if joined is None and self.n_cases < self.dealt[0]:
            raise DataError(
                f"is damaged: all its shards are there, and {self.dealt[0] - self.n_cases:,} cases "
                "are missing",
                path=sources[0].path,
            )

    def cases(self) -> Iterator[tuple[JoinedRun, PlacedCase]]:
        """The cases in the order of the data, each from the first run that holds it."""
        known: PlacedCase | None = None
        last: int | None = None
        for index in np.lexsort((self._runs, self._positions)):
            position = int(self._positions[index])
            source = self.sources[self._runs[index]]
            (case,) = source.cases.at(int(self._places[index]))
            if position == last and known is not None:
                _check_same(known, case, source)
                continue
            known, last = case, position
            yield source, PlacedCase.of(case, position)


def _check_same(known: Case, found: Case, source: JoinedRun) -> None:
    if _judged(known) != _judged(found):
        raise DataError(
            f"case {found.id!r} differs from the case of that id in an earlier run",
            path=source.path / CASES,
            hint="Give the cases distinct ids before judging: a row without an id is named after "
            "its line.",
        )


def _judged(case: Case) -> tuple[Any, ...]:
    """The judged parts of a case, and those it is compared with."""
    return (
        case.id, case.query, case.responses, case.history, case.critiques, case.reference,
        case.label, case.language,
    )  # fmt: skip
