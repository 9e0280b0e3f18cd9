"""One figure of stored runs as a file: the report's charts, without the page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import RenderableType

from autoj.errors import ConfigError, DataError
from autoj.reports import render
from autoj.reports.html.charts import Dot, dot_chart
from autoj.reports.html.drawing import Chart
from autoj.reports.html.kinds import page_kind, page_of
from autoj.reports.html.listing import LeftRows
from autoj.reports.html.overview import Overview, OverviewTally
from autoj.reports.html.paper import best_of_n_chart, ranking_chart, read_all_curves, read_ranking
from autoj.reports.html.report import chart_content, replace_file
from autoj.reports.html.sections import charts_of, overview_sections
from autoj.reports.html.sources import PageRun, open_page_runs
from autoj.runs.watch import SILENT, Watch
from autoj.system_errors import storage_error

FIGURES = {
    "group": "the headline figure by group of scenarios",
    "scenario": "the headline figure by scenario",
    "difference_in_length": "the headline figure by the difference in length",
    "calibration": "accuracy by confidence",
    "coverage": "accuracy where only the most confident verdicts are kept",
    "consistency": "consistency of one judge or several, side by side",
    "best_of_n": "best-of-N curves of one judge or several, beside the oracle and baselines",
    "system_level": "models by mean rating and a reference, with the rank correlation",
    "audit": "all figures of an audit's card",
    "picks": "of autoj select, the share of picks by model",
    "leads": "of autoj select, queries by the pick's lead in rating",
    "places": "of autoj select, picks by their place among the responses",
    "groups": "of autoj classify, queries by group of scenarios",
    "scenarios": "of autoj classify, queries by scenario",
    "sureness": "of autoj classify, queries by the probability of their scenario",
    "stages": "of autoj construct, rows kept by stage",
    "drops": "of autoj construct, rows dropped by stage and reason",
}
"""Per figure, its description; "consistency" and "best_of_n" may be of several runs."""
ENDINGS = ("svg", "png", "csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plotted:
    """A figure that was written."""

    path: str
    title: str
    n_rows: int
    """The rows of data behind it."""


def write_figure(name: str, paths: Sequence[Path], out: Path, *, watch: Watch = SILENT) -> Plotted:
    """Writes one figure of stored runs.

    Args:
        name: one of `FIGURES`.
        paths: folders of runs, juries, constructions or audits; a jury stands for itself and its
            judges. Also files: the rows of a classifier, an audit's card, and a result of eval-r or
            system-level.
        out: a file that ends in .svg, .png or .csv; one that exists is replaced.
        watch: hears of the progress.

    Raises:
        ConfigError: no such figure or ending, or several runs for a figure of one.
        DataError: a folder is no run or damaged, or lacks what the figure shows.
        MissingExtra: the extra `report` is not installed.
        StorageFull: the disk is full.
    """
    if name not in FIGURES:
        raise ConfigError(f"no figure {name!r}", hint=f"Figures: {', '.join(FIGURES)}.")
    ending = out.suffix.removeprefix(".").lower()
    if ending not in ENDINGS:
        raise ConfigError(
            f"{out} does not end in .svg, .png or .csv", hint="The ending says what is written."
        )
    chart = _chart(name, paths, watch)
    try:
        replace_file(out, chart_content(chart, ending))
    except OSError as error:
        raise storage_error(error, out) from error
    return Plotted(path=str(out), title=chart.title, n_rows=len(chart.rows))


def plotted_view(plotted: Plotted) -> RenderableType:
    """Its file, its title and its rows of data."""
    return render.facts(
        [
            ("figure", plotted.path),
            ("shows", plotted.title),
            ("rows", render.count(plotted.n_rows)),
        ]
    )


def _chart(name: str, paths: Sequence[Path], watch: Watch) -> Chart:
    if name == "consistency":
        return _consistency(open_page_runs(paths), watch)
    if name == "best_of_n":
        return best_of_n_chart(read_all_curves(paths))
    if len(paths) > 1:
        raise ConfigError(
            f"the figure {name!r} is of one run, and these are {len(paths)}",
            hint="Write one file for each, or choose the figure consistency or best_of_n.",
        )
    (path,) = paths
    if name == "system_level":
        return ranking_chart(read_ranking(path))
    if page_kind(path) != "verdicts":
        charts = [
            chart
            for run in page_of([path], 0, LeftRows(None), watch).runs
            for chart in charts_of(run.sections)
        ]
    else:
        # Of a jury, its own verdicts.
        charts = charts_of(overview_sections(_overview(open_page_runs([path])[0], watch), ""))
    found = {chart.name: chart for chart in charts}
    if name not in found:
        has = ", ".join(found) or "none"
        raise DataError(f"has nothing for the figure {name!r}", path=path, hint=f"It has: {has}.")
    return found[name]


def _consistency(runs: Sequence[PageRun], watch: Watch) -> Chart:
    dots = list(_consistency_dots(runs, watch))
    return dot_chart("consistency", "consistency of the two orders, by judge", dots, reference=None)


def _consistency_dots(runs: Sequence[PageRun], watch: Watch) -> Iterator[Dot]:
    for run in runs:
        known = {each.name: each for each in _overview(run, watch).estimates}
        its = known.get("consistency")
        if its is None or its.value is None:
            raise DataError(
                "has no consistency",
                path=run.path,
                hint="It is known of labelled pairs that were judged in both orders.",
            )
        yield Dot(label=run.name, value=its.value, low=its.low, high=its.high, n=its.n)


def _overview(run: PageRun, watch: Watch) -> Overview:
    tally = OverviewTally(paired=run.paired, scalar=run.scalar)
    for n_read, record in enumerate(run.records(), start=1):
        tally.add(record)
        watch.progress(f"reading {run.name}", n_read, max(n_read, run.n_cases))
    return tally.found()
