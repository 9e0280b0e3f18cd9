"""A run as its caller gets it: the cases with their verdicts, and what this session did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from autoj.errors import MissingExtra, Unfinished
from autoj.jsonl import count_lines
from autoj.records import Case, Verdict
from autoj.runs import RunCounts, RunFolder, RunSpec
from autoj.runs.table import columns_of, flat_rows

if TYPE_CHECKING:
    import pandas
    import pyarrow


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run in its folder; iterate over it for each case with its verdict, read lazily.

    `Run.open(path)` is one that was made before.
    """

    folder: RunFolder
    spec: RunSpec
    counts: RunCounts = field(default_factory=RunCounts)
    """What this session did; all zero where there was nothing left to ask."""
    stopped: bool = False
    """Whether a cap on money or requests held something back."""

    @classmethod
    def open(cls, path: Path | str) -> Run:
        """A run that is there, finished or not.

        Raises:
            DataError: the path is no run's folder.
        """
        folder = RunFolder.existing(Path(path))
        return cls(folder=folder, spec=folder.spec())

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.folder.path

    @property
    def n_cases(self) -> int:
        """How many cases it has, judged or not."""
        return self.folder.n_cases()

    @property
    def n_judged(self) -> int:
        """How many of them have a verdict."""
        return count_lines(self.path / "verdicts.jsonl")

    def __len__(self) -> int:
        return self.n_judged

    def __iter__(self) -> Iterator[tuple[Case, Verdict]]:
        return self.folder.judged()

    def check_whole(self) -> None:
        """Make sure that every case has its verdict.

        Raises:
            Unfinished: a cap left some; the same call with a higher one goes on.
        """
        n_judged, n_cases = self.n_judged, self.n_cases
        if n_judged < n_cases:
            raise Unfinished(
                f"{self.path} holds {n_judged:,} of {n_cases:,} verdicts; the same command goes on"
            )

    def to_arrow(self) -> pyarrow.Table:
        """One row a pair, or one a rated response: the columns that `autoj export` writes.

        Raises:
            MissingExtra: pyarrow is not installed.
        """
        try:
            import pyarrow
        except ImportError:
            raise MissingExtra("data", "a run as a table") from None
        kinds = {
            "text": pyarrow.string(),
            "number": pyarrow.float64(),
            "whole": pyarrow.int64(),
            "flag": pyarrow.bool_(),
        }
        columns = columns_of(self.spec)
        schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
        rows = [row for case, verdict in self for row in flat_rows(case, verdict, self.spec)]
        return pyarrow.Table.from_pylist(rows, schema)

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a data frame.

        Raises:
            MissingExtra: pyarrow or pandas is not installed.
        """
        try:
            import pandas  # noqa: F401
        except ImportError:
            raise MissingExtra("data", "a run as a data frame") from None
        return self.to_arrow().to_pandas()
