"""Charts as static SVG, drawn while the report is built: a page needs no script to show them.

Each chart exists in two colour schemes. Text in it comes from data and is drawn, never run: a page
shows an SVG as an image, in which scripts and links are dead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from autoj.errors import MissingExtra
from autoj.metrics.calibration import ReliabilityBin
from autoj.reports.html.texts import page_text

if TYPE_CHECKING:
    import altair

Scheme = Literal["light", "dark"]
_INK: dict[Scheme, str] = {"light": "#1c2330", "dark": "#e6e9ef"}
_FAINT: dict[Scheme, str] = {"light": "#c9ced8", "dark": "#4a5160"}
_LINE: dict[Scheme, str] = {"light": "#6b7487", "dark": "#9aa3b4"}
_MARK: dict[Scheme, str] = {"light": "#1f5fbf", "dark": "#7fb2ff"}
_ROW_PIXELS, _WIDTH_PIXELS, _LABEL_PIXELS = 22, 420, 220


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart in both colour schemes, with its content in words and numbers."""

    name: str
    """A file name without an ending."""
    title: str
    light: str
    """SVG."""
    dark: str
    columns: tuple[str, ...]
    """The headings of its data."""
    rows: tuple[tuple[str | float | int | None, ...], ...]
    """Its data, from which it can be drawn again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """An estimate in a chart of dots with intervals."""

    label: str
    value: float
    low: float | None
    high: float | None
    n: int


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
            "label": f"{page_text(dot.label).text} (n={dot.n:,})",
            "value": 100 * dot.value,
            "low": None if dot.low is None else 100 * dot.low,
            "high": None if dot.high is None else 100 * dot.high,
        }
        for dot in dots
    ]

    def draw(scheme: Scheme) -> str:
        alt = _altair()
        order = [row["label"] for row in rows]
        base = alt.Chart(alt.Data(values=rows)).encode(
            y=alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=_LABEL_PIXELS))
        )
        scale = alt.Scale(zero=False, nice=True)
        layers = [
            base.mark_rule(strokeWidth=2, color=_MARK[scheme]).encode(
                x=alt.X("low:Q", scale=scale, title="%"), x2="high:Q"
            ),
            base.mark_point(filled=True, size=60, opacity=1, color=_MARK[scheme]).encode(
                x=alt.X("value:Q", scale=scale, title="%")
            ),
        ]
        if reference is not None:
            line = alt.Chart(alt.Data(values=[{"at": 100 * reference}]))
            layers.insert(
                0, line.mark_rule(strokeDash=[4, 3], color=_LINE[scheme]).encode(x="at:Q")
            )
        height = max(_ROW_PIXELS * len(rows), 2 * _ROW_PIXELS)
        return _svg(alt.layer(*layers).properties(width=_WIDTH_PIXELS, height=height), scheme)

    return Chart(
        name=name,
        title=title,
        light=draw("light"),
        dark=draw("dark"),
        columns=("part", "n", "value", "low", "high"),
        rows=tuple(
            (page_text(dot.label).text, dot.n, dot.value, dot.low, dot.high) for dot in dots
        ),
    )


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

    def draw(scheme: Scheme) -> str:
        alt = _altair()
        line = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 100, "y": 100}])).mark_line(
            strokeDash=[4, 3], color=_LINE[scheme]
        )
        whole = alt.Scale(domain=[0, 100])
        curve = alt.Chart(alt.Data(values=rows)).encode(
            x=alt.X("confidence:Q", scale=whole, title="confidence, %"),
            y=alt.Y("accuracy:Q", scale=whole, title="equal to the label, %"),
        )
        drawn = alt.layer(
            line.encode(x=alt.X("x:Q", scale=whole), y=alt.Y("y:Q", scale=whole)),
            curve.mark_line(color=_MARK[scheme]),
            curve.mark_point(filled=True, opacity=1, color=_MARK[scheme]).encode(
                size=alt.Size("n:Q", legend=None)
            ),
        )
        return _svg(drawn.properties(width=300, height=300), scheme)

    return Chart(
        name=name,
        title=title,
        light=draw("light"),
        dark=draw("dark"),
        columns=("from", "to", "n", "confidence", "accuracy"),
        rows=tuple((each.low, each.high, each.n, each.confidence, each.accuracy) for each in bins),
    )


def png_of(svg: str) -> bytes:
    """A chart as a picture of pixels, twice its size.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    converted: bytes = _converter().svg_to_png(svg, scale=2)
    return converted


def _svg(chart: altair.LayerChart, scheme: Scheme) -> str:
    ink, faint = _INK[scheme], _FAINT[scheme]
    spec: dict[str, Any] = chart.to_dict()
    spec["background"] = None
    spec["config"] = {
        "font": "sans-serif",
        "view": {"stroke": None},
        "axis": {
            "labelColor": ink, "titleColor": ink, "gridColor": faint, "gridOpacity": 0.4,
            "domainColor": faint, "tickColor": faint, "labelFontSize": 12, "titleFontSize": 12,
        },
    }  # fmt: skip
    drawn: str = _converter().vegalite_to_svg(spec)
    return drawn


def _altair() -> Any:
    try:
        import altair
    except ImportError:
        raise MissingExtra("report", "charts") from None
    return altair


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("report", "charts") from None
    return vl_convert
