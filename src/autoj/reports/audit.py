"""The audit card as a table: each figure with its interval and a line of plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.reports.render import interval_text, value_text
from autoj.reports.text import visible_text

__all__ = ["audit_view"]

_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "With people": (
        "accuracy", "averaged accuracy", "agreement", "kappa",
    ),
    "Position": ("consistency", "position bias", "tie on an identical pair",
                 "first on an identical pair"),
    "Length": (
        "length bias", "longer preferred by the judge", "longer preferred by people",
        "accuracy, close in length",
    ),
    "Injected verdicts": ("flip rate", "flips above harmless text"),
    "Reliability": ("test-retest", "unreadable", "failed"),
    "Calibration": ("calibration", "expected calibration error"),
}  # fmt: skip
"""The card's figures, in the order in which they are read."""
_TITLES = {
    "accuracy": "accuracy (one order)",
    "calibration": "Brier score (0 best, 2 worst)",
}
_PART_OF = {
    "With people": ("Accuracy above that of trivial judges", "trivial"),
    "Length": ("Format", "format"),
    "Injected verdicts": ("By text", "injection"),
    "Calibration": ("A calibrated judge, as sure in as many cases", "calibrated"),
}
"""The breakdown that follows a section, with its heading."""


def audit_view(result: Result) -> RenderableType:
    """The whole card, 80 columns wide.

    Args:
        result: an audit's, computed or read from its file.
    """
    parts: list[RenderableType] = [_heading(result), Text()]
    words = result.details["words"]
    for title, names in _SECTIONS.items():
        found = [result.estimate(name) for name in names]
        lines = [
            (_TITLES.get(estimate.name, estimate.name), estimate, words["estimates"][estimate.name])
            for estimate in found
            if estimate is not None
        ]
        parts += _section(title, lines)
        heading, breakdown = _PART_OF.get(title, ("", ""))
        if its := result.parts.get(breakdown):
            parts += _section(
                heading,
                [(name, estimate, words[breakdown][name]) for name, (estimate,) in its.items()],
            )
    if result.details["reliability"]:
        parts += [_bins(result.details["reliability"]), Text()]
    parts += [Text(f"left out: {line}", style="dim") for line in _left_out(result)]
    return Group(*parts)


def _heading(result: Result) -> RenderableType:
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    rows = [
        ("audit of", result.judge),
        ("verdicts", result.source),
        ("judgments", f"{result.details['n_judgments']:,}"),
        *(("note", note) for note in result.notes),
    ]
    for name, value in rows:
        table.add_row(name, visible_text(value))
    return table


def _section(title: str, lines: Sequence[tuple[str, Estimate, str]]) -> list[RenderableType]:
    """A heading, and two lines a figure: the numbers, and what they mean."""
    parts: list[RenderableType] = [Text(title, style="bold")]
    for name, estimate, meaning in lines:
        parts.append(_numbers(name, estimate))
        parts.append(Padding(visible_text(meaning, style="dim"), (0, 0, 0, 4)))
    return [*parts, Text()]


def _numbers(name: str, estimate: Estimate) -> Text:
    n = f"n={estimate.n:,}"
    if estimate.n_unscored:
        n += f", {estimate.n_unscored:,} unscored"
    numbers = f"{value_text(estimate):>9}  {interval_text(estimate):<18}"
    return visible_text(f"  {name:<31}{numbers}{n}".rstrip())


def _bins(bins: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for heading in ("probability of the verdict", "n", "said", "right"):
        table.add_column(heading, justify="left" if heading.startswith("prob") else "right")
    for found in bins:
        table.add_row(
            f"  {found['low']:.1f} to {found['high']:.1f}",
            f"{found['n']:,}",
            f"{found['confidence'] * 100:.1f} %",
            f"{found['accuracy'] * 100:.1f} %",
        )
    return table


def _left_out(result: Result) -> list[str]:
    """What probe could not be made of how many cases, and why."""
    return [
        f"{probe}: {n:,} ({reason})"
        for probe, reasons in result.details["left_out"].items()
        for reason, n in reasons.items()
    ]
