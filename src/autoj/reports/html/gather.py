"""Reads runs into what a report shows: figures over all cases, and the cases that the page holds.

The runs are read once each, the first one last: its order is the order of the page. Of a large run
the page holds a sample that is drawn by the cases' ids, so that it is the same each time; the other
cases go into a file beside it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from autoj.records import Case, Winner
from autoj.reports.html.entries import PageCase, PageVerdict, page_case, page_verdict
from autoj.reports.html.listing import CaseSample
from autoj.reports.html.overview import Overview, OverviewTally
from autoj.reports.html.sources import PageRun
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.stored import content_digest

Label = Winner | float | None
_Known = dict[str, tuple[bytes, PageVerdict, Label]]


@dataclass(slots=True, kw_only=True)
class Gathered:
    """Everything that a report shows."""

    runs: Sequence[PageRun]
    overviews: list[Overview] = field(default_factory=list)
    """One per run, over all of its cases."""
    cases: list[PageCase] = field(default_factory=list)
    """The cases of the first run that the page holds, in its order."""
    n_alone: list[int] = field(default_factory=list)
    """Per run: cases that it shares with no other run; all zero for one run."""
    n_changed: int = 0
    """Cases with an id of the first run and other texts; they are left out."""
    n_relabelled: list[int] = field(default_factory=list)
    """Per other run: cases that it shares with the first one and that have two different labels."""
    n_shared: list[int] = field(default_factory=list)
    """Per other run: cases that it and the first run have judged."""
    cross: list[Counter[tuple[str, str]]] = field(default_factory=list)
    """Per other run: cases by (the first run's winner, its winner)."""


def gather(
    runs: Sequence[PageRun],
    most_cases: int,
    leave: Callable[[PageCase], None],
    watch: Watch = SILENT,
) -> Gathered:
    """Reads runs for a report.

    Args:
        runs: from `open_page_runs`.
        most_cases: the most cases that the page holds, about.
        leave: takes each of the others.
        watch: hears of the progress.

    Raises:
        DataError: a file of a run is damaged.
    """
    found = Gathered(runs=runs)
    others: list[_Known] = []
    overviews = []
    for run in runs[1:]:
        tally, known = _tally(run), _Known()
        for case, verdict in _verdicts(run, tally, watch):
            if verdict is not None:
                known[case.id] = content_digest(case), verdict, case.label
        others.append(known)
        overviews.append(tally.found())
    n_of_each = [len(known) for known in others]
    found.cross = [Counter() for _ in others]
    found.n_relabelled = [0 for _ in others]
    keeps = CaseSample(most_cases, runs[0].n_cases)
    tally, n_alone = _tally(runs[0]), 0
    for case, verdict in _verdicts(runs[0], tally, watch):
        its = [_matching(known, case, found, at) for at, known in enumerate(others)]
        n_alone += bool(others) and not any(its)
        for counts, other in zip(found.cross, its, strict=True):
            if verdict is not None and other is not None:
                counts[verdict.winner or "unknown", other.winner or "unknown"] += 1
        shown = page_case(case, [verdict, *its])
        if keeps(case.id):
            found.cases.append(shown)
        else:
            leave(shown)
    found.n_shared = [sum(counts.values()) for counts in found.cross]
    found.overviews = [tally.found(), *overviews]
    matched = [n - len(known) for n, known in zip(n_of_each, others, strict=True)]
    found.n_alone = [n_alone, *(n - m for n, m in zip(n_of_each, matched, strict=True))]
    return found


def _tally(run: PageRun) -> OverviewTally:
    return OverviewTally(paired=run.paired, scalar=run.scalar)


def _verdicts(
    run: PageRun, tally: OverviewTally, watch: Watch
) -> Iterator[tuple[Case, PageVerdict | None]]:
    for n_read, record in enumerate(run.records(), start=1):
        tally.add(record)
        watch.progress(f"reading {run.name}", n_read, max(n_read, run.n_cases))
        yield record.case, page_verdict(record)


def _matching(known: _Known, case: Case, found: Gathered, at: int) -> PageVerdict | None:
    """Another run's verdict on the same case, which is then taken out of what is left of it."""
    content, verdict, label = known.pop(case.id, (None, None, None))
    if verdict is not None and content != content_digest(case):
        found.n_changed += 1
        return None
    # A case without a label contradicts nothing.
    if label is not None and case.label is not None and label != case.label:
        found.n_relabelled[at] += 1
    return verdict
