"""Writes a report: one HTML file from stored runs, and its charts as files."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import RenderableType

from autoj.errors import ConfigError
from autoj.reports import render
from autoj.reports.html.drawing import Chart, png_of
from autoj.reports.html.kinds import page_of
from autoj.reports.html.listing import LeftRows
from autoj.reports.html.page import render_page
from autoj.reports.html.sections import charts_of
from autoj.reports.text import guarded
from autoj.runs.watch import SILENT, Watch
from autoj.system_errors import storage_error

MOST_CASES = 10_000
"""The rows that a page holds, unless a caller asks for more or fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report that was written."""

    path: str
    n_bytes: int
    n_cases: int
    """The cases or other rows that the page holds."""
    n_left: int
    """Those in the file beside it."""
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
    """Writes the page of a run of any kind, or of several runs on the same cases.

    Args:
        paths: folders of runs, juries, constructions or audits, finished or not; of several runs,
            the first is the one that others are compared with. Also the file of a classifier's
            rows, or of an audit's card.
        out: the HTML file; one that exists is replaced.
        most_cases: the most cases that the page holds, about.
        figures: a folder for each chart as SVG, PNG and CSV; None writes none.
        watch: hears of the progress.

    Raises:
        ConfigError: the paths cannot stand on one page, or `out` is a folder.
        DataError: a path holds nothing that has a page, is damaged, or has no verdicts yet.
        MissingExtra: the extra `report` is not installed.
        StorageFull: the disk is full.
    """
    if out.is_dir():
        raise ConfigError(f"{out} is a folder", hint=f"Name a file: --out {out / 'report.html'}")
    left = LeftRows(out)
    try:
        page = page_of(paths, most_cases, left, watch)
        text = render_page(page)
        sections = [*page.comparison, *(its for run in page.runs for its in run.sections)]
        charts = charts_of(sections)
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
        n_cases=page.n_rows,
        n_left=left.n,
        left_path=str(left.path) if left.n else None,
        figures=tuple(map(str, written)),
    )


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


def written_view(report: Report) -> RenderableType:
    """Its file, its size and the cases that it holds."""
    rows = [
        ("report", f"{report.path} ({report.n_bytes / 1e6:,.1f} MB)"),
        ("cases", render.count(report.n_cases)),
    ]
    if report.left_path is not None:
        rows.append(("other cases", f"{report.n_left:,} in {report.left_path}"))
    if report.figures:
        rows.append(
            ("charts", f"{len(report.figures):,} files in {Path(report.figures[0]).parent}")
        )
    return render.facts(rows)
