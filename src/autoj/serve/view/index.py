"""The index of one run: positions of its lines and columns to filter by, made step by step.

A finished run is indexed by its cases and verdicts. Of one that is still being written the verdicts
are resolved from the plan and the ledger as their answers come in. Files that are replaced, as the
verdicts are when a session ends, have the index made anew.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

from autoj import jsonl
from autoj.errors import AutojError, DataError
from autoj.records import Asked, Case, MarkedVerdict, Verdict
from autoj.reports.html.sources import PageRun
from autoj.runs import CaseRecord
from autoj.runs.case_record import case_record
from autoj.runs.files import CASES, FOLLOW, PLAN, VERDICTS, digests_of
from autoj.runs.place import is_locked
from autoj.runs.plan_file import as_asked, checked_rows
from autoj.runs.spec import RunSpec
from autoj.serve.view.columns import FOLLOWED, FROM_FILE, JUDGED, PLANNED, Columns, id_hash
from autoj.serve.view.lines import GrowingAnswers, GrowingLines, decoded, line_at

_Record = TypeVar("_Record")
_STEPS = 64
"""Lines between two looks at the clock."""


class RunIndex:
    """A run's cases by row, as far as they are indexed.

    Args:
        run: the run; its folder is only read.
        spec: its settings.
    """

    def __init__(self, run: PageRun, spec: RunSpec) -> None:
        self.run, self.spec = run, spec
        self._verdict = Verdict if spec.sure_threshold is None else MarkedVerdict
        self._reset()

    def _reset(self) -> None:
        path = self.run.path
        known = digests_of(path).get(CASES)
        self.n_cases = jsonl.count_lines(path / CASES) if known is None else known.n_lines
        self.columns = Columns(self.n_cases)
        self.damage: AutojError | None = None
        """The damage that stopped the indexing; None where none was found."""
        self.is_whole = False
        """True where all lines that are there are indexed."""
        self._answers = GrowingAnswers(path)
        self._cases, self._verdicts = GrowingLines(path, CASES), GrowingLines(path, VERDICTS)
        self._plan, self._follow = GrowingLines(path, PLAN), GrowingLines(path, FOLLOW)
        self._place = {PLAN: 0, FOLLOW: 0}
        self._pending: list[int] = []
        self._signature = self._signed()
        self._steps = self._all_steps()
        self._n_known = 0
        self._was_running = self.is_running

    @property
    def is_running(self) -> bool:
        """True where a session seems to write to the folder."""
        return is_locked(self.run.path)

    @property
    def n_judged(self) -> int:
        """The indexed cases with a verdict."""
        return int(np.count_nonzero(self.columns.has(JUDGED)))

    def advance(self, seconds: float) -> bool:
        """Indexes for some seconds, or until all that is there is indexed.

        Args:
            seconds: the time, about.

        Returns:
            True where it found something new.
        """
        if self._signed() != self._signature:
            self._reset()
        if self.damage is not None:
            return False
        until = time.monotonic() + seconds
        before = self._progress()
        try:
            while time.monotonic() < until:
                if not self._some_steps():
                    self.is_whole, self._steps = True, self._all_steps()
                    break
        except AutojError as error:
            self.damage = error
            return True
        except OSError as error:
            # A file that a live run replaces just now; its signature changes, and it is read anew.
            self.damage = jsonl.damaged(self.run.path, None, f"cannot be read: {error.strerror}")
            return True
        self._was_running = self.is_running
        return self._progress() != before

    def _some_steps(self) -> bool:
        return all(next(self._steps, self) is None for _ in range(_STEPS))

    def _progress(self) -> tuple[int, bool, bool]:
        files = (self._cases, self._verdicts, self._plan, self._follow)
        n_read = self._answers.n_lines + sum(each.n_lines for each in files)
        return n_read, self.is_whole, self._was_running

    def _signed(self) -> tuple[object, ...]:
        """The files that are written whole, and the identity of those that grow."""
        whole = [_stat(self.run.path / name) for name in (CASES, VERDICTS)]
        grown = [_stat(self.run.path / name) for name in (PLAN, FOLLOW)]
        return (*whole, *(None if its is None else its[0] for its in grown))

    def _all_steps(self) -> Iterator[None]:
        yield from self._index_cases()
        yield from self._answers.read()
        yield from self._index_plan(self._plan, PLAN, "plan_at", PLANNED)
        yield from self._index_plan(self._follow, FOLLOW, "follow_at", FOLLOWED)
        yield from self._resolve_pending()

    def _index_cases(self) -> Iterator[None]:
        verdicts = self._verdicts.read()
        ahead = self._next_verdict(verdicts)
        for offset, line in self._cases.read():
            case = decoded(Case, line, self._cases)
            row = self.columns.add_case(case, offset)
            if ahead is not None and ahead[1].case_id == case.id:
                self.columns.add_verdict(row, case, ahead[1])
                self.columns.put(row, "verdict_at", ahead[0], FROM_FILE)
                ahead = self._next_verdict(verdicts)
            yield
        if ahead is not None:
            what = f"its verdict on case {ahead[1].case_id!r} does not follow the cases"
            raise jsonl.damaged(self._verdicts.path, None, what)
        self.n_cases = self.columns.n

    def _next_verdict(self, verdicts: Iterator[tuple[int, bytes]]) -> tuple[int, Verdict] | None:
        found = next(verdicts, None)
        if found is None:
            return None
        return found[0], decoded(self._verdict, found[1], self._verdicts)

    def _index_plan(self, lines: GrowingLines, name: str, column: str, flag: int) -> Iterator[None]:
        ids = self.columns["id"]
        for offset, line in lines.read():
            asked = decoded(Asked, line, lines)
            wanted, place = id_hash(asked.case_id), self._place[name]
            # The rows of a plan are in the order of the cases, several to a case.
            if not (place and ids[place - 1] == wanted):
                while place < len(ids) and ids[place] != wanted:
                    place += 1
                if place == len(ids):
                    what = f"its rows about case {asked.case_id!r} do not follow the cases"
                    raise jsonl.damaged(lines.path, None, what)
                self._place[name] = place + 1
                self.columns.put(place, column, offset, flag)
                if name == PLAN and not self.columns["flags"][place] & JUDGED:
                    self._pending.append(place)
            yield

    def _resolve_pending(self) -> Iterator[None]:
        """Resolves the verdicts that are not in the file, if there are new answers."""
        n_known = self._answers.n_lines + self._plan.n_lines
        if n_known == self._n_known:
            return
        left = []
        for row in self._pending:
            record = self.record(row)
            if record.verdict is None:
                left.append(row)
            else:
                self.columns.add_verdict(row, record.case, record.verdict)
            yield
        self._pending, self._n_known = left, n_known

    def case(self, row: int) -> Case:
        """The case of a row.

        Raises:
            DataError: its line is damaged.
        """
        offset = int(self.columns["case_at"][row])
        return _read(Case, self.run.path / CASES, offset)

    def stored_verdict(self, row: int) -> Verdict | None:
        """The verdict of a row in the run's file; None where that has none yet."""
        if not self.columns["flags"][row] & FROM_FILE:
            return None
        return _read(self._verdict, self.run.path / VERDICTS, int(self.columns["verdict_at"][row]))

    def record(self, row: int) -> CaseRecord:
        """The case of a row with its judgments; without them as long as they are not indexed.

        Raises:
            DataError: a line of it is damaged.
        """
        case, path = self.case(row), self.run.path
        first = self._asked(PLAN, "plan_at", PLANNED, row, case)
        first = as_asked(path / PLAN, case, first, self.spec)
        found = case_record(
            case,
            first,
            lambda: self._asked(FOLLOW, "follow_at", FOLLOWED, row, case),
            path,
            self.spec,
            self._answers,
        )
        if found.verdict is None and (stored := self.stored_verdict(row)) is not None:
            return CaseRecord(case=case, verdict=stored, judgments=(), paired=self.spec.paired)
        return found

    def _asked(self, name: str, column: str, flag: int, row: int, case: Case) -> list[Asked]:
        if not self.columns["flags"][row] & flag:
            return []
        path = self.run.path / name
        try:
            found = list(_rows_about(case.id, path, int(self.columns[column][row])))
        except (OSError, ValueError) as error:
            raise jsonl.damaged(path, None, error) from None
        return checked_rows(path, case, found)


def _rows_about(case_id: str, path: Path, offset: int) -> Iterator[Asked]:
    with path.open("rb") as stream:
        stream.seek(offset)
        for line in stream:
            if not line.endswith(b"\n"):
                return
            asked = jsonl.decode_as(Asked, line)
            if asked.case_id != case_id:
                return
            yield asked


def _read(kind: type[_Record], path: Path, offset: int) -> _Record:
    try:
        return jsonl.decode_as(kind, line_at(path, offset))
    except (OSError, ValueError) as error:
        raise jsonl.damaged(path, None, error) from None


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def check_has_verdicts(index: RunIndex) -> None:
    """Refuses a run that has no verdict and no session that makes some.

    Raises:
        DataError: it is one.
    """
    if index.is_whole and index.n_judged == 0 and not index.is_running:
        raise DataError("has no verdicts yet", path=index.run.path, hint="Resume the run.")
