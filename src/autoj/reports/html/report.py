"""Writes a report: one HTML file from stored runs, and its charts as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autoj.errors import ConfigError
from autoj.jsonl import encode
from autoj.records import Estimate
from autoj.reports import render
from autoj.reports.html.charts import Chart, png_of
from autoj.reports.html.comparison import comparison_sections
from autoj.reports.html.entries import PageCase
from autoj.reports.html.gather import Gathered, beside, gather
from autoj.reports.html.overview import Overview
from autoj.reports.html.page import Page, RunPart, render_page
from autoj.reports.html.sections import charts_of, overview_sections
from autoj.reports.html.sources import open_page_runs
from autoj.reports.spreadsheet import guarded
from autoj.reports.verdict_cells import figure_label
from autoj.runs.settings import versions
from autoj.runs.watch import SILENT, Watch
from autoj.system_errors import storage_error

MOST_CASES = 10_000
"""The cases that a page holds, unless a caller asks for more or fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report that was written."""

    path: str
    n_bytes: int
    n_cases: int
    """The cases that the page holds."""
    n_left: int
    """The cases in the file beside it."""
    left_path: str | None
    """That file; None where the page holds all."""
    figures: tuple[str, ...]
    """The charts' files."""


def write_report(
    paths: Sequence[Path],
    out: Path,
    *,
    most_cases: int = MOST_CASES,
    figures: Path | None = None,
    watch: Watch = SILENT,
) -> Report:
    """Writes a report of runs on the same cases.

    Args:
        paths: folders of runs or juries, finished or not; the first is the one that others are
            compared with.
        out: the HTML file; one that exists is replaced.
        most_cases: the most cases that the page holds, about.
        figures: a folder for each chart as SVG, PNG and CSV; None writes none.
        watch: hears of the progress.

    Raises:
        ConfigError: the runs are of kinds that a report cannot show, or `out` is a folder.
        DataError: a folder is no run, or has no verdicts yet.
        MissingExtra: the extra `report` is not installed.
        StorageFull: the disk is full.
    """
    if out.is_dir():
        raise ConfigError(f"{out} is a folder", hint=f"Name a file: --out {out / 'report.html'}")
    runs = open_page_runs(paths)
    left = _LeftCases(beside(out))
    try:
        gathered = gather(runs, most_cases, left.add, watch)
        page = _page(gathered, beside(out).name)
        text = render_page(page)
        charts = [chart for run in page.runs for chart in charts_of(run.sections)]
        written = () if figures is None else _write_charts(charts, figures)
        left.finish()
        replace_file(out, text.encode())
    except OSError as error:
        raise storage_error(error, out) from error
    finally:
        left.discard()
    return Report(
        path=str(out),
        n_bytes=len(text.encode()),
        n_cases=len(gathered.cases),
        n_left=gathered.n_left,
        left_path=str(beside(out)) if gathered.n_left else None,
        figures=tuple(map(str, written)),
    )


def _page(gathered: Gathered, left_file: str) -> Page:
    runs = gathered.runs
    several = len(runs) > 1
    parts = [
        RunPart(
            name=run.name,
            headline=_headline(overview),
            facts=[*_counts(overview), *run.facts],
            sections=overview_sections(overview, f"{at}_" if several else ""),
        )
        for at, (run, overview) in enumerate(zip(runs, gathered.overviews, strict=True), start=1)
    ]
    return Page(
        title=" and ".join(run.name for run in runs[:3]) + (" and others" if runs[3:] else ""),
        made=f"autoj {versions()['autoj']}",
        banners=list(_banners(gathered, left_file)),
        comparison=comparison_sections(gathered),
        runs=parts,
        cases=gathered.cases,
        n_left=gathered.n_left,
        left_file=left_file,
        paired=runs[0].paired,
    )


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


def _banners(gathered: Gathered, left_file: str) -> list[str]:
    found = []
    for run, overview in zip(gathered.runs, gathered.overviews, strict=True):
        if run.is_running:
            found.append(f"{run.name} was still being written when this report was made.")
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
    if gathered.n_left:
        found.append(
            f"The figures are of all cases. The page holds {len(gathered.cases):,} of them, drawn "
            f"at random by their ids; the other {gathered.n_left:,} are in {left_file}."
        )
    return found


class _LeftCases:
    """The file of the cases that the page does not hold; it appears when it is whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(f"{path.name}.draft")
        self._stream: io.BufferedWriter | None = None

    def add(self, case: PageCase) -> None:
        """Writes a case."""
        if self._stream is None:
            self._draft.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self._draft.open("wb")
        self._stream.write(encode(case))

    def finish(self) -> None:
        """Puts the file in its place, or removes one of an earlier report."""
        if self._stream is None:
            self._path.unlink(missing_ok=True)
            return
        self._stream.close()
        self._draft.replace(self._path)

    def discard(self) -> None:
        """Removes what is not finished."""
        if self._stream is not None:
            self._stream.close()
            self._draft.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file that appears when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.draft")
    draft.write_bytes(content)
    draft.replace(path)


def _write_charts(charts: Sequence[Chart], folder: Path) -> tuple[Path, ...]:
    """Writes each chart as SVG, PNG and CSV."""
    written = []
    for chart in charts:
        for ending in ("svg", "png", "csv"):
            path = folder / f"{chart.name}.{ending}"
            replace_file(path, chart_content(chart, ending))
            written.append(path)
    return tuple(written)


def chart_content(chart: Chart, ending: str) -> bytes:
    """A chart as a file's content.

    Args:
        chart: it.
        ending: "svg", "png", or "csv" for the data behind it.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    if ending == "svg":
        return chart.light.encode()
    if ending == "png":
        return png_of(chart.light)
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(chart.columns)
    rows.writerows([guarded(cell) for cell in row] for row in chart.rows)
    return table.getvalue().encode()
