"""A figure that was written, for the terminal."""

from rich.console import RenderableType

from autoj.reports import render
from autoj.reports.html.plot import Plotted


def plotted_view(plotted: Plotted) -> RenderableType:
    """Its file, its title and its rows of data."""
    return render.facts(
        [
            ("figure", plotted.path),
            ("shows", plotted.title),
            ("rows", render.count(plotted.n_rows)),
        ]
    )
