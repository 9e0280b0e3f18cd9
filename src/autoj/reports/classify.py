"""The queries of `autoj classify`, counted by group and scenario."""

import math
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from autoj.errors import UnknownComponent
from autoj.metrics.base import proportion_of
from autoj.metrics.rows import cluster_number
from autoj.records import Case, Estimate
from autoj.reports import render
from autoj.reports.text import visible_text
from autoj.scenarios import groups, resolve_scenario
from autoj.tasks.classify import ClassifiedQuery, classified_run
from autoj.tasks.run import Run

CONFIDENCE = 0.5
"""The least probability of a confident scenario where nobody names another."""
_NO_GROUP = "(not in the taxonomy)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioCount:
    """The queries of a scenario, or of a group."""

    scenario: str | None
    """None for the whole group."""
    group: str
    n: int
    mean_probability: float | None
    """The classifier's mean probability; None if a judge named the scenarios."""
    n_below: int | None
    """Queries with a probability below the summary's confidence; None likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedSummary:
    """The figures of some classified queries."""

    classifier: str
    digest: str | None
    confidence: float
    """The least probability of a confident scenario, 0-1."""
    n: int
    """Queries, with a scenario or without."""
    n_unreadable: int
    """Queries with an unreadable answer of the judge."""
    n_failed: int
    """Queries without an answer."""
    n_not_asked: int
    """Queries that were not sent to the judge yet."""
    n_truncated: int
    """Queries whose middle was cut from the judge's prompt."""
    whole: ScenarioCount | None
    """All queries with a scenario; None without any."""
    groups: tuple[ScenarioCount, ...]
    scenarios: tuple[ScenarioCount, ...]
    """In the taxonomy's order, without those that have no query."""
    same_as_row: Estimate | None
    """The share whose scenario is the one that the row names; None if no row names one."""


@dataclass(slots=True)
class _Pile:
    n: int = 0
    n_below: int = 0
    probabilities: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, probability: float | None, confidence: float) -> None:
        self.n += 1
        if probability is not None:
            self.probabilities.append(probability)
            self.n_below += probability < confidence

    def count(self, scenario: str | None, group: str) -> ScenarioCount:
        known = self.probabilities
        return ScenarioCount(
            scenario=scenario,
            group=group,
            n=self.n,
            mean_probability=math.fsum(known) / len(known) if known else None,
            n_below=self.n_below if known else None,
        )


class ClassifiedCount:
    """Counts classified queries as they come.

    Args:
        confidence: the least probability of a confident scenario, 0-1.
    """

    def __init__(self, confidence: float) -> None:
        self._confidence = confidence
        self._piles: dict[tuple[str, str | None], _Pile] = {}
        self._whole = _Pile()
        self._classifier = ""
        self._digest: str | None = None
        self._states: Counter[str] = Counter()
        self._n_truncated = 0
        self._same, self._clusters = array("d"), array("q")

    def add(self, case: Case, row: ClassifiedQuery) -> None:
        """Count a query."""
        self._states[row.state] += 1
        self._n_truncated += row.truncated
        self._classifier, self._digest = row.classifier, row.digest
        if row.scenario is None:
            return
        group = row.group or _NO_GROUP
        self._whole.add(row.probability, self._confidence)
        for key in ((group, None), (group, row.scenario)):
            self._piles.setdefault(key, _Pile()).add(row.probability, self._confidence)
        if row.row_scenario is not None:
            self._same.append(same_scenario(row.row_scenario, row.scenario))
            self._clusters.append(cluster_number(case.cluster))

    def result(self) -> ClassifiedSummary:
        """The figures of all counted queries."""
        piles = sorted(self._piles.items(), key=lambda item: _place(*item[0]))
        counts = [pile.count(name, group) for (group, name), pile in piles]
        same = np.asarray(self._same), np.asarray(self._clusters)
        return ClassifiedSummary(
            classifier=self._classifier,
            digest=self._digest,
            confidence=self._confidence,
            n=self._states.total(),
            n_unreadable=self._states["unreadable"],
            n_failed=self._states["failed"],
            n_not_asked=self._states["not asked"],
            n_truncated=self._n_truncated,
            whole=self._whole.count(None, "all") if self._whole.n else None,
            groups=tuple(count for count in counts if count.scenario is None),
            scenarios=tuple(count for count in counts if count.scenario is not None),
            same_as_row=proportion_of("same scenario", *same) if self._same else None,
        )


