"""The file of a run's plan: written as it is read, and checked rows of it.

A session never leaves less of a plan than there was. Rows are read along with the run's cases.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, groupby
from pathlib import Path

from autoj import jsonl
from autoj.errors import DataError, StorageFull
from autoj.jsonl import damaged
from autoj.records import Asked, Case
from autoj.runs.folder import RunFolder
from autoj.runs.ledger import is_key
from autoj.runs.plan import asked_about
from autoj.runs.spec import RunSpec
from autoj.system_errors import storage_error

_BLOCK = 1 << 20


class PlanWriter:
    """Writes plan rows from the start, without touching those that are already there.

    A run's plan follows from its cases and its settings, so a resumed run plans the same rows.
    Where it does not, as where second orders join the first ones, the rows from there on go into
    a second file, which takes the plan's place when it is whole: a process that is killed leaves
    the plan as it was. Where the writing ends before the last case, the rows of the cases that were
    not reached are those of before.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(f"{path.name}.new")
        # Of a process that was killed.
        self._draft.unlink(missing_ok=True)
        self._appender = jsonl.Appender(path)
        self._there: Iterator[bytes] | None = jsonl.whole_lines(path)
        """The rows that the next ones are compared with; None once they differ or end."""
        self._rest: _Rest | None = None
        """The plan's further rows while another file is written; None while there is none."""
        self._n_bytes = 0
        self._case_id: str | None = None
        """The case of the last row that does not differ; None before the first."""

    def write(self, asked: Asked) -> None:
        """Writes the next row, unless it is there.

        Raises:
            StorageFull: the disk is full; the plan is as it was, or has all rows so far.
        """
        if self._there is not None:
            line = next(self._there, None)
            if line == jsonl.encode(asked):
                self._n_bytes += len(line)
                self._case_id = asked.case_id
                return
            there, self._there = self._there, None
            if line is not None:
                self._begin_draft(chain([line], there))
        if self._rest is not None:
            self._rest.skip(asked.case_id)
        try:
            self._appender.append(asked)
        except BaseException:
            # A file that lacks a row takes nothing's place.
            self._rest = None
            raise

    def _begin_draft(self, rest: Iterable[bytes]) -> None:
        self._copy_beginning()
        self._appender.close()
        self._appender = jsonl.Appender(self._draft)
        self._rest = _Rest(rest)
        if self._case_id is not None:
            # Its further rows of before follow from other settings.
            self._rest.skip(self._case_id)

    def _copy_beginning(self) -> None:
        """Copies the rows that do not differ."""
        left = self._n_bytes
        try:
            with self._path.open("rb") as there, self._draft.open("wb") as copy:
                while left:
                    left -= copy.write(there.read(min(left, _BLOCK)))
        except OSError as error:
            self._draft.unlink(missing_ok=True)
            raise storage_error(error, self._draft) from error

    def finish(self) -> None:
        """Drops the earlier rows after the last one: the plan has no more.

        Raises:
            StorageFull: the disk is full; the plan is as it was.
        """
        if self._there is not None and next(self._there, None) is not None:
            os.truncate(self._path, self._n_bytes)
        if self._rest is not None:
            self._rest = None
            self._take_place()
        self._there = None

    def _take_place(self) -> None:
        """Puts the second file in the plan's place."""
        self._appender.sync()
        try:
            self._draft.replace(self._path)
        except OSError as error:
            raise storage_error(error, self._path) from error

    def close(self) -> None:
        """Syncs and closes the file; one that was not finished keeps the further rows of before."""
        self._there = None
        if self._rest is not None:
            # A full disk is told by what needs its room; the plan is as it was.
            with suppress(StorageFull):
                for row in self._rest:
                    self._appender.append(row)
                self._take_place()
        self._appender.close()
        self._draft.unlink(missing_ok=True)


class _Rest:
    """The further rows of a plan, of cases that are not written anew."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._rows = _readable(lines)
        self._next = next(self._rows, None)

    def skip(self, case_id: str) -> None:
        """Passes over the rows of a case, if they are the next ones."""
        while self._next is not None and self._next.case_id == case_id:
            self._next = next(self._rows, None)

    def __iter__(self) -> Iterator[Asked]:
        while self._next is not None:
            yield self._next
            self._next = next(self._rows, None)


def earlier_rows(path: Path) -> Iterator[Asked]:
    """The rows of a plan that earlier sessions have left, up to the first damaged one."""
    return _readable(jsonl.whole_lines(path))


class PlanRows:
    """The rows of a plan by case, read along with the cases: both are in the same order."""

    def __init__(self, folder: RunFolder, name: str) -> None:
        self._path = folder.path / name
        self._groups = groupby(folder.rows(name, Asked), key=lambda asked: asked.case_id)
        self._ahead: tuple[str, list[Asked]] | None = None

    def of(self, case: Case) -> list[Asked]:
        """The rows of the next case; none where it has none.

        Raises:
            DataError: a row names a response that the case does not have.
        """
        if self._ahead is None:
            if (group := next(self._groups, None)) is None:
                return []
            self._ahead = group[0], list(group[1])
        if self._ahead[0] != case.id:
            return []
        rows, self._ahead = self._ahead[1], None
        return checked_rows(self._path, case, rows)

    def about(self, case: Case, spec: RunSpec) -> list[Asked]:
        """The rows of the first questions about the next case, which may not all be planned yet.

        Raises:
            DataError: they are not the questions that the run asks.
        """
        return as_asked(self._path, case, self.of(case), spec)

    def check_end(self) -> None:
        """Checks that all rows were about a case, after the last one.

        Raises:
            DataError: a row is left.
        """
        left = self._ahead or next(self._groups, None)
        if left is not None:
            raise self.damage(f"its rows about case {left[0]!r} do not follow the cases")

    def damage(self, what: str) -> DataError:
        """The error of a damaged plan."""
        return damaged(self._path, None, what)


def checked_rows(path: Path, case: Case, rows: list[Asked]) -> list[Asked]:
    """The rows about a case, which name its responses and keys of questions.

    Raises:
        DataError: a row names a response that the case does not have, or no key.
    """
    n_compared = max(len(case.responses), len(case.critiques))
    if not all(0 <= index < n_compared for row in rows for index in row.shown):
        raise damaged(path, None, f"a row about case {case.id!r} shows a response that it has not")
    if not all(is_key(row.key) for row in rows):
        raise damaged(path, None, f"a row about case {case.id!r} has no key of 64 hex digits")
    return rows


def as_asked(path: Path, case: Case, rows: list[Asked], spec: RunSpec) -> list[Asked]:
    """The rows of the first questions about a case, as the run asks them.

    Raises:
        DataError: they are not the questions that the run asks.
    """
    found = [(row.shown, row.sample, row.judge, row.protocol) for row in rows]
    wanted = [(*each, spec.judge.name, spec.protocol) for each in asked_about(case, spec)]
    if found != wanted[: len(found)]:
        raise damaged(
            path, None, f"the rows about case {case.id!r} are not the questions that the run asks"
        )
    return rows


def _readable(lines: Iterable[bytes]) -> Iterator[Asked]:
    """The rows up to the first damaged one: a session that goes on plans the rest again."""
    with suppress(ValueError):
        for line in lines:
            row = jsonl.decode_as(Asked, line)
            if not is_key(row.key):
                return
            yield row
