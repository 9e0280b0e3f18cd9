"""The section that compares runs on the same cases: paired differences and a cross-table."""

from collections import Counter
from collections.abc import Sequence

from autoj.records import WINNERS
from autoj.reports import render
from autoj.reports.html.beside import against_section
from autoj.reports.html.gather import Gathered
from autoj.reports.html.listing import PageTable
from autoj.reports.html.sections import Section
from autoj.tasks.diff import RunDiff, diff_runs

_WINNERS = (*WINNERS, "unknown")
_NAMES = {"a": "a", "b": "b", "tie": "tie", "unknown": "no winner"}


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