def same_scenario(one: str, other: str) -> bool:
    """True where two names are spellings of one scenario."""
    return one == other or _spelled(one) == _spelled(other)


def named_otherwise(row: ClassifiedQuery) -> bool:
    """True where a query's scenario is not the one that its row names; False where either lacks."""
    found, named = row.scenario, row.row_scenario
    return found is not None and named is not None and not same_scenario(found, named)


def _spelled(name: str) -> str:
    try:
        return resolve_scenario(name)
    except UnknownComponent:
        return name


def _place(group: str, scenario: str | None) -> tuple[int, int, str]:
    """The position of a scenario in the taxonomy; unknown ones come last, alphabetically."""
    known = groups()
    names = known.get(group, ())
    spelled = _spelled(scenario or "")
    place = 1 + (names.index(spelled) if spelled in names else len(names)) if scenario else 0
    return list(known).index(group) if group in known else len(known), place, scenario or ""


def classified_view(summary: ClassifiedSummary) -> RenderableType:
    """The counts by group and scenario, and the classifier's probabilities."""
    sure = summary.whole is not None and summary.whole.mean_probability is not None
    columns = ["n", "share", *(("mean probability", f"below {summary.confidence:g}") * sure)]
    listing = render.Listing(render.Column.text("scenario"), *map(render.Column.number, columns))
    for group in summary.groups:
        listing.add(visible_text(group.group, "bold"), *_cells(group, summary, sure))
        for scenario in summary.scenarios:
            if scenario.group == group.group:
                listing.add(f"  {scenario.scenario}", *_cells(scenario, summary, sure))
    if summary.whole is not None:
        listing.add(Text("all", "bold"), *_cells(summary.whole, summary, sure))
    return Group(listing, Text(), render.facts(_facts(summary)))


def _cells(count: ScenarioCount, summary: ClassifiedSummary, sure: bool) -> list[render.Cell]:
    cells: list[render.Cell] = [count.n, render.percent(count.n / summary.n)]
    if sure:
        n_below = count.n_below
        cells.append(render.number(count.mean_probability, 2))
        cells.append(
            None if n_below is None else f"{n_below:,} ({render.percent(n_below / count.n)})"
        )
    return cells


def _facts(summary: ClassifiedSummary) -> list[tuple[str, str]]:
    digest = f" ({summary.digest[:19]}…)" if summary.digest else ""
    left = f" ({summary.n_not_asked:,} not asked yet)" if summary.n_not_asked else ""
    facts = [("by", f"{summary.classifier}{digest}"), ("queries", f"{summary.n:,}{left}")]
    if summary.digest is None:
        facts.append(render.lost(summary.n_unreadable, summary.n_failed))
    if summary.n_truncated:
        facts.append(
            ("truncated", f"{summary.n_truncated:,} queries were cut in the middle to fit")
        )
    if summary.same_as_row is not None:
        facts.append(("same as in the row", render.estimate_line(summary.same_as_row)))
    return facts


def summarise_classified(
    found: Iterable[tuple[Case, ClassifiedQuery]], confidence: float
) -> ClassifiedSummary:
    """The figures of classified queries.

    Args:
        found: the queries with their cases.
        confidence: the least probability of a confident scenario, 0-1.
    """
    count = ClassifiedCount(confidence)
    for case, row in found:
        count.add(case, row)
    return count.result()


def summarise_classified_run(run: Run, confidence: float = CONFIDENCE) -> ClassifiedSummary:
    """The figures of a judge's run that named scenarios, even while it is running.

    Args:
        run: the run.
        confidence: the least probability of a confident scenario, 0-1.
    """
    return summarise_classified(classified_run(run.folder, run.spec), confidence)


def classified_record(path: Path, summary: ClassifiedSummary) -> dict[str, Any]:
    """The figures of classified queries as plain values, with the file of their rows."""
    return {"rows": str(path), "summary": asdict(summary)}
