"""The runs behind one page: the first run's cases, and the verdicts of all runs on them."""

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from autoj.bench.base import group_name
from autoj.errors import ConfigError
from autoj.reports.html.entries import PageCase, page_case, page_verdict
from autoj.reports.html.sections import Section
from autoj.reports.html.sources import SHOWN_KINDS, PageRun, named_apart, run_facts
from autoj.reports.text import page_text
from autoj.runs.kind import kind_of
from autoj.runs.place import is_locked
from autoj.serve.view.columns import JUDGED, Bools, Columns, Rows
from autoj.serve.view.index import RunIndex, check_has_verdicts
from autoj.serve.view.lines import RowLines
from autoj.serve.view.overview import overview
from autoj.serve.view.selection import CaseFilter, TextSearch, select_rows
from autoj.tasks.jury import JuryRun
from autoj.tasks.run import Run

PAGE = 50
"""Cases on a page of the list."""
_SEARCH_SECONDS = 0.5
_MOST_KEPT = 4
"""Filters whose rows are kept for the next page."""
_SUMMARY_CHARACTERS = 120
_MOST_BYTES = 50_000_000
"""Files of that size are indexed in about a second."""
_LARGE_SECONDS, _SMALL_SECONDS = 0.2, 60.0
_MOST_SCENARIOS = 1_000
"""Scenarios to choose from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A line of the list of cases."""

    row: int
    id: str
    query: str
    label: str | float | None
    winner: str | None
    ratings: tuple[float | None, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """A page of the list of cases."""

    cases: tuple[Listed, ...]
    n_found: int
    n_searched: int
    """The cases that were looked at for the text; all that the other filters keep without one."""
    n_to_search: int


@dataclass(frozen=True, slots=True)
class _Figures:
    """The overviews of all runs, with what they took."""

    version: int
    sections: list[list[Section]]
    seconds: float
    ended: float

    def are_due(self, version: int, is_settled: bool) -> bool:
        """True where newer ones are worth their time: it is a tenth at most while runs grow."""
        rested = time.monotonic() - self.ended > 10 * self.seconds
        return version != self.version and (rested or is_settled)


class _YieldingLock:
    """A lock whose holder can tell that another thread waits for it."""

    def __init__(self) -> None:
        self._lock, self._counting = threading.RLock(), threading.Lock()
        self._n_waiting = 0

    def __enter__(self) -> None:
        self._count(1)
        self._lock.acquire()
        self._count(-1)

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _count(self, by: int) -> None:
        with self._counting:
            self._n_waiting += by

    def is_wanted(self) -> bool:
        """True where another thread waits."""
        return self._n_waiting > 0


class ViewedRuns:
    """Stored runs, indexed step by step; any thread may read while one indexes.

    Args:
        runs: from `open_viewed`.
    """

    def __init__(self, runs: Sequence[RunIndex]) -> None:
        self.runs = runs
        self.paired = runs[0].run.paired
        self.version = 0
        """Grows by one each time that the indexing finds something."""
        self._kept: OrderedDict[tuple[CaseFilter, int], Rows | TextSearch] = OrderedDict()
        self._searched: Columns | None = None
        """The columns of the searches that are kept; others after files were replaced."""
        self._figures: _Figures | None = None
        self._matched: tuple[int, list[Rows]] | None = None
        self._differing: tuple[int, Bools] | None = None
        self._lock = _YieldingLock()

    def advance(self, seconds: float) -> bool:
        """Indexes for some seconds at most; True where it found something."""
        # Every run is looked at, also behind one that is long.
        changed = [index.advance(seconds / len(self.runs)) for index in self.runs]
        if any(changed):
            self.version += 1
        return any(changed)

    def state(self) -> dict[str, Any]:
        """Progress, figures and facts of every run, as plain values."""
        return {
            "version": self.version,
            "n_cases": self.runs[0].n_cases,
            "paired": self.paired,
            "runs": [self._run_state(index, its) for index, its in self._with_figures()],
            "groups": self._groups(),
        }

    def _with_figures(self) -> list[tuple[RunIndex, list[Section]]]:
        with self._lock:
            if self._figures is None or self._figures.are_due(self.version, self._is_settled()):
                begun, version = time.monotonic(), self.version
                found = [overview(index.columns, paired=self.paired) for index in self.runs]
                ended = time.monotonic()
                self._figures = _Figures(version, found, ended - begun, ended)
            return list(zip(self.runs, self._figures.sections, strict=True))

    def _is_settled(self) -> bool:
        return all(index.is_whole and not index.is_running for index in self.runs)

    def _run_state(self, index: RunIndex, sections: list[Section]) -> dict[str, Any]:
        damage = index.damage
        return {
            "name": index.run.name,
            "n_cases": index.n_cases,
            "n_indexed": index.columns.n,
            "n_judged": index.n_judged,
            "is_whole": index.is_whole,
            "is_running": index.is_running,
            "damage": None if damage is None else page_text(str(damage)).text,
            "facts": index.run.facts,
            "sections": sections,
        }

    def _groups(self) -> dict[str, list[tuple[str, str]]]:
        """By group, the scenarios and how the page shows them."""
        found: dict[str, list[tuple[str, str]]] = {}
        names = [name for name in list(self.runs[0].columns.scenarios) if name is not None]
        for name in sorted(names[:_MOST_SCENARIOS]):
            found.setdefault(group_name(name) or "", []).append((name, page_text(name).text))
        return found

    def page(self, wanted: CaseFilter, number: int) -> ListPage:
        """A page of the cases that a filter keeps.

        Args:
            wanted: the filter.
            number: the page's number, from 0.

        Raises:
            DataError: a line of a case is damaged.
        """
        with self._lock:
            found = self._rows(wanted)
            if isinstance(found, TextSearch):
                n_wanted = (number + 1) * PAGE + 1
                found.go_on(_SEARCH_SECONDS, n_wanted, self._lock.is_wanted)
                rows: Sequence[int] = found.found
                n_searched, n_to_search = found.n_searched, found.n_rows
            else:
                rows = found  # type: ignore[assignment]
                n_searched = n_to_search = len(found)
            shown = [int(row) for row in rows[number * PAGE : (number + 1) * PAGE]]
            return ListPage(
                cases=tuple(self._listed(row) for row in shown),
                n_found=len(rows),
                n_searched=n_searched,
                n_to_search=n_to_search,
            )

    def _rows(self, wanted: CaseFilter) -> Rows | TextSearch:
        key = wanted, self.version
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        rows = self._select(replace(wanted, q=""))
        found = self._search(wanted, rows) if wanted.q else rows
        self._kept[key] = found
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return found

    def _search(self, wanted: CaseFilter, rows: Rows) -> TextSearch:
        """A search, which goes on where one of an earlier version of the same files stopped."""
        columns, path = self.runs[0].columns, self.runs[0].run.path
        found = TextSearch(wanted.q, rows, lambda: RowLines(columns, path))
        if self._searched is not columns:
            self._searched = columns
            self._kept.clear()
        for (its, _), earlier in reversed(self._kept.items()):
            if its == wanted and isinstance(earlier, TextSearch):
                found.take_over(earlier)
                break
        return found

    def _select(self, wanted: CaseFilter) -> Rows:
        return select_rows(self.runs[0].columns, wanted, self._differ())

    def _listed(self, row: int) -> Listed:
        index = self.runs[0]
        case, verdict = index.case(row), index.stored_verdict(row)
        if verdict is None and index.columns["flags"][row] & JUDGED:
            verdict = index.record(row).verdict
        flags: list[str] = []
        ratings: tuple[float | None, ...] = ()
        if verdict is not None:
            flags = list(index.columns.flags_of(row))
            ratings = tuple(None if each is None else round(each, 2) for each in verdict.ratings)
        if self._differ()[row : row + 1].any():
            flags.append("differ")
        return Listed(
            row=row,
            id=page_text(case.id).text,
            query=page_text(case.query[:_SUMMARY_CHARACTERS]).text,
            label=case.label,
            winner=None if verdict is None else verdict.winner,
            ratings=ratings,
            flags=tuple(flags),
        )

    def _others(self) -> list[Rows]:
        """Per other run, its row of each case of the first run, or `_NOT_SHARED`."""
        if self._matched is None or self._matched[0] != self.version:
            version = self.version
            self._matched = version, [_match(self.runs[0], each) for each in self.runs[1:]]
        return self._matched[1]

    def _differ(self) -> Bools:
        """The rows on which some run names another winner than the first, `[n_matched]`."""
        if self._differing is None or self._differing[0] != self.version:
            self._differing = self.version, self._found_differing()
        return self._differing[1]

    def _found_differing(self) -> Bools:
        first = self.runs[0].columns
        differ = np.zeros(first.n, dtype=bool)
        for index, matched in zip(self.runs[1:], self._others(), strict=True):
            its = index.columns
            both = np.flatnonzero(matched[: len(differ)] < its.n)
            at = matched[both]
            judged = first.has(JUDGED)[both] & its.has(JUDGED)[at]
            differ[both] |= judged & (first["winner"][both] != its["winner"][at])
        return differ

    def case(self, row: int) -> PageCase | None:
        """A case with the verdicts and judgments of all runs; None where there is no such row.

        Raises:
            DataError: a line of it is damaged.
        """
        with self._lock:
            index = self.runs[0]
            if not 0 <= row < index.columns.n:
                return None
            record = index.record(row)
            verdicts = [page_verdict(record)]
            for other, matched in zip(self.runs[1:], self._others(), strict=True):
                at = int(matched[row]) if row < len(matched) else other.columns.n
                its = other.record(at) if at < other.columns.n else None
                verdicts.append(None if its is None else page_verdict(its))
            return page_case(record.case, verdicts)


_NOT_SHARED = np.iinfo(np.int32).max
"""Beyond the rows of any run: the place of a case that the other run lacks."""


def _match(first: RunIndex, other: RunIndex) -> Rows:
    n_other = other.columns.n
    content = other.columns["content"][:n_other]
    order = np.argsort(content, kind="stable")
    wanted = first.columns["content"]
    place = np.searchsorted(content[order], wanted)
    inside = place < n_other
    found = np.full(len(wanted), _NOT_SHARED, dtype=np.int32)
    at = order[place[inside]]
    found[inside] = np.where(content[at] == wanted[inside], at, _NOT_SHARED)
    return found


def open_viewed(paths: Sequence[Path], most_bytes: int = _MOST_BYTES) -> ViewedRuns:
    """Opens runs for the page; small ones are indexed and checked whole, large ones for a moment.

    Args:
        paths: folders of runs, finished or not; a jury stands for the runs of its judges.
        most_bytes: of the files of runs that are indexed before this returns. What is damaged in
            larger ones is found later, and said on the page.

    Raises:
        ConfigError: a run has no verdicts on single cases, or some runs compare and others rate.
        DataError: a folder is no run, is damaged, or has no verdicts and nobody who writes some.
    """
    runs = [page_run(run) for path in paths for run in _opened(path)]
    if len({run.paired for run in runs}) > 1:
        raise ConfigError(
            "these runs cannot stand on one page: some have winners of pairs, others ratings",
            hint="View each kind alone.",
        )
    indexes = [RunIndex(run, run.run.spec) for run in named_apart(runs) if isinstance(run.run, Run)]
    viewed = ViewedRuns(indexes)
    n_bytes = sum(each.stat().st_size for run in runs for each in run.path.iterdir())
    viewed.advance(_LARGE_SECONDS if n_bytes > most_bytes else _SMALL_SECONDS)
    for index in indexes:
        if index.damage is not None:
            raise index.damage
        check_has_verdicts(index)
    return viewed


def _opened(path: Path) -> list[Run]:
    kind = kind_of(path)
    if kind not in SHOWN_KINDS:
        raise ConfigError(
            f"{path} is a run of autoj {kind}; the page shows runs of judge and rate, and juries",
            hint=f"autoj show {path} shows it.",
        )
    if kind != "jury":
        return [Run.open(path)]
    folders = [path / juror.folder for juror in JuryRun.open(path).jury.jurors]
    # A judge whose turn has not come has no folder yet.
    return [Run.open(folder) for folder in folders if (folder / "run.json").is_file()]


def page_run(run: Run) -> PageRun:
    """A run as a source of the page, with the facts that its files state."""
    return PageRun(
        name=page_text(run.spec.judge.name).text,
        path=run.path,
        paired=run.spec.paired,
        scalar=run.spec.protocol == "scalar",
        n_cases=0,
        is_running=is_locked(run.path),
        facts=tuple((label, page_text(value).text) for label, value in run_facts(run)),
        run=run,
    )
