"""The page of classified queries: scenarios by count, how sure their classifier was, each query."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from autoj.jsonl import count_lines
from autoj.records import Case
from autoj.reports import render
from autoj.reports.classify import CONFIDENCE, ClassifiedCount, ClassifiedSummary, named_otherwise
from autoj.reports.html.classified_sections import ClassifiedTally, classified_sections
from autoj.reports.html.listing import (
    CaseSample,
    LeftRows,
    ListFilter,
    Listing,
    PageEntry,
    named_apart,
    shown,
)
from autoj.reports.html.page import Page, RunPart
from autoj.reports.html.sources import run_facts
from autoj.reports.text import page_text
from autoj.runs.place import is_locked
from autoj.runs.watch import Watch
from autoj.tasks.classify import ClassifiedQuery, classified_run
from autoj.tasks.classify_file import ClassifiedRow, read_classified
from autoj.tasks.run import Run

SHOW = {
    "unsure": f"less sure than {100 * CONFIDENCE:.0f} %",
    "other": "named otherwise than its row",
    "outside": "outside the taxonomy",
    "unreadable": "unreadable",
    "failed": "failed",
    "not asked": "not asked yet",
    "truncated": "cut to fit",
}
"""Kinds of classified queries, in words."""
FAULTS = {"unreadable", "failed"}
NO_SCENARIO = "(none)"
"""The name under which a query without a scenario is found."""


class ClassifiedSource:
    """A judge's run that named scenarios, or a classifier's file of rows; read once.

    Args:
        path: the run's folder or the file, finished or not.

    Raises:
        DataError: it is neither.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._run = None if path.is_file() else Run.open(path)
        self.n = count_lines(path) if self._run is None else self._run.n_cases
        """Its queries."""
        self._count, self._tally = ClassifiedCount(CONFIDENCE), ClassifiedTally()
        self._lacks_queries = False

    def rows(self, watch: Watch) -> Iterator[tuple[Case, ClassifiedQuery]]:
        """Its queries with their scenarios, lazily; each is counted.

        Args:
            watch: hears of the progress.

        Raises:
            DataError: it is damaged, or empty.
        """
        found: Iterable[tuple[Case, ClassifiedQuery]]
        if self._run is None:
            found = read_classified(self.path)
        else:
            found = classified_run(self._run.folder, self._run.spec)
        for n_read, (case, row) in enumerate(found, start=1):
            watch.progress(f"reading {self.path.name}", n_read, self.n)
            self._count.add(case, row)
            self._tally.add(row)
            self._lacks_queries |= not has_query(row)
            yield case, row

    def classifier(self) -> str:
        """The name of the judge, or of the classifier that the file's first row names.

        Raises:
            DataError: the file is empty, or that row damaged.
        """
        if self._run is not None:
            return self._run.spec.judge.name
        _, row = next(read_classified(self.path))
        return row.classifier

    @property
    def is_sure(self) -> bool:
        """True where the rows that were read state probabilities."""
        return bool(self._tally.sureness)

    def summary(self) -> ClassifiedSummary:
        """The counts of the rows that were read."""
        return self._count.result()

    def part(self, name: str, prefix: str = "") -> RunPart:
        """Its part of a page's overview, once its rows are read.

        Args:
            name: its heading.
            prefix: the beginning of its charts' file names.

        Raises:
            MissingExtra: the extra `report` is not installed.
        """
        summary = self.summary()
        by = f"{summary.classifier} ({summary.digest})" if summary.digest else summary.classifier
        facts = [("file", str(self.path))] if self._run is None else list(run_facts(self._run))
        return RunPart(
            name=name,
            headline=_headline(summary),
            facts=[(label, shown(value)) for label, value in (("named by", by), *facts)],
            sections=[*classified_sections(summary, self._tally, prefix)],
            about="What named them",
        )

    def banners(self) -> Iterator[str]:
        """Sentences to read first, once its rows are read."""
        name, summary = shown(self.path.name), self.summary()
        if self._run is not None and is_locked(self._run.path):
            yield f"{name} was still being written when this page was made."
        if summary.n_not_asked:
            yield f"{summary.n_not_asked:,} of {summary.n:,} queries of {name} are not asked yet."
        if self._lacks_queries:
            yield (
                f"{name} holds no queries, as older files do not. autoj classify writes it with "
                "them."
            )


