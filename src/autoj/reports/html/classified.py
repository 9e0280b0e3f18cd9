"""The page of classified queries: scenarios by count, how sure their classifier was, each query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from autoj.jsonl import count_lines
from autoj.records import Case
from autoj.reports import render
from autoj.reports.classify import CONFIDENCE, ClassifiedCount, ClassifiedSummary, ScenarioCount
from autoj.reports.html.charts import bar_chart
from autoj.reports.html.listing import (
    CaseSample,
    LeftRows,
    ListFilter,
    Listing,
    PageEntry,
    PageTable,
    named_apart,
    shown,
)
from autoj.reports.html.page import Page, RunPart
from autoj.reports.html.sections import MOST_ROWS, Section
from autoj.reports.html.sources import run_facts
from autoj.reports.html.texts import page_text
from autoj.runs.lock import is_locked
from autoj.runs.watch import Watch
from autoj.tasks.classify import ClassifiedQuery, classified_run
from autoj.tasks.classify_file import ClassifiedRow, read_classified
from autoj.tasks.run import Run

_SHOW = {
    "unsure": f"less sure than {100 * CONFIDENCE:.0f} %",
    "other": "named otherwise than its row",
    "outside": "outside the taxonomy",
    "unreadable": "unreadable",
    "failed": "failed",
    "not asked": "not asked yet",
    "truncated": "cut to fit",
}
_FAULTS = {"unreadable", "failed"}
_NO_SCENARIO = "(none)"
_N_OTHERWISE = 20
"""The most frequent pairs of a row's scenario and another one."""


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
    run = None if path.is_file() else Run.open(path)
    rows: Iterable[tuple[Case, ClassifiedQuery]]
    if run is None:
        n, rows = count_lines(path), read_classified(path)
        facts = [("file", str(path))]
    else:
        n, rows = run.n_cases, classified_run(run.folder, run.spec)
        facts = list(run_facts(run))
    keeps, entries = CaseSample(most, n), []
    count, tally = ClassifiedCount(CONFIDENCE), _Tally()
    for n_read, (case, row) in enumerate(rows, start=1):
        watch.progress(f"reading {path.name}", n_read, n)
        count.add(case, row)
        tally.add(row)
        entry = _entry(case, row)
        if keeps(case.id):
            entries.append(entry)
        else:
            left.add(entry)
    summary = count.result()
    by = f"{summary.classifier} ({summary.digest})" if summary.digest else summary.classifier
    return Page(
        title=f"Scenarios by {shown(summary.classifier)}",
        banners=[
            *_banners(path, run, summary, entries),
            *left.banner("queries", len(entries)),
        ],
        runs=[
            RunPart(
                name=shown(path.name),
                headline=_headline(summary),
                facts=[(label, shown(value)) for label, value in (("named by", by), *facts)],
                sections=[*_sections(summary, tally)],
                about="What named them",
            )
        ],
        rows=Listing(
            noun="queries",
            filters=(
                ListFilter(name="show", label="Show", words=_SHOW),
                ListFilter(name="group", label="Group"),
                ListFilter(name="scenario", label="Scenario"),
            ),
            orders={"unsure": "least sure first"} if tally.sureness.total() else {},
            entries=named_apart(entries),
        ),
    )


class _Tally:
    """Counts that the page shows beside those of `autoj classify`."""

    def __init__(self) -> None:
        self.sureness: Counter[int] = Counter()
        """Queries by the tenth of their probability."""
        self.otherwise: Counter[tuple[str, str]] = Counter()
        """Queries by (their row's scenario, the one that was found), where these differ."""
        self.reasons: Counter[str] = Counter()

    def add(self, row: ClassifiedQuery) -> None:
        """Count a query."""
        if row.probability is not None:
            self.sureness[min(9, int(10 * row.probability))] += 1
        if row.row_scenario is not None and row.scenario not in (None, row.row_scenario):
            self.otherwise[row.row_scenario, str(row.scenario)] += 1
        if row.scenario is None:
            self.reasons[f"{row.state}: {row.reason}" if row.reason else row.state] += 1


