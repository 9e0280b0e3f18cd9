"""The audit card as a table: each figure with its interval and a line of explanation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from autoj.jsonl import decode_as, encode
from autoj.metrics.calibration import ReliabilityBin
from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.reports import render
from autoj.reports.text import visible_text

SECTIONS: Mapping[str, tuple[str, ...]] = {
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
"""The card's figures in the order of display."""
TITLES = {
    "accuracy": "accuracy (one order)",
    "calibration": "Brier score (0 best, 2 worst)",
}
"""Figures whose heading is not their name."""
PART_OF = {
    "With people": ("Accuracy above that of the baselines", "trivial"),
    "Length": ("Format", "format"),
    "Injected verdicts": ("By text", "injection"),
    "Calibration": ("A calibrated judge with the same probabilities", "calibrated"),
}
"""The breakdown that follows a section, with its heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Details:
    words: Mapping[str, Mapping[str, str]]
    reliability: Sequence[ReliabilityBin]
    n_judgments: int
    left_out: Mapping[str, Mapping[str, int]]
    n_questions: int = 0


def check_card(result: Result) -> None:
    """Check that a stored card has all that is shown of it.

    Raises:
        ValueError: something is not there, or of another type.
    """
    words = decode_as(_Details, encode(result.details)).words
    breakdowns = [breakdown for _, breakdown in PART_OF.values()]
    named = {name: result.parts.get(name, {}) for name in breakdowns}
    for part, its in named.items():
        for name, found in its.items():
            if len(found) != 1:
                raise ValueError(f"{part} {name!r} has {len(found)} figures, and not one")
    known = {its.name for its in result.estimates}
    shown = [name for names in SECTIONS.values() for name in names if name in known]
    for part, names in ("estimates", shown), *named.items():
        for name in names:
            if name not in words.get(part, {}):
                raise ValueError(f"no words for {name!r} of {part}")


def audit_view(result: Result) -> RenderableType:
    """The whole card, 80 columns wide.

    Args:
        result: an audit's, computed or read from its file.
    """
    parts: list[RenderableType] = [_heading(result), Text()]
    words = result.details["words"]
    for title, names in SECTIONS.items():
        found = [result.estimate(name) for name in names]
        lines = [
            (TITLES.get(estimate.name, estimate.name), estimate, words["estimates"][estimate.name])
            for estimate in found
            if estimate is not None
        ]
        parts += _section(title, lines)
        heading, breakdown = PART_OF.get(title, ("", ""))
        if its := result.parts.get(breakdown):
            parts += _section(
                heading,
                [(name, estimate, words[breakdown][name]) for name, (estimate,) in its.items()],
            )
    if result.details["reliability"]:
        parts += [_bins(result.details["reliability"]), Text()]
    return Group(*parts, *render.notes(f"left out: {line}" for line in left_out(result)))


def _heading(result: Result) -> RenderableType:
    rows = [
        ("audit of", result.judge),
        ("verdicts", result.source),
        ("questions", questions(result)),
        *(("note", note) for note in result.notes),
    ]
    return render.facts(rows, "flush")


def questions(result: Result) -> str:
    """The counts that the audit announced, too; a card of an earlier version knows one of them."""
    n_distinct = render.count(result.details["n_judgments"])
    if "n_questions" not in result.details:
        return f"{n_distinct} distinct ones"
    return f"{render.count(result.details['n_questions'])}, {n_distinct} of them distinct"


def _section(title: str, lines: Sequence[tuple[str, Estimate, str]]) -> list[RenderableType]:
    """A heading, and two lines per figure: its numbers and their meaning."""
    parts: list[RenderableType] = [Text(title, style="bold")]
    for name, estimate, meaning in lines:
        parts.append(_numbers(name, estimate))
        parts.append(Padding(visible_text(meaning, style="dim"), (0, 0, 0, 4)))
    return [*parts, Text()]


def _numbers(name: str, estimate: Estimate) -> Text:
    n = f"n={estimate.n:,}"
    if estimate.n_unscored:
        n += f", {estimate.n_unscored:,} unscored"
    numbers = f"{render.estimate_value(estimate):>9}  {render.estimate_interval(estimate):<18}"
    return visible_text(f"  {name:<31}{numbers}{n}".rstrip())


def _bins(bins: Sequence[Mapping[str, Any]]) -> render.Listing:
    columns = [render.Column.number(name) for name in ("n", "stated", "right")]
    listing = render.Listing(
        render.Column.text("probability of the verdict"), *columns, spacing="flush"
    )
    for found in bins:
        shares = (render.percent(found[name]) for name in ("confidence", "accuracy"))
        listing.add(f"  {found['low']:.1f} to {found['high']:.1f}", found["n"], *shares)
    return listing


def left_out(result: Result) -> list[str]:
    """Probes that could not be made, with the number of cases and the reason."""
    return [
        f"{probe}: {n:,} ({reason})"
        for probe, reasons in result.details["left_out"].items()
        for reason, n in reasons.items()
    ]
