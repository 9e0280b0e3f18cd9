"""The kinds of charts of a report: dots with intervals, bars, curves, points, and reliability."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, set_cell_size

from autoj.metrics.calibration import ReliabilityBin
from autoj.metrics.risk_coverage import CoveragePoint
from autoj.reports.html.drawing import INK, LINE, MARK, Chart, Scheme, drawn, palette
from autoj.reports.text import page_text

_SEPARATORS = re.compile("[\u2028\u2029\x85]")
_ROW_PIXELS, _WIDTH_PIXELS, _LABEL_PIXELS = 22, 420, 220
_LABEL_CELLS = 32
"""The longest name of a row, in columns of a terminal: about 200 pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """An estimate in a chart of dots with intervals."""

    label: str
    value: float
    low: float | None
    high: float | None
    n: int
    ideal: float | None = None
    """The value that a perfect judge has, marked by a diamond; None marks none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A line of a chart of curves."""

    label: str
    points: Sequence[tuple[int, float, float | None, float | None, int]]
    """Of each: its place, its value, the ends of its interval, and its number of queries."""
    is_judge: bool
    """True draws the intervals."""


def dot_chart(name: str, title: str, dots: Sequence[Dot], *, reference: float | None) -> Chart:
    """Estimates below each other, each a dot with its interval.

    Args:
        name: of its files.
        title: above it; also its text for those who do not see it.
        dots: from top to bottom; shares of 0 to 1 are drawn in percent.
        reference: a line through all rows, such as the figure over all cases; None draws none.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    rows = [
        {
            "label": label,
            "value": 100 * dot.value,
            "low": _percent(dot.low),
            "high": _percent(dot.high),
            "ideal": _percent(dot.ideal),
        }
        for label, dot in zip(
            _row_labels((dot.label, f" (n={dot.n:,})") for dot in dots), dots, strict=True
        )
    ]

    def draw(alt: Any, scheme: Scheme) -> Any:
        base = alt.Chart(alt.Data(values=rows)).encode(y=_names_axis(alt, rows))
        scale = alt.Scale(zero=False, nice=True)
        layers = [
            base.mark_rule(strokeWidth=2, color=MARK[scheme]).encode(
                x=alt.X("low:Q", scale=scale, title="%"), x2="high:Q"
            ),
            base.mark_point(filled=True, size=60, opacity=1, color=MARK[scheme]).encode(
                x=alt.X("value:Q", scale=scale, title="%")
            ),
        ]
        if any(dot.ideal is not None for dot in dots):
            ideal = base.mark_point(shape="diamond", size=90, opacity=1, color=LINE[scheme])
            layers.append(ideal.encode(x=alt.X("ideal:Q", scale=scale, title="%")))
        if reference is not None:
            line = alt.Chart(alt.Data(values=[{"at": 100 * reference}]))
            layers.insert(0, line.mark_rule(strokeDash=[4, 3], color=LINE[scheme]).encode(x="at:Q"))
        return alt.layer(*layers).properties(width=_WIDTH_PIXELS, height=_height(rows))

    columns = ("part", "n", "value", "low", "high")
    data = ((page_text(dot.label).text, dot.n, dot.value, dot.low, dot.high) for dot in dots)
    return drawn(name, title, draw, columns, data)


def bar_chart(name: str, title: str, bars: Sequence[tuple[str, int]], unit: str) -> Chart:
    """Counts below each other, each a bar with its number.

    Args:
        name: of its files.
        title: above it.
        bars: labels with counts, from top to bottom.
        unit: the noun of what is counted.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    rows = [
        {"label": label, "n": n, "words": f"{n:,}"}
        for label, (_, n) in zip(_row_labels((name, "") for name, _ in bars), bars, strict=True)
    ]

    def draw(alt: Any, scheme: Scheme) -> Any:
        base = alt.Chart(alt.Data(values=rows)).encode(
            y=_names_axis(alt, rows), x=alt.X("n:Q", title=unit)
        )
        number = base.mark_text(align="left", dx=4, color=INK[scheme]).encode(text="words:N")
        layers = alt.layer(base.mark_bar(color=MARK[scheme]), number)
        return layers.properties(width=_WIDTH_PIXELS, height=_height(rows))

    data = ((page_text(label).text, n) for label, n in bars)
    return drawn(name, title, draw, ("part", "n"), data)


