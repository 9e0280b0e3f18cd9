"""Estimates as text: value, interval, cases; in percent where the figure is a share."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.records import Estimate

__all__ = ["figure_cell", "figure_text", "interval_text", "value_text", "with_more"]

_PLAIN = {
    "mean rating": 2,
    "mean score": 3,
    "kappa": 3,
    "correlation": 3,
    "position bias": 3,
    "length bias": 3,
    "format bias": 3,
    "calibration": 3,
    "expected calibration error": 3,
}
"""Figures that are no shares, with the digits after the point; all others are shown in percent."""
_PLAIN_BEGINNINGS = ("best of ", "pearson", "spearman", "kendall")


def value_text(estimate: Estimate) -> str:
    """The value alone, or a dash."""
    return "-" if estimate.value is None else _number(estimate, estimate.value) + _unit(estimate)


def interval_text(estimate: Estimate) -> str:
    """The interval in brackets, or nothing where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{_number(estimate, estimate.low)}, {_number(estimate, estimate.high)}]"


def figure_text(estimate: Estimate) -> str:
    """The whole figure on a line: value, interval, cases, queries, what is unscored, bounds.

    >>> figure_text(Estimate(name="accuracy", value=0.5, low=0.4, high=0.6, n=90, n_clusters=80))
    '50.00 %  [40.00, 60.00]  n=90 on 80 queries'
    """
    if estimate.value is None:
        return f"none: {estimate.reason}"
    text = value_text(estimate)
    if interval := interval_text(estimate):
        text += f"  {interval}"
    text += f"  n={estimate.n:,}"
    if estimate.n_clusters != estimate.n:
        text += f" on {estimate.n_clusters:,} queries"
    if estimate.n_unscored:
        text += f", {estimate.n_unscored:,} unscored"
    if estimate.bounds is not None:
        low, high = (_number(estimate, bound) for bound in estimate.bounds)
        text += f" (with them {low} to {high})"
    return text


def figure_cell(estimate: Estimate) -> str:
    """The figure in a narrow cell: value and interval, rounded."""
    if estimate.value is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return _number(estimate, estimate.value)
    plain = _digits(estimate)
    if plain is not None:
        scale, digits = 1, plain - 1
    else:
        scale, digits = 100, 0
    low, high = estimate.low * scale, estimate.high * scale
    shown = max(1, digits)
    return f"{estimate.value * scale:.{shown}f} [{low:.{digits}f}-{high:.{digits}f}]"


def _digits(estimate: Estimate) -> int | None:
    """Digits after the point of a figure that is no share; None for a share."""
    if estimate.name.startswith(_PLAIN_BEGINNINGS):
        return 3
    return _PLAIN.get(estimate.name)


def _number(estimate: Estimate, value: float) -> str:
    digits = _digits(estimate)
    return f"{value * 100:.2f}" if digits is None else f"{value:.{digits}f}"


def _unit(estimate: Estimate) -> str:
    return " %" if _digits(estimate) is None else ""


def with_more(
    table: Table, n_more: int, folder: Path, file: str = "verdicts.jsonl"
) -> RenderableType:
    """A list's table, and below it how many rows more a file of the run holds."""
    if n_more <= 0:
        return table
    return Group(table, Text(f" … {n_more:,} more in {folder / file}", style="dim"))
