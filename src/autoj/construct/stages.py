"""The folder of a stage: what was kept, what was dropped and why, and a summary.

```
kept.jsonl      the rows that go on, as native rows
dropped.jsonl   the others, each with its reason
summary.json    counts, reasons, tokens and cost; it comes last, so a stage that has one is done
reviews.jsonl   of a stage that a person has reviewed (`construct.review`)
```
A stage is a function from rows to rows and drops. Its files are written at once, so a killed stage
starts again; the answers of a teacher are in the ledgers of its waves and are not asked again.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any, TypeAlias

from autoj.construct.review.answers import Corrections, read_corrections
from autoj.datasets.base import read_file
from autoj.datasets.native import to_case
from autoj.errors import DataError
from autoj.jsonl import decode_as, encode, read_records, write_records
from autoj.records import Case
from autoj.system_errors import storage_error

KEPT, DROPPED, SUMMARY = "kept.jsonl", "dropped.jsonl", "summary.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A row that a stage left out: a line of `dropped.jsonl`."""

    id: str
    """The row's id, or its file and line where it could not be read."""
    reason: str
    """A name that is counted, such as "no label"."""
    detail: str | None = None
    """Details for a reader."""
    case: Case | None = None
    """The row; None where it could not be read."""


Outcome: TypeAlias = Case | Dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSummary:
    """The counts of a finished stage."""

    name: str
    """Its kind, such as "judge-pairs"."""
    n_in: int
    n_kept: int
    n_made: int = 0
    """Rows that the stage added; they are among the kept ones."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Rows by reason, the most frequent first."""
    n_requests: int = 0
    """Answers of a teacher, of all sessions."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = None
    """Their cost by the teacher's card; None where it states no prices or nothing was asked."""
    notes: dict[str, Any] = field(default_factory=dict)
    """Other findings of the stage, such as the rows of a contamination report."""


@dataclass(slots=True, kw_only=True)
class Spent:
    """The cost of a stage that asks a teacher."""

    n_requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = None


class StageFolder:
    """Reads and writes the files of one stage."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name

    def summary(self) -> StageSummary | None:
        """The summary; None where the stage is not done."""
        try:
            return decode_as(StageSummary, (self.path / SUMMARY).read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise DataError(
                f"is damaged: {error}",
                path=self.path / SUMMARY,
                hint="Delete it: the same command runs the stage again, and asks nothing twice.",
            ) from None

    def kept(self) -> Iterator[Case]:
        """The rows that go on, lazily, as a person has corrected them."""
        corrections = self.corrections()
        for case in self.written():
            if (corrected := corrections.apply(case)) is not None:
                yield corrected

    def written(self) -> Iterator[Case]:
        """The rows that the stage kept, lazily, before any correction."""
        return read_written(self.path / KEPT)

    def corrections(self) -> Corrections:
        """The changes of a person who reviewed the stage."""
        return read_corrections(self.path)

    def n_kept(self) -> int:
        """The number of rows that go on."""
        found = self.summary()
        if found is None:
            return 0
        return sum(1 for _ in self.kept()) if self.corrections().dropped else found.n_kept

    def dropped(self) -> Iterator[Dropped]:
        """The rows that were left out, lazily."""
        return read_records(self.path / DROPPED, Dropped)

    def write(
        self,
        outcomes: Iterable[Outcome],
        n_in: int | None = None,
        *,
        spent: Spent | None = None,
        notes: dict[str, Any] | None = None,
    ) -> StageSummary:
        """Writes the outcomes of a stage, then its summary.

        Args:
            outcomes: the rows, read once.
            n_in: the number of rows that came in; None where each outcome is one of them.
            spent: filled by the time the outcomes are read; None where no teacher was asked.
            notes: likewise.

        Raises:
            StorageFull: the disk is full.
        """
        n_kept, counts = write_outcomes(self.path, (KEPT, DROPPED), outcomes)
        n_out = n_kept + counts.total()
        summary = StageSummary(
            name=self.name,
            n_in=n_out if n_in is None else n_in,
            n_kept=n_kept,
            n_made=0 if n_in is None else n_out - n_in,
            dropped=dict(counts.most_common()),
            notes=notes or {},
            **({} if spent is None else asdict(spent)),
        )
        write_records(self.path / SUMMARY, [summary])
        return summary


def write_outcomes(
    folder: Path, names: tuple[str, str], outcomes: Iterable[Outcome]
) -> tuple[int, Counter[str]]:
    """Writes kept rows to one file and dropped ones to another; both appear at the end.

    Args:
        folder: made where there is none.
        names: the files of the kept and of the dropped rows.
        outcomes: the rows, read once.

    Returns:
        The number of kept rows, and that of dropped ones by reason.

    Raises:
        StorageFull: the disk is full.
    """
    counts: Counter[str] = Counter()
    n_kept = 0
    with replaced_files(folder, names) as (kept, dropped):
        for outcome in outcomes:
            if isinstance(outcome, Case):
                kept.write(encode(native_row(outcome)))
                n_kept += 1
            else:
                dropped.write(encode(outcome))
                counts[outcome.reason] += 1
    return n_kept, counts


@contextmanager
def replaced_files(folder: Path, names: Sequence[str]) -> Iterator[list[IO[bytes]]]:
    """Opens several files of a folder for writing; they appear together at the end of the block.

    Where the block fails, nothing of them is left.

    Args:
        folder: made where there is none.
        names: the files.

    Raises:
        StorageFull: the disk is full.
    """
    drafts = [folder / f"{name}.draft" for name in names]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            streams: list[IO[bytes]] = [opened.enter_context(one.open("wb")) for one in drafts]
            yield streams
            for stream in streams:
                stream.flush()
                os.fsync(stream.fileno())
        for draft, name in zip(drafts, names, strict=True):
            draft.replace(folder / name)
    except OSError as error:
        raise storage_error(error, folder) from error
    finally:
        for draft in drafts:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def read_written(path: Path) -> Iterator[Case]:
    """Reads rows that `native_row` made, lazily.

    Raises:
        DataError: the file is missing, or a row is damaged.
    """
    for _, case in read_file(path, _case_of):
        if not isinstance(case, Case):
            raise case
        yield case


def _case_of(row: dict[str, Any], line: int) -> Case:
    """The case of a native row, or of one that `native_row` wrote of a query alone."""
    if "responses" in row:
        return to_case(row, line)
    return replace(to_case({**row, "responses": [""]}, line), responses=())


def native_row(case: Case) -> dict[str, Any]:
    """A case as a native row, which every command reads.

    One without responses is a row of a query alone, which has no field for them.

    >>> from autoj.records import Response
    >>> case = Case(id="1", query="Why?", cluster="why", label="a",
    ...             responses=(Response(text="So."), Response(text="No.")))
    >>> native_row(case)["responses"]
    ['So.', 'No.']
    """
    row: dict[str, Any] = {"id": case.id, "query": case.query}
    if case.responses:
        row["responses"] = [
            response.text
            if response.model is None
            else {"text": response.text, "model": response.model}
            for response in case.responses
        ]
        row["label"] = case.label
    row |= {"scenario": case.scenario, "source": case.source, "language": case.language}
    if case.meta:
        row["meta"] = dict(case.meta)
    return row
