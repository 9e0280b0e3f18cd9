"""The sections of a report's overview: figures, tables and charts of one run, or of several."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autoj.records import WINNERS, Estimate
from autoj.reports import render
from autoj.reports.html.charts import Dot, coverage_chart, dot_chart, reliability_chart
from autoj.reports.html.drawing import Chart
from autoj.reports.html.listing import PageTable
from autoj.reports.html.overview import Breakdown, Overview
from autoj.reports.render.estimates import is_share
from autoj.reports.text import page_text
from autoj.reports.verdict_cells import figure_label, side_names

MOST_ROWS = 80
"""The most rows of a table or a chart by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the overview."""

    title: str
    note: str = ""
    """A sentence that says how to read it."""
    tables: tuple[PageTable, ...] = ()
    charts: tuple[Chart, ...] = ()
    is_open: bool = False
    """True shows the tables below charts at once; else a click does."""


def overview_sections(overview: Overview, prefix: str) -> list[Section]:
    """The sections of one run.

    Args:
        overview: its figures.
        prefix: the beginning of its charts' file names.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    return [
        section
        for section in (
            _figures(overview),
            *_parts(overview, prefix),
            _labels(overview),
            _calibration(overview, prefix),
            _coverage(overview, prefix),
            _ratings(overview),
            _lost(overview),
        )
        if section is not None
    ]


def _figures(overview: Overview) -> Section:
    rows = [_figure_row(each, overview) for each in (overview.headline, *overview.estimates)]
    tables = [PageTable(headings=("figure", "value", "95 % interval", "n"), rows=tuple(rows))]
    note = ""
    if overview.baselines:
        baselines = tuple(
            (name, does, *_cells(found)) for name, (does, found) in overview.baselines.items()
        )
        headings = ("baseline", "what it does", "value", "95 % interval", "n")
        tables.append(PageTable(headings=headings, rows=baselines, n_texts=2))
        label = render.ESTIMATE_LABELS.get(overview.headline.name, overview.headline.name)
        note = f"The baselines read no text. Their figure is the {label}, on the same cases."
    return Section(title="Figures", note=note, tables=tuple(tables))


def _figure_row(estimate: Estimate, overview: Overview) -> tuple[str, ...]:
    known = estimate.name in render.ESTIMATE_LABELS
    label = figure_label(estimate, overview.authors) if known else estimate.name
    return (label, *_cells(estimate))


def _cells(estimate: Estimate) -> tuple[str, str, str]:
    value, interval = render.estimate_value(estimate), render.estimate_interval(estimate)
    n = f"{estimate.n:,}"
    if estimate.n_clusters != estimate.n:
        n += f" on {estimate.n_clusters:,} queries"
    if estimate.n_unscored:
        n += f", {estimate.n_unscored:,} unscored"
    return value, interval or "-", n


def _parts(overview: Overview, prefix: str) -> Iterator[Section]:
    for found in (overview.by_group, overview.by_scenario, overview.by_length):
        if found is not None:
            yield _breakdown(found, prefix)


def _breakdown(found: Breakdown, prefix: str) -> Section:
    name = found.whole.name
    label = render.ESTIMATE_LABELS.get(name, name)
    shown = list(found.parts.items())[:MOST_ROWS]
    rows = tuple((page_text(part).text, *_cells(its)) for part, its in shown)
    charts: tuple[Chart, ...] = ()
    if is_share(name):
        dots = [
            Dot(label=part, value=its.value, low=its.low, high=its.high, n=its.n)
            for part, its in shown
            if its.value is not None
        ]
        file = f"{prefix}{'_'.join(found.title.split())}"
        title = f"{label} by {found.title}"
        charts = (dot_chart(file, title, dots, reference=found.whole.value),)
    note = "The dashed line is the figure over all cases." if charts else ""
    if len(found.parts) > len(shown):
        note += f" The first {len(shown)} of {len(found.parts):,} are shown."
    return Section(
        title=f"By {found.title}",
        note=note.strip(),
        tables=(PageTable(headings=(found.title, label, "95 % interval", "n"), rows=rows),),
        charts=charts,
    )