def _entry(case: Case, row: ClassifiedQuery) -> PageEntry:
    probability = row.probability
    kinds = tuple(
        name
        for name, holds in (
            ("unsure", probability is not None and probability < CONFIDENCE),
            ("other", row.row_scenario not in (None, row.scenario) and row.scenario is not None),
            ("outside", row.scenario is not None and row.group is None),
            (row.state, row.state != "named"),
            ("truncated", row.truncated),
        )
        if holds
    )
    scenario = shown(row.scenario or _NO_SCENARIO)
    group = shown(row.group or _NO_SCENARIO)
    named = scenario if probability is None else f"{scenario} ({render.percent(probability)})"
    facts = [("scenario", named)]
    if row.group is not None:
        facts.append(("group", group))
    if row.alternatives:
        nexts = (f"{name} ({render.percent(share)})" for name, share in row.alternatives)
        facts.append(("next", shown(", ".join(nexts))))
    if row.row_scenario is not None:
        facts.append(("named by its row", shown(row.row_scenario)))
    if row.reason is not None:
        facts.append(("because", shown(row.reason)))
    known = not isinstance(row, ClassifiedRow) or row.query is not None
    return PageEntry(
        id=shown(case.id),
        query=page_text(case.query) if known else None,
        summary=" · ".join([named, *(_SHOW[kind] for kind in kinds)]),
        values={
            "show": kinds,
            "group": (group,),
            "scenario": (scenario,),
        },
        numbers={"unsure": -1.0 if probability is None else 1 - probability},
        tags=tuple((_SHOW[kind], kind in _FAULTS) for kind in kinds),
        facts=tuple(facts),
    )


def _headline(summary: ClassifiedSummary) -> str:
    n_named = 0 if summary.whole is None else summary.whole.n
    text = f"{summary.n:,} queries: {len(summary.scenarios)} scenarios of "
    text += f"{len(summary.groups)} groups"
    if n_named < summary.n:
        text += f", {summary.n - n_named:,} without one"
    if summary.whole is not None and (n_below := summary.whole.n_below) is not None:
        text += f"; {n_below:,} ({render.percent(n_below / n_named)}) {_SHOW['unsure']}"
    return text


def _banners(
    path: Path, run: Run | None, summary: ClassifiedSummary, entries: list[PageEntry]
) -> Iterator[str]:
    if run is not None and is_locked(run.path):
        yield f"{shown(path.name)} was still being written when this page was made."
    if summary.n_not_asked:
        yield f"{summary.n_not_asked:,} of {summary.n:,} queries are not asked yet."
    if any(entry.query is None for entry in entries):
        yield (
            "This file holds no queries, as older ones do not. autoj classify writes it with them."
        )


def _sections(summary: ClassifiedSummary, tally: _Tally) -> Iterator[Section]:
    sure = bool(tally.sureness)
    headings: tuple[str, ...] = ("scenario", "queries", "share")
    rows = []
    for group in summary.groups:
        its = [each for each in summary.scenarios if each.group == group.group]
        rows.append(_row(group.group, group, summary.n, sure))
        rows += [_row(f"- {each.scenario}", each, summary.n, sure) for each in its]
    if sure:
        headings += ("mean probability", f"below {100 * CONFIDENCE:.0f} %")
    by_count = sorted(summary.scenarios, key=lambda each: -each.n)[:MOST_ROWS]
    yield Section(
        title="Scenarios",
        note="Groups in the order of the taxonomy, each with its scenarios.",
        tables=(PageTable(headings=headings, rows=tuple(rows)),),
        charts=(
            bar_chart("groups", "queries by group", _bars(summary.groups), "queries"),
            bar_chart("scenarios", "queries by scenario", _bars(by_count), "queries"),
        ),
    )
    if sure:
        bins = [(f"{10 * at} to {10 * at + 10} %", tally.sureness[at]) for at in range(10)]
        yield Section(
            title="How sure",
            note="Queries by the probability of their scenario, which is calibrated.",
            tables=(_counts("probability", bins, "queries"),),
            charts=(bar_chart("sureness", "queries by probability", bins, "queries"),),
        )
    if summary.same_as_row is not None:
        pairs = [
            (shown(row), shown(found), f"{n:,}")
            for (row, found), n in tally.otherwise.most_common(_N_OTHERWISE)
        ]
        headings = ("named by the row", "found", "queries")
        yield Section(
            title="Beside the rows' own names",
            note=f"Equal: {' '.join(render.estimate_line(summary.same_as_row).split())}. "
            "The most frequent others:",
            tables=(PageTable(headings=headings, rows=tuple(pairs), n_texts=2),) if pairs else (),
        )
    if tally.reasons:
        reasons = [(shown(reason), n) for reason, n in tally.reasons.most_common(MOST_ROWS)]
        yield Section(title="Without a scenario", tables=(_counts("reason", reasons, "queries"),))


def _row(name: str, count: ScenarioCount, n_all: int, sure: bool) -> tuple[str, ...]:
    cells = (shown(name), f"{count.n:,}", render.percent(count.n / n_all))
    if not sure:
        return cells
    below = "-" if count.n_below is None else render.percent(count.n_below / count.n)
    return (*cells, render.number(count.mean_probability, 2), below)


def _bars(counts: Iterable[ScenarioCount]) -> list[tuple[str, int]]:
    return [(each.scenario or each.group, each.n) for each in counts]


def _counts(what: str, counts: Iterable[tuple[str, int]], unit: str) -> PageTable:
    return PageTable(headings=(what, unit), rows=tuple((name, f"{n:,}") for name, n in counts))
