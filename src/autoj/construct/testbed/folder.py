"""The folder of a testbed.

```
testbed.json             settings, files and models; a later build may add files and models
pairs.jsonl              the drawn pairs, and the sets that each goes to
dropped.jsonl            rows that could not serve, with their reasons
candidates.jsonl         the samples of Eval-R
built.json               counts of the last build that read files
policies/NAME/           what a model answered: plan.jsonl, ledger.jsonl, failures.jsonl
annotators/NAME/         answers.jsonl, appended to
```
Lines that nobody could make again end in their checksum.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import orjson

from autoj.construct.stages import Dropped, replaced_files
from autoj.construct.testbed.settings import BuildSettings, changes
from autoj.errors import DataError, SpecMismatch
from autoj.jsonl import decode_as, encode, encode_summed, read_records, sum_agrees, write_records
from autoj.records import Case
from autoj.runs.files import PLAN
from autoj.runs.place import HOLDER, LOCK

RECORD, PAIRS, DROPPED = "testbed.json", "pairs.jsonl", "dropped.jsonl"
CANDIDATES, BUILT = "candidates.jsonl", "built.json"
POLICIES, ANNOTATORS = "policies", "annotators"

Origin: TypeAlias = Literal["labelled", "unlabelled", "made"]
""""labelled" and "unlabelled" pairs are the files'; "made" ones were answered by two policies."""
T = TypeVar("T")
_DAMAGED = "Restore the file from a copy; answers of models and people are in other files."


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPair:
    """A pair of a testbed: a line of `pairs.jsonl`."""

    case: Case
    """With the label that its file states, if it states one."""
    origin: Origin
    in_critique: bool = False
    """True where it is among Eval-C's."""
    in_rating: bool = False
    """True where its query is among Eval-R's."""

    @property
    def waits(self) -> bool:
        """True where people must label it."""
        return self.case.label is None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildCounts:
    """The counts of a build."""

    n_pairs_read: int = 0
    n_queries_read: int = 0
    n_of_other_scenarios: int = 0
    """Rows of scenarios that were not asked for."""
    n_not_drawn: int = 0
    """Rows that could have served, but no scenario lacked them."""
    n_requests: int = 0
    """Answers of models, of all sessions."""
    usd: float | None = None
    """Their cost; None where a card states no prices or nothing was asked."""
    contamination: list[dict[str, Any]] = field(default_factory=list)
    """The queries that each training file shares with the rows that were read."""


class Testbed:
    """A testbed in its folder.

    Args:
        path: the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def open(cls, path: Path) -> "Testbed":
        """Opens a testbed whose pairs are drawn.

        Raises:
            DataError: the path holds none, or no build of it was finished.
        """
        found = cls(path)
        found.record()
        if not (path / PAIRS).is_file():
            raise DataError(
                "has no pairs yet",
                path=path,
                hint=f"The command that began it goes on: autoj testbed build … --out {path}.",
            )
        return found

    def settings(self) -> BuildSettings:
        """The settings that it was begun with."""
        text = orjson.dumps(self.record()["settings"])
        try:
            return decode_as(BuildSettings, text)
        except ValueError as error:
            raise DataError(f"is damaged: {error}", path=self.path / RECORD) from None

    def record(self) -> dict[str, Any]:
        """The content of `testbed.json`.

        Raises:
            DataError: there is none, or it is damaged.
        """
        path = self.path / RECORD
        try:
            line = path.read_bytes()
        except OSError:
            raise DataError(
                f"is not a testbed: it has no {RECORD}",
                path=self.path,
                hint="Make one with `autoj testbed build`.",
            ) from None
        try:
            found = orjson.loads(line)
        except ValueError as error:
            raise DataError(f"is not JSON ({error})", path=path, hint=_DAMAGED) from None
        if sum_agrees(line) is not True or not isinstance(found, dict):
            raise DataError("was changed or damaged", path=path, hint=_DAMAGED)
        del found["sum"]
        return found

    def pairs(self) -> list[DrawnPair]:
        """The drawn pairs, by scenario in the order of the settings.

        Raises:
            DataError: the file is damaged.
        """
        return list(self._read(PAIRS, DrawnPair))

    def candidates(self) -> list[Case]:
        """The samples of Eval-R: a case per query and base model.

        Raises:
            DataError: the file is damaged.
        """
        return list(self._read(CANDIDATES, Case))

    def dropped(self) -> Iterator[Dropped]:
        """The rows that could not serve, lazily."""
        return self._read(DROPPED, Dropped)

    def counts(self) -> BuildCounts:
        """The counts of the last build."""
        return next(self._read(BUILT, BuildCounts), BuildCounts())

    def check(self, record: dict[str, Any]) -> None:
        """Checks that settings and sources go on with the pairs that are there.

        Raises:
            SpecMismatch: a setting differs, or a file or a model was changed or left out.
        """
        if not (self.path / PAIRS).is_file():
            return
        # As it would be read again: tuples become lists.
        differences = list(changes(self.record(), orjson.loads(orjson.dumps(record))))
        if differences:
            raise SpecMismatch(
                self.path,
                differences,
                what="other settings or files",
                hint="Files and models may be added, not changed or left out. For another testbed "
                "choose another --out.",
            )

    def bind(self, record: dict[str, Any]) -> None:
        """Records settings and sources; those that pairs were drawn by stay.

        Raises:
            SpecMismatch: they do not go on with what is there (`check`).
        """
        self.check(record)
        if not (self.path / PAIRS).is_file():
            # Plans find answers by case: those of other settings are found by their keys alone.
            for plan in self.path.glob(f"{POLICIES}/*/{PLAN}"):
                plan.unlink()
        write_records(self.path / RECORD, [record], encode_summed)

    def make(self) -> None:
        """Makes the folder.

        Raises:
            DataError: it cannot be made, or holds something else.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            names = {path.name for path in self.path.iterdir()}
        except OSError as error:
            raise DataError(f"cannot be made: {error.strerror}", path=self.path) from None
        if RECORD not in names and (others := sorted(names - {LOCK, HOLDER})):
            raise DataError(
                f"is not a testbed and not empty: it holds {others[0]!r}",
                path=self.path,
                hint="Choose another --out.",
            )

    def write_pairs(
        self, pairs: list[DrawnPair], dropped: list[Dropped], counts: BuildCounts
    ) -> None:
        """Writes the drawn pairs, what was dropped, and the counts.

        Raises:
            StorageFull: the disk is full.
        """
        with replaced_files(self.path, (BUILT, DROPPED, PAIRS)) as (built, left_out, drawn):
            built.write(encode(counts))
            left_out.writelines(map(encode, dropped))
            drawn.writelines(map(encode_summed, pairs))

    def write_candidates(self, cases: list[Case]) -> None:
        """Writes the samples of Eval-R.

        Raises:
            StorageFull: the disk is full.
        """
        write_records(self.path / CANDIDATES, cases, encode_summed)

    def write_counts(self, counts: BuildCounts) -> None:
        """Writes the counts of a build alone.

        Raises:
            StorageFull: the disk is full.
        """
        write_records(self.path / BUILT, [counts])

    def _read(self, name: str, kind: type[T]) -> Iterator[T]:
        try:
            yield from read_records(self.path / name, kind)
        except DataError as error:
            raise DataError(error.reason, path=error.path, line=error.line, hint=_DAMAGED) from None