def curve_chart(name: str, title: str, curves: Sequence[Curve], axes: tuple[str, str]) -> Chart:
    """Curves over a number that doubles, each known by its dashes and its marks, not by colour.

    Args:
        name: of its files.
        title: above it.
        curves: those of judges have their intervals.
        axes: the titles of the horizontal and of the vertical axis.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    data = [(curve.label, *point) for curve in curves for point in curve.points]
    rows = [
        {"curve": _label(label), "x": x, "y": y, "low": low, "high": high}
        for label, x, y, low, high, _ in data
    ]
    labels = list(dict.fromkeys(str(row["curve"]) for row in rows))
    told = {_label(curve.label) for curve in curves if curve.is_judge}

    def draw(alt: Any, scheme: Scheme) -> Any:
        # Scales with one domain share one legend, in which each mark has its colour.
        legend = alt.Legend(title=None, labelLimit=_LABEL_PIXELS)
        colour = alt.Color(
            "curve:N", scale=alt.Scale(domain=labels, range=palette(scheme)), legend=legend
        )
        scale = alt.Scale(zero=False)
        at = alt.X(
            "x:Q",
            scale=alt.Scale(type="log", base=2, nice=False),
            axis=alt.Axis(values=sorted({x for _, x, *_ in data}), format="d"),
            title=axes[0],
        )
        base = alt.Chart(alt.Data(values=rows)).encode(
            x=at, y=alt.Y("y:Q", scale=scale, title=axes[1]), color=colour
        )
        held = [row for row in rows if row["curve"] in told and row["low"] is not None]
        spans = alt.Chart(alt.Data(values=held)).mark_rule()
        return alt.layer(
            spans.encode(x=at, y=alt.Y("low:Q", title=axes[1]), y2="high:Q", color=colour),
            base.mark_line().encode(strokeDash=alt.StrokeDash("curve:N", sort=labels, legend=None)),
            base.mark_point(filled=True, size=60, opacity=1).encode(
                shape=alt.Shape("curve:N", scale=alt.Scale(domain=labels), legend=legend)
            ),
        ).properties(width=_WIDTH_PIXELS, height=300)

    columns = ("curve", "n", "value", "low", "high", "queries")
    return drawn(name, title, draw, columns, ((page_text(row[0]).text, *row[1:]) for row in data))


def scatter_chart(
    name: str, title: str, points: Sequence[tuple[str, float, float]], axes: tuple[str, str],
    named: Mapping[str, bool],
) -> Chart:  # fmt: skip
    """Points by two figures, some with their names.

    Args:
        name: of its files.
        title: above it, and drawn in it, since it says how strong the relation is.
        points: labels with the horizontal and the vertical figure.
        axes: the titles of the two axes.
        named: the labels to write beside their points: True at the right of it, False at the left.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    rows = [
        {"label": _label(label), "x": x, "y": y, "right": named.get(label)}
        for label, x, y in points
    ]

    def draw(alt: Any, scheme: Scheme) -> Any:
        scale = alt.Scale(zero=False, nice=True)
        encoded = {
            "x": alt.X("x:Q", scale=scale, title=_label(axes[0])),
            "y": alt.Y("y:Q", scale=scale, title=_label(axes[1])),
        }
        every = alt.Chart(alt.Data(values=rows)).encode(**encoded)
        layers = alt.layer(
            every.mark_point(filled=True, size=60, opacity=0.9, color=MARK[scheme]),
            *(
                alt.Chart(alt.Data(values=[row for row in rows if row["right"] is right]))
                .mark_text(align=align, dx=dx, limit=_LABEL_PIXELS, color=INK[scheme])
                .encode(text="label:N", **encoded)
                for right, align, dx in ((True, "left", 7), (False, "right", -7))
            ),
        )
        return layers.properties(width=_WIDTH_PIXELS, height=_WIDTH_PIXELS, title=_label(title))

    data = ((page_text(label).text, x, y) for label, x, y in points)
    return drawn(name, title, draw, ("part", *axes), data)