def _labels(overview: Overview) -> Section | None:
    if not overview.winners:
        return None
    headings: tuple[str, ...] = ("winner", "cases")
    rows: tuple[tuple[str, ...], ...]
    winners = [*WINNERS, "unknown"]
    if overview.against_label:
        headings = ("label", *(_winner_name(winner) for winner in winners))
        rows = tuple(
            (
                _winner_name(label),
                *(f"{overview.against_label.get((label, winner), 0):,}" for winner in winners),
            )
            for label in WINNERS
        )
    else:
        rows = tuple((_winner_name(each), f"{overview.winners.get(each, 0):,}") for each in winners)
    return Section(
        title="Verdicts against labels" if overview.against_label else "Verdicts",
        note=(names + ".") if (names := side_names(overview.authors)) is not None else "",
        tables=(PageTable(headings=headings, rows=rows),),
    )


def _winner_name(winner: str) -> str:
    return {"tie": "tie", "unknown": "no winner"}.get(winner, f"{winner} wins")


def _calibration(overview: Overview, prefix: str) -> Section | None:
    if not overview.reliability:
        return None
    rows = tuple(
        (
            f"{render.percent(each.low)} to {render.percent(each.high)}",
            f"{each.n:,}",
            render.percent(each.confidence),
            render.percent(each.accuracy),
        )
        for each in overview.reliability
    )
    headings = ("probability", "cases", "mean", "equal to the label")
    return Section(
        title="Calibration",
        note="How often a verdict equals the label, by the probability that the judge gave it. A "
        "calibrated judge lies on the dashed line.",
        tables=(PageTable(headings=headings, rows=rows),),
        charts=(
            reliability_chart(
                f"{prefix}calibration", "Accuracy by confidence", overview.reliability
            ),
        ),
    )


def _coverage(overview: Overview, prefix: str) -> Section | None:
    # Where all verdicts are as sure, there is nothing to keep.
    if len(overview.coverage) < 2:
        return None
    rows = tuple(
        (
            render.percent(each.coverage),
            render.number(each.confidence, 3),
            *_cells(each.accuracy),
        )
        for each in overview.coverage
    )
    headings = ("kept", "lowest confidence", "equal to the label", "95 % interval", "n")
    return Section(
        title="The surest verdicts",
        note="How often a verdict equals the label where only the most confident ones are kept. "
        "The dashed line is the figure over all; a curve that stays on it says that confidence "
        "tells nothing.",
        tables=(PageTable(headings=headings, rows=rows),),
        charts=(coverage_chart(f"{prefix}coverage", "Accuracy over coverage", overview.coverage),),
    )


def _ratings(overview: Overview) -> Section | None:
    if not overview.ratings:
        return None
    rows = tuple(
        (page_text(name).text, *(f"{n:,}" for n in counts))
        for name, counts in list(overview.ratings.items())[:MOST_ROWS]
    )
    headings = ("model", *map(str, range(1, 11)))
    return Section(
        title="Ratings", note="Responses by their rating, to the nearest whole number.",
        tables=(PageTable(headings=headings, rows=rows),),
    )  # fmt: skip


def _lost(overview: Overview) -> Section | None:
    if not overview.lost and not overview.n_truncated:
        return None
    rows = [(page_text(reason).text, f"{n:,}") for reason, n in overview.lost.items()]
    if overview.n_truncated:
        rows.append(("read with a response that was cut to fit", f"{overview.n_truncated:,}"))
    return Section(
        title="Lost judgments",
        note="A judgment that failed or could not be read is neither a tie nor a loss.",
        tables=(PageTable(headings=("reason", "judgments"), rows=tuple(rows)),),
    )


def charts_of(sections: Sequence[Section]) -> list[Chart]:
    """All charts of some sections."""
    return [chart for section in sections for chart in section.charts]
