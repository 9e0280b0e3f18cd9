"""A run as its caller gets it: the cases with their verdicts, and this session's counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from autoj.errors import MissingExtra, Unfinished
from autoj.jsonl import count_lines
from autoj.notebook import InNotebook
from autoj.records import Case, Verdict
from autoj.runs import RunCounts, RunFolder, RunSpec
from autoj.runs.cost import Cost
from autoj.runs.table import columns_of, flat_rows

if TYPE_CHECKING:
    import pandas
    import pyarrow


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(InNotebook):
    """A run in its folder; iterate over it for each case with its verdict, read lazily.

    `Run.open(path)` opens one that was made before.
    """

    folder: RunFolder
    spec: RunSpec
    counts: RunCounts = field(default_factory=RunCounts)
    """The counts of this session; all zero where nothing was left to ask."""
    stopped: bool = False
    """True where a cap on money or requests held something back."""
    cost: Cost | None = None
    """The cost by the prices in the judge's card; None where it states none."""

    @classmethod
    def open(cls, path: Path | str) -> Run:
        """Opens an existing run, finished or not.

        Raises:
            DataError: the path is not a run's folder.
        """
        folder = RunFolder.existing(Path(path))
        usd = folder.settings().get("cost_usd")
        cost = Cost(session_usd=0.0, run_usd=usd) if isinstance(usd, float) else None
        return cls(folder=folder, spec=folder.spec(), cost=cost)

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.folder.path

    @property
    def n_cases(self) -> int:
        """The number of its cases, judged or not."""
        return self.folder.n_cases()

    @property
    def n_judged(self) -> int:
        """The number of cases with a verdict."""
        return count_lines(self.path / "verdicts.jsonl")

    def __len__(self) -> int:
        return self.n_judged

    def __iter__(self) -> Iterator[tuple[Case, Verdict]]:
        return self.folder.judged()

    def check_whole(self) -> None:
        """Checks that every case has its verdict.

        Raises:
            Unfinished: a cap held some back; the same call with a higher one resumes the run.
        """
        n_judged, n_cases = self.n_judged, self.n_cases
        if n_judged < n_cases:
            raise Unfinished(
                f"{self.path} has {n_judged:,} of {n_cases:,} verdicts; the same command resumes it"
            )

    def to_arrow(self) -> pyarrow.Table:
        """One row per pair, or per rated response, with the columns that `autoj export` writes.

        Raises:
            MissingExtra: pyarrow is not installed.
        """
        return arrow_table(self, self.spec)

    def to_pandas(self) -> pandas.DataFrame:
        """Converts the table of `to_arrow` to a data frame.

        Raises:
            MissingExtra: pyarrow or pandas is not installed.
        """
        return pandas_table(self, self.spec)


def arrow_table(judged: Iterable[tuple[Case, Verdict]], spec: RunSpec) -> pyarrow.Table:
    """Cases with their verdicts as the table that `Run.to_arrow` describes.

    Args:
        judged: them.
        spec: the settings of the run, or of one juror.

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
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns_of(spec).items()])
    rows = [row for case, verdict in judged for row in flat_rows(case, verdict, spec)]
    return pyarrow.Table.from_pylist(rows, schema)


def pandas_table(judged: Iterable[tuple[Case, Verdict]], spec: RunSpec) -> pandas.DataFrame:
    """The same as a data frame.

    Raises:
        MissingExtra: pyarrow or pandas is not installed.
    """
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise MissingExtra("data", "a run as a data frame") from None
    return arrow_table(judged, spec).to_pandas()
