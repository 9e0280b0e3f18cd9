"""A filled sheet of guessed scenarios, read back: CSV with the columns `id` and `review`.

`review` is empty where nobody looked, `ok` where the guess is right, `drop` where the query is of
no use, else the right scenario's name. `reports.construct_review` writes such sheets.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autoj.construct.review.answers import REVIEWS, Answer, Review, read_reviews
from autoj.construct.review.opening import rows_by_id
from autoj.construct.stages import StageFolder
from autoj.datasets._delimited import read_delimited
from autoj.errors import DataError, UnknownComponent
from autoj.jsonl import Appender
from autoj.records import Case
from autoj.scenarios import Library
from autoj.scenarios.seeds import query_digest

COLUMNS = ("id", "query", "guess", "probability", "review")
_NEEDED = ("id", "review")
# The apostrophes of `reports.text.guarded`.
_GUARD = re.compile(r"\A'|'(?=[=+\-@＝＋－＠\s])")
RIGHT, DROP = "ok", "drop"
_SAID: Mapping[str, Answer] = {
    "ok": "right", "right": "right", "yes": "right", "drop": "dropped", "delete": "dropped",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSheet:
    """The answers that were taken from a sheet."""

    n_rows: int
    n_new: int
    """Answers that were not there before, or were others."""
    n_empty: int
    """Rows that nobody looked at."""


def read_sheet(path: Path, stage: StageFolder, library: Library) -> ReadSheet:
    """Takes the answers of a sheet over into a stage's reviews: all of them, or none.

    Args:
        path: the sheet, in CSV with commas, semicolons or tabs.
        stage: the reviewed stage.
        library: the scenarios that a row may be given.

    Raises:
        DataError: the sheet cannot be read, lacks a column, names an unknown row or scenario; with
            the line.
    """
    rows = list(_rows(path))
    if not rows:
        raise DataError("is empty: it has no rows", path=path)
    known = rows_by_id(stage.written(), {name for _, row in rows for name in _ids(row["id"])})
    taken: list[Review] = []
    faults: list[DataError] = []
    for line, row in rows:
        try:
            review = _review(row, known, library)
        except _Fault as fault:
            faults.append(
                DataError(fault.said, path=path, line=line, field=fault.field, hint=fault.hint)
            )
            continue
        if review is not None:
            taken.append(review)
    if faults:
        raise _refused(faults)
    before = read_reviews(stage.path)
    new = [review for review in taken if _differs(review, before.get(review.query_sha256))]
    kept = Appender(stage.path / REVIEWS)
    try:
        for review in new:
            kept.append(review)
    finally:
        kept.close()
    return ReadSheet(n_rows=len(rows), n_new=len(new), n_empty=len(rows) - len(taken))


def _refused(faults: Sequence[DataError]) -> DataError:
    """The first fault, and the number of others."""
    first, n_more = faults[0], len(faults) - 1
    said = [first.hint, "Nothing was taken over."]
    if n_more:
        said.append(f"{n_more:,} more {'row has' if n_more == 1 else 'rows have'} a fault.")
    hint = " ".join(part for part in said if part)
    return DataError(first.reason, path=first.path, line=first.line, field=first.field, hint=hint)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a sheet, by its columns' names without case and blanks."""
    for line, row in read_delimited(path):
        if isinstance(row, DataError):
            raise row
        cells = {name.strip().casefold(): cell for name, cell in row.items()}
        if missing := [name for name in _NEEDED if name not in cells]:
            raise DataError(
                f"has no column {missing[0]!r}; its columns are {', '.join(row)}",
                path=path,
                line=1,
                hint="--to-csv writes a sheet with all columns.",
            )
        yield line, cells


class _Fault(Exception):
    """A row that cannot be taken over."""

    def __init__(self, said: str, field: str, hint: str | None = None) -> None:
        super().__init__(said)
        self.said, self.field, self.hint = said, field, hint


def _review(row: dict[str, Any], known: Mapping[str, Case], library: Library) -> Review | None:
    """The answer of a row; None where there is none.

    Raises:
        _Fault: it names an unknown row or scenario.
    """
    said = str(row["review"]).strip().removeprefix("'")
    if not said:
        return None
    case = next((known[name] for name in _ids(row["id"]) if name in known), None)
    if case is None:
        raise _Fault(
            f"no guessed row has the id {row['id']!r}",
            "id",
            "The column must be as --to-csv wrote it; a spreadsheet may have changed what looks "
            "like a number or a date.",
        )
    assert case.scenario is not None
    answer, scenario = _SAID.get(said.casefold()), case.scenario
    if answer is None:
        try:
            scenario = library.find(said).name
        except UnknownComponent as error:
            raise _Fault(
                f"expected ok, drop or a scenario, found {said!r}", "review", error.hint
            ) from None
        answer = "right" if scenario == case.scenario else "renamed"
    return Review(
        id=case.id,
        query_sha256=query_digest(case.query),
        guessed=case.scenario,
        answer=answer,
        scenario=None if answer == "dropped" else scenario,
    )


def _ids(cell: str) -> tuple[str, ...]:
    """The ids that a cell may stand for: apostrophes may guard it from running as a formula."""
    bare = cell.strip()
    return cell, bare, bare.removeprefix("'"), _GUARD.sub("", bare)


def _differs(review: Review, before: Review | None) -> bool:
    return before is None or (review.answer, review.scenario) != (before.answer, before.scenario)


def cell_of(review: Review | None) -> str:
    """The cell of an answer, as `read_sheet` reads it."""
    match review:
        case Review(answer="right"):
            return RIGHT
        case Review(answer="dropped"):
            return DROP
        case Review(answer="renamed", scenario=str(name)):
            return name
    return ""
