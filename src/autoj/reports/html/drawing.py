"""Charts as static SVG, drawn while the report is built: a page needs no script to show them.

Each chart exists in two colour schemes. Text in it comes from data and is drawn, never run: a page
shows an SVG as an image, in which scripts and links are dead.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from autoj.errors import MissingExtra

Scheme = Literal["light", "dark"]
INK: dict[Scheme, str] = {"light": "#1c2330", "dark": "#e6e9ef"}
_FAINT: dict[Scheme, str] = {"light": "#c9ced8", "dark": "#4a5160"}
LINE: dict[Scheme, str] = {"light": "#6b7487", "dark": "#9aa3b4"}
MARK: dict[Scheme, str] = {"light": "#1f5fbf", "dark": "#7fb2ff"}
_FURTHER: dict[Scheme, list[str]] = {
    "light": ["#8a4b00", "#2f6b3a", "#7a2f8f", "#9a1f3d", "#4a5160", "#006d77", "#6b5b00"],
    "dark": ["#ffc27a", "#8fd6a0", "#dca6ee", "#ff9fb2", "#b4bccb", "#7fd8e0", "#e0d27a"],
}
"""The colours of curves after the first one."""


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


def drawn(
    name: str,
    title: str,
    draw: Callable[[Any, Scheme], Any],
    columns: tuple[str, ...],
    rows: Iterable[tuple[str | float | int | None, ...]],
) -> Chart:
    """A chart in both colour schemes.

    Args:
        name: of its files.
        title: above it.
        draw: makes it of the library and a scheme.
        columns: the headings of the data behind it.
        rows: the data.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    light, dark = (_svg(draw(_altair(), scheme), scheme) for scheme in get_args(Scheme))
    return Chart(name=name, title=title, light=light, dark=dark, columns=columns, rows=tuple(rows))


def palette(scheme: Scheme) -> list[str]:
    """The colours of curves; after the last, the first comes again."""
    return [MARK[scheme], *_FURTHER[scheme]]


def png_of(svg: str) -> bytes:
    """A chart as a picture of pixels, twice its size.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    converted: bytes = _converter().svg_to_png(svg, scale=2)
    return converted


def _svg(chart: Any, scheme: Scheme) -> str:
    ink, faint = INK[scheme], _FAINT[scheme]
    spec: dict[str, Any] = chart.to_dict()
    spec["background"] = None
    spec["config"] = {
        "font": "sans-serif",
        "view": {"stroke": None},
        "title": {"color": ink, "fontSize": 13, "fontWeight": "normal", "anchor": "start"},
        "legend": {"labelColor": ink, "labelFontSize": 12},
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
