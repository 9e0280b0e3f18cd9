"""The page of runs with verdicts on single cases: judge, rate, and juries with their judges."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from autoj.records import WINNERS, Estimate
from autoj.reports import render
from autoj.reports.html.beside import against_section
from autoj.reports.html.gather import Gathered, gather
from autoj.reports.html.listing import LeftRows, PageTable
from autoj.reports.html.overview import Overview
from autoj.reports.html.page import Page, PageCases, RunPart
from autoj.reports.html.paper import best_of_n_sections, ranking_sections
from autoj.reports.html.sections import Section, overview_sections
from autoj.reports.html.sources import PageRun, open_page_runs
from autoj.reports.verdict_cells import figure_label
from autoj.runs.watch import Watch
from autoj.tasks.diff import RunDiff, diff_runs
from autoj.tasks.run import Run

_WINNERS = (*WINNERS, "unknown")
_NAMES = {"a": "a", "b": "b", "tie": "tie", "unknown": "no winner"}


def verdicts_page(paths: Sequence[Path], most: int, left: LeftRows, watch: Watch) -> Page:
    """The page of one run, or of several on the same cases.

    Args:
        paths: folders of runs or juries, finished or not; the first is the one that others are
            compared with.
        most: the most cases that the page holds, about.
        left: takes the others.
        watch: hears of the progress.

    Raises:
        ConfigError: some runs compare and others rate.
        DataError: a folder is no run, is damaged, or has no verdicts yet.
    """
    gathered = gather(open_page_runs(paths), most, left.add, watch)
    return _page(gathered, left)


def comparison_sections(gathered: Gathered) -> list[Section]:
    """The first run beside each of the others; empty for one run.

    Args:
        gathered: the runs.

    Raises:
        DataError: two runs have no case in common.
    """
    runs = gathered.runs
    if len(runs) < 2:
        return []
    diffs = [diff_runs(runs[0].path, run.path) for run in runs[1:]]
    sections = [_agreement([run.name for run in runs[1:]], diffs, runs[0].name)]
    if any(diff.labelled is not None for diff in diffs):
        sections.append(_against_labels([run.name for run in runs[1:]], diffs, runs[0].name))
    for run, counts in zip(runs[1:], gathered.cross, strict=True):
        if run.paired:
            sections.append(_cross_table(runs[0].name, run.name, counts))
    return sections


def _page(gathered: Gathered, left: LeftRows) -> Page:
    runs = gathered.runs
    several = len(runs) > 1
    parts = [
        RunPart(
            name=run.name,
            headline=_headline(overview),
            facts=[*_counts(overview), *run.facts],
            sections=_sections(run, overview, f"{at}_" if several else ""),
        )
        for at, (run, overview) in enumerate(zip(runs, gathered.overviews, strict=True), start=1)
    ]
    return Page(
        title=" and ".join(run.name for run in runs[:3]) + (" and others" if runs[3:] else ""),
        banners=[*_banners(gathered), *left.banner("cases", len(gathered.cases))],
        comparison=comparison_sections(gathered),
        runs=parts,
        rows=PageCases(cases=gathered.cases, paired=runs[0].paired),
    )


def _sections(run: PageRun, overview: Overview, prefix: str) -> list[Section]:
    sections = overview_sections(overview, prefix)
    if isinstance(run.run, Run) and not run.paired:
        sections += best_of_n_sections(run.run, prefix)
        sections += ranking_sections(run.path, prefix)
    return sections


def _headline(overview: Overview) -> str:
    label = overview.headline.name
    if label in render.ESTIMATE_LABELS:
        label = figure_label(overview.headline, overview.authors)
    return f"{label}: {_figure(overview.headline)}"


def _figure(estimate: Estimate) -> str:
    return " ".join(render.estimate_line(estimate).split())


def _counts(overview: Overview) -> list[tuple[str, str]]:
    judged = f"{overview.n_judged:,} of {overview.n_cases:,}"
    tokens = f"{overview.prompt_tokens:,} read, {overview.completion_tokens:,} written"
    found = [("cases judged", judged), ("with a label", f"{overview.n_labelled:,}")]
    return [*found, ("tokens", tokens)] if overview.prompt_tokens else found


def _banners(gathered: Gathered) -> list[str]:
    found = []
    for run, overview in zip(gathered.runs, gathered.overviews, strict=True):
        if run.is_running:
            found.append(f"{run.name} was still being written when this report was made.")
        elif not run.is_finished:
            found.append(
                f"{run.name} is not finished: this is what it has judged so far. The command that "
                "began it goes on."
            )
        if overview.n_judged < overview.n_cases:
            left = overview.n_cases - overview.n_judged
            found.append(f"{run.name} has not judged {left:,} of its {overview.n_cases:,} cases.")
    for run, n_alone in zip(gathered.runs, gathered.n_alone, strict=True):
        if n_alone:
            found.append(f"{n_alone:,} cases of {run.name} are in no other run.")
    first, *others = gathered.runs
    if any(gathered.n_alone):
        for run, n_shared in zip(others, gathered.n_shared, strict=True):
            found.append(f"{first.name} and {run.name} share {n_shared:,} judged cases.")
    for run, n_relabelled in zip(others, gathered.n_relabelled, strict=True):
        if n_relabelled:
            found.append(
                f"The labels contradict each other in {n_relabelled:,} cases of {first.name} and "
                f"{run.name}. The figures of each run are by its own labels; the cases show those "
                f"of {first.name}."
            )
    if gathered.n_changed:
        found.append(f"{gathered.n_changed:,} cases have the same id and other texts.")
    return found


def _agreement(names: Sequence[str], diffs: Sequence[RunDiff], first: str) -> Section:
    figures = [each.name for each in diffs[0].estimates]
    rows = tuple(
        (
            name,
            f"{diff.n_both:,}",
            f"{diff.n_alone[0]:,} and {diff.n_alone[1]:,}",
            f"{diff.n_differing:,}",
            *(render.estimate_cell(each) for each in diff.estimates),
        )
        for name, diff in zip(names, diffs, strict=True)
    )
    headings = (
        "run", "cases of both", "of one alone", "differing",
        *(render.ESTIMATE_HEADINGS.get(name, name).replace("\n", " ") for name in figures),
    )  # fmt: skip
    n_changed = max(diff.n_changed for diff in diffs)
    note = f"{n_changed:,} cases have the same id and other texts; they are not compared."
    return Section(
        title=f"Beside {first}",
        note=note if n_changed else "Shares are in percent, with 95 % intervals over queries.",
        tables=(PageTable(headings=headings, rows=rows),),
    )


def _against_labels(names: Sequence[str], diffs: Sequence[RunDiff], first: str) -> Section:
    known = {
        name: diff.labelled
        for name, diff in zip(names, diffs, strict=True)
        if diff.labelled is not None
    }
    return against_section(
        first,
        known,
        "Against the labels",
        "The difference is paired: case by case, on the cases that both decided. “Right” is equal "
        "to the label.",
    )


def _cross_table(first: str, other: str, counts: Counter[tuple[str, str]]) -> Section:
    rows = tuple((_NAMES[one], *(f"{counts[one, its]:,}" for its in _WINNERS)) for one in _WINNERS)
    headings = (f"{first} \\ {other}", *(_NAMES[its] for its in _WINNERS))
    return Section(
        title=f"Winners of {first} and {other}",
        tables=(PageTable(headings=headings, rows=rows),),
    )
