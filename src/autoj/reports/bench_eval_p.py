"""Tables of the meta-evaluations on pairs: figures overall, by part, beside the trivial judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.bench.eval_p.measure import PairMeasurement
from autoj.bench.eval_p.paired import Comparison
from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.reports.render import figure_text, interval_text, value_text
from autoj.reports.text import excerpt, visible_text

__all__ = [
    "comparison_table",
    "pairs_view",
    "parts_table",
    "percent_cell",
    "result_view",
    "trivial_table",
]

_COLUMNS = {
    "accuracy": "accuracy",
    "agreement": "agreement",
    "consistency": "consistent",
    "averaged accuracy": "averaged",
}
"""The four figures of pairs, and their columns' headings."""


def result_view(result: Result) -> RenderableType:
    """The figures over all cases, one a line, with what must be known of them."""
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("judge", visible_text(result.judge))
    table.add_row("verdicts", visible_text(result.source))
    table.add_row("cases", f"{result.n_cases:,}")
    for estimate in result.estimates:
        table.add_row(estimate.name, figure_text(estimate))
    table.add_row("unreadable, failed", _lost(result))
    for note in result.notes:
        table.add_row("note", visible_text(note))
    return table


def _lost(result: Result) -> str:
    n_unreadable, n_failed = (result.details.get(name, 0) for name in ("n_unreadable", "n_failed"))
    return f"{n_unreadable:,} and {n_failed:,} judgments"


def parts_table(title: str, parts: Mapping[str, Sequence[Estimate]]) -> Table:
    """The four figures of each part, in percent, with 95 % intervals."""
    shown = [name for name in _COLUMNS if _is_known(name, parts)]
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column(title, no_wrap=True)
    table.add_column("n", justify="right")
    for name in shown:
        table.add_column(_COLUMNS[name], justify="right", no_wrap=True)
    for part, estimates in parts.items():
        found = {estimate.name: estimate for estimate in estimates}
        n = max(estimate.n + estimate.n_unscored for estimate in estimates)
        table.add_row(excerpt(part, 23), f"{n:,}", *(percent_cell(found[name]) for name in shown))
    return table


def _is_known(name: str, parts: Mapping[str, Sequence[Estimate]]) -> bool:
    return any(
        estimate.name == name and estimate.value is not None
        for estimates in parts.values()
        for estimate in estimates
    )


def percent_cell(estimate: Estimate) -> str:
    """A share in percent with its 95 % interval, narrow; "-" where it has no value.

    >>> percent_cell(Estimate(name="accuracy", value=0.5, n=8, n_clusters=8, low=0.2, high=0.8))
    '50.00 20-80'
    """
    if estimate.value is None:
        return "-"
    text = f"{estimate.value * 100:.2f}"
    if estimate.low is not None and estimate.high is not None:
        text += f" {estimate.low * 100:.0f}-{estimate.high * 100:.0f}"
    return text


def trivial_table(results: Sequence[Result]) -> Table:
    """What judges that read nothing reach on the same cases."""
    return parts_table("trivial judge", {result.judge: result.estimates for result in results})


def comparison_table(comparisons: Sequence[Comparison], other: str) -> RenderableType:
    """How much higher the judge's figures are than another's, in points, and where for sure."""
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for name in ("less " + other, "difference", "95 % interval", "p", "p (Holm)"):
        table.add_column(visible_text(name), justify="left" if name.startswith("less") else "right")
    for comparison in comparisons:
        overall = comparison.overall
        table.add_row(
            Text(comparison.figure, style="bold"), *_difference(overall.estimate, overall.p_value)
        )
        for part, found in comparison.parts.items():
            corrected = comparison.corrected.get(part)
            table.add_row(
                Text("  ").append_text(excerpt(part, 30)),
                *_difference(found.estimate, found.p_value),
                "-" if corrected is None else _p(corrected),
            )
    return Group(table)


def _difference(estimate: Estimate, p_value: float | None) -> tuple[str, str, str]:
    p = "-" if p_value is None else _p(p_value)
    return value_text(estimate), interval_text(estimate), p


def _p(p_value: float) -> str:
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def pairs_view(found: PairMeasurement, by: str) -> RenderableType:
    """A judge's figures beside those of the trivial judges, and less another judge's.

    Args:
        found: what was measured.
        by: the breakdown that is listed.
    """
    result = found.result
    parts: list[RenderableType] = [result_view(result), Text()]
    if found.in_sample is not None:
        parts += [parts_table("tie band chosen in-sample", {"all": found.in_sample.estimates})]
        parts += [Text(f"{found.in_sample.notes[0]} It flatters.", style="dim"), Text()]
    for breakdown in dict.fromkeys([by, "seen and unseen"]):
        if breakdown in result.parts:
            parts += [parts_table(breakdown, result.parts[breakdown]), Text()]
    parts.append(trivial_table(found.baselines))
    if (other := found.other) is not None:
        table = comparison_table(found.differences, f"{other.judge} ({other.source})")
        parts += [Text(), table]
    return Group(*parts)
