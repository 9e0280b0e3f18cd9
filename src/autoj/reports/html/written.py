"""A report that was written, for the terminal."""

from pathlib import Path

from rich.console import RenderableType

from autoj.reports import render
from autoj.reports.html.report import Report


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