def reliability_chart(name: str, title: str, bins: Sequence[ReliabilityBin]) -> Chart:
    """Accuracy against confidence, beside the line of a calibrated judge.

    Args:
        name: of its files.
        title: above it.
        bins: non-empty ones.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    rows = [
        {"confidence": 100 * each.confidence, "accuracy": 100 * each.accuracy, "n": each.n}
        for each in bins
    ]

    def draw(alt: Any, scheme: Scheme) -> Any:
        line = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 100, "y": 100}])).mark_line(
            strokeDash=[4, 3], color=LINE[scheme]
        )
        whole = alt.Scale(domain=[0, 100])
        curve = alt.Chart(alt.Data(values=rows)).encode(
            x=alt.X("confidence:Q", scale=whole, title="confidence, %"),
            y=alt.Y("accuracy:Q", scale=whole, title="equal to the label, %"),
        )
        layers = alt.layer(
            line.encode(x=alt.X("x:Q", scale=whole), y=alt.Y("y:Q", scale=whole)),
            curve.mark_line(color=MARK[scheme]),
            curve.mark_point(filled=True, opacity=1, color=MARK[scheme]).encode(
                size=alt.Size("n:Q", legend=None)
            ),
        )
        return layers.properties(width=300, height=300)

    columns = ("from", "to", "n", "confidence", "accuracy")
    data = ((each.low, each.high, each.n, each.confidence, each.accuracy) for each in bins)
    return drawn(name, title, draw, columns, data)


def coverage_chart(name: str, title: str, points: Sequence[CoveragePoint]) -> Chart:
    """Accuracy over the share of verdicts that are kept, beside a line of the accuracy of all.

    Args:
        name: of its files.
        title: above it.
        points: by rising coverage; the last one keeps all.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    rows = [
        {
            "kept": 100 * each.coverage,
            "accuracy": _percent(each.accuracy.value),
            "low": _percent(each.accuracy.low),
            "high": _percent(each.accuracy.high),
        }
        for each in points
    ]

    def draw(alt: Any, scheme: Scheme) -> Any:
        whole = alt.Scale(domain=[0, 100])
        at = alt.X("kept:Q", scale=whole, title="verdicts kept, surest first, %")
        scale = alt.Scale(zero=False, nice=True)
        words = "equal to the label, %"
        curve = alt.Chart(alt.Data(values=rows)).encode(
            x=at, y=alt.Y("accuracy:Q", scale=scale, title=words)
        )
        held = [row for row in rows if row["low"] is not None]
        spans = alt.Chart(alt.Data(values=held)).mark_rule(color=MARK[scheme])
        line = alt.Chart(alt.Data(values=[{"at": rows[-1]["accuracy"]}]))
        layers = alt.layer(
            line.mark_rule(strokeDash=[4, 3], color=LINE[scheme]).encode(y="at:Q"),
            spans.encode(x=at, y=alt.Y("low:Q", scale=scale, title=words), y2="high:Q"),
            curve.mark_line(color=MARK[scheme]),
            curve.mark_point(filled=True, size=60, opacity=1, color=MARK[scheme]),
        )
        return layers.properties(width=_WIDTH_PIXELS, height=300)

    columns = ("kept", "confidence", "n", "accuracy", "low", "high")
    data = (
        (each.coverage, each.confidence, its.n, its.value, its.low, its.high)
        for each in points
        for its in (each.accuracy,)
    )
    return drawn(name, title, draw, columns, data)


def _label(text: str) -> str:
    """A text of a run as the drawing library can take it.

    It writes labels into a script of its own, where separators of lines and paragraphs end a
    string, and looks them up among the properties that every object of that script has, such as
    "constructor": none of these ends in a space.
    """
    return f"{_SEPARATORS.sub(' ', page_text(text).text)} "


def _row_labels(names: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The labels of rows, each from a name that is cut where it is long and what follows it.

    The library would cut them, too, and draws a text some ten times to find out where. Names that
    are equal once they are cut differ in the spaces behind them: rows are told apart by labels.
    """
    n_like: Counter[str] = Counter()
    for name, behind in names:
        cut = " ".join(page_text(name).text.split())
        if cell_len(cut) > _LABEL_CELLS:
            cut = set_cell_size(cut, _LABEL_CELLS).rstrip() + "…"
        label = _label(cut + behind)
        yield label + " " * n_like[label]
        n_like[label] += 1


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _names_axis(alt: Any, rows: Sequence[Mapping[str, Any]]) -> Any:
    order = [row["label"] for row in rows]
    return alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=0))


def _height(rows: Sequence[object]) -> int:
    return max(_ROW_PIXELS * len(rows), 2 * _ROW_PIXELS)