def has_query(row: ClassifiedQuery) -> bool:
    """True where the query's text is known; it is not of rows of older files."""
    return not isinstance(row, ClassifiedRow) or row.query is not None


def classified_page(path: Path, most: int, left: LeftRows, watch: Watch) -> Page:
    """The page of a judge's run that named scenarios, or of a classifier's file of rows.

    Args:
        path: the run's folder or the file, finished or not.
        most: the most queries that the page holds, about.
        left: takes the others.
        watch: hears of the progress.

    Raises:
        DataError: the run or the file is damaged, or empty.
        MissingExtra: the extra `report` is not installed.
    """
    source = ClassifiedSource(path)
    keeps, entries = CaseSample(most, source.n), []
    for case, row in source.rows(watch):
        entry = _entry(case, row)
        if keeps(case.id):
            entries.append(entry)
        else:
            left.add(entry)
    return Page(
        title=f"Scenarios by {shown(source.summary().classifier)}",
        banners=[*source.banners(), *left.banner("queries", len(entries))],
        runs=[source.part(shown(path.name))],
        rows=Listing(
            noun="queries",
            filters=(
                ListFilter(name="show", label="Show", words=SHOW),
                ListFilter(name="group", label="Group"),
                ListFilter(name="scenario", label="Scenario"),
            ),
            orders={"unsure": "least sure first"} if source.is_sure else {},
            entries=named_apart(entries),
        ),
    )


def kinds_of(row: ClassifiedQuery) -> tuple[str, ...]:
    """The kinds of `SHOW` that a query is one of."""
    probability = row.probability
    return tuple(
        name
        for name, holds in (
            ("unsure", probability is not None and probability < CONFIDENCE),
            ("other", named_otherwise(row)),
            ("outside", row.scenario is not None and row.group is None),
            (row.state, row.state != "named"),
            ("truncated", row.truncated),
        )
        if holds
    )


def named_text(row: ClassifiedQuery) -> str:
    """A query's scenario and how sure that is, in words."""
    scenario = shown(row.scenario or NO_SCENARIO)
    if row.probability is None:
        return scenario
    return f"{scenario} ({render.percent(row.probability)})"


def row_facts(row: ClassifiedQuery) -> list[tuple[str, str]]:
    """Labels and values that say what was found of a query."""
    facts = [("scenario", named_text(row))]
    if row.group is not None:
        facts.append(("group", shown(row.group)))
    if row.alternatives:
        nexts = (f"{name} ({render.percent(share)})" for name, share in row.alternatives)
        facts.append(("next", shown(", ".join(nexts))))
    if row.reason is not None:
        facts.append(("because", shown(row.reason)))
    return facts


def _entry(case: Case, row: ClassifiedQuery) -> PageEntry:
    kinds = kinds_of(row)
    facts = row_facts(row)
    if row.row_scenario is not None:
        facts.append(("named by its row", shown(row.row_scenario)))
    return PageEntry(
        id=shown(case.id),
        query=page_text(case.query) if has_query(row) else None,
        summary=" · ".join([named_text(row), *(SHOW[kind] for kind in kinds)]),
        values={
            "show": kinds,
            "group": (shown(row.group or NO_SCENARIO),),
            "scenario": (shown(row.scenario or NO_SCENARIO),),
        },
        numbers={"unsure": -1.0 if row.probability is None else 1 - row.probability},
        tags=kind_tags(kinds),
        facts=tuple(facts),
    )


def kind_tags(kinds: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """The kinds of a query in words, each with True where it is a fault."""
    return tuple((SHOW[kind], kind in FAULTS) for kind in kinds)


def _headline(summary: ClassifiedSummary) -> str:
    n_named = 0 if summary.whole is None else summary.whole.n
    text = f"{summary.n:,} queries: {len(summary.scenarios)} scenarios of "
    text += f"{len(summary.groups)} groups"
    if n_named < summary.n:
        text += f", {summary.n - n_named:,} without one"
    if summary.whole is not None and (n_below := summary.whole.n_below) is not None:
        text += f"; {n_below:,} ({render.percent(n_below / n_named)}) {SHOW['unsure']}"
    return text
