"""Figures of classified queries: by scenario, how sure that is, and beside the rows' own names."""

from collections import Counter
from collections.abc import Iterable, Iterator

from autoj.reports import render
from autoj.reports.classify import CONFIDENCE, ClassifiedSummary, ScenarioCount, named_otherwise
from autoj.reports.html.charts import bar_chart
from autoj.reports.html.listing import PageTable, shown
from autoj.reports.html.sections import MOST_ROWS, Section
from autoj.tasks.classify import ClassifiedQuery

_N_OTHERWISE = 20
"""The most frequent pairs of a row's scenario and another one."""


class ClassifiedTally:
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
        if named_otherwise(row):
            self.otherwise[str(row.row_scenario), str(row.scenario)] += 1
        if row.scenario is None:
            self.reasons[f"{row.state}: {row.reason}" if row.reason else row.state] += 1


def classified_sections(
    summary: ClassifiedSummary, tally: ClassifiedTally, prefix: str = ""
) -> Iterator[Section]:
    """Sections of one classifier's or judge's figures.

    Args:
        summary: its counts.
        tally: its further counts.
        prefix: the beginning of its charts' file names.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
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
            bar_chart(f"{prefix}groups", "queries by group", _bars(summary.groups), "queries"),
            bar_chart(f"{prefix}scenarios", "queries by scenario", _bars(by_count), "queries"),
        ),
    )
    if sure:
        bins = [(f"{10 * at} to {10 * at + 10} %", tally.sureness[at]) for at in range(10)]
        yield Section(
            title="How sure",
            note="Queries by the probability of their scenario, which is calibrated.",
            tables=(_counts("probability", bins, "queries"),),
            charts=(bar_chart(f"{prefix}sureness", "queries by probability", bins, "queries"),),
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
