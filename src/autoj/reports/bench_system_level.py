"""Tables of the system level: correlations with their intervals, ranks and their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.bench.system_level.query_ratings import Precision
from autoj.bench.system_level.ranks import Ranked
from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.reports.text import excerpt, visible_text

__all__ = ["ranking_view"]

_RANKS = "rank is the reference's; diff is the judge's less it: below 0 is placed too high"
_APPROXIMATE = (
    "Intervals over queries and on all queries are approximate: in simulations 86 to 100 % of them "
    "held the true value."
)
_COEFFICIENTS = ("spearman", "pearson", "kendall")


def ranking_view(result: Result, lengths: Result | None) -> RenderableType:
    """A judge's ranking of models beside the reference's.

    Args:
        result: of `evaluate_table` or `evaluate_ratings`.
        lengths: of `length_result`, where lengths are known.
    """
    parts: list[RenderableType] = [_rank_table(result), Text(_RANKS, style="dim"), Text()]
    parts += [_heads(result), Text(), _coefficient_table(result, lengths)]
    if result.estimate(f"{_COEFFICIENTS[0]} over queries") is not None:
        parts.append(Text(_APPROXIMATE, style="dim"))
    parts += [Text(line, style="dim") for line in _published(result)]
    parts += [Text(line, style="dim") for line in _precision(result.details.get("precision"))]
    parts += [visible_text(f"{name}: {why}", style="yellow") for name, why in _reasons(result)]
    parts += [visible_text(note, style="dim") for note in result.notes]
    return Group(*parts)


def _heads(result: Result) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("judge", visible_text(result.judge))
    table.add_row("ratings", visible_text(result.source))
    models: Sequence[Ranked] = result.details["models"]
    table.add_row("models", f"{len(models):,} with a rating and a reference")
    if "n_unreadable" in result.details:
        lost = f"{result.details['n_unreadable']:,} and {result.details['n_failed']:,}"
        table.add_row("cases", f"{result.n_cases:,}")
        table.add_row("unreadable, failed", f"{lost} judgments")
    return table


def _rank_table(result: Result) -> Table:
    """One line a model, the reference's best first."""
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("model", no_wrap=True)
    for name in ("mean rating", "reference", "rank", "judge's", "diff"):
        table.add_column(name, justify="right", no_wrap=True)
    measured = result.parts.get("model", {})
    width = 27 if measured else 32
    models: Sequence[Ranked] = result.details["models"]
    for one in models:
        known = {estimate.name: estimate for estimate in measured.get(one.model, ())}
        mean = known.get("mean rating")
        rating = f"{one.rating:.3f}" if mean is None else _figure(mean, 2)
        table.add_row(
            excerpt(one.title, width),
            rating,
            f"{one.reference:.2f}",
            str(one.reference_rank),
            str(one.rank),
            f"{one.delta:+d}" if one.delta else "0",
        )
    return table


def _coefficient_table(result: Result, lengths: Result | None) -> Table:
    """As it is, with intervals over models; corrected, with intervals over queries."""
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("correlation", no_wrap=True)
    for name in _COEFFICIENTS:
        table.add_column(name.capitalize(), justify="right", no_wrap=True)
    table.add_row("over models", *_cells(result.estimates, ""))
    names = {found.name for found in result.estimates}
    for suffix, what in ((" on all queries", "on all queries"), (" over queries", "over queries")):
        if f"{_COEFFICIENTS[0]}{suffix}" in names:
            table.add_row(what, *_cells(result.estimates, suffix))
    if lengths is not None:
        table.add_row("length alone", *_cells(lengths.estimates, ""), style="dim")
    return table


def _cells(estimates: Sequence[Estimate], suffix: str) -> list[str]:
    found = {estimate.name: estimate for estimate in estimates}
    figures = [_figure(found[f"{name}{suffix}"], 2) for name in _COEFFICIENTS]
    # Three intervals below 0 fit into 80 columns without the space between their ends.
    return [figure.replace(", ", ",") for figure in figures]


def _figure(estimate: Estimate, digits: int) -> str:
    if estimate.value is None:
        return "-"
    text = f"{estimate.value:.3f}"
    if estimate.low is not None and estimate.high is not None:
        text += f" [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"
    return text


def _published(result: Result) -> list[str]:
    rows: Sequence[Mapping[str, Any]] = result.details["published"]
    lines = [""] if rows else []
    for row in rows:
        figures = ", ".join(f"{name} {text}" for name, text in row["figures"].items())
        head = "Our arithmetic" if row["is_computed"] else "Published"
        lines.append(f"{head}: {row['judge']}, {row['source']}: {figures}.")
        if row["note"]:
            lines.append(f"    {row['note']}")
    return lines


def _reasons(result: Result) -> list[tuple[str, str]]:
    """Why figures have no value; what all share is said once."""
    reasons: dict[str, list[str]] = {}
    for estimate in result.estimates:
        if estimate.value is None:
            reasons.setdefault(str(estimate.reason), []).append(estimate.name)
    return [(f"no {', '.join(names)}", why) for why, names in reasons.items()]


def _precision(found: Precision | None) -> list[str]:
    if found is None:
        return []
    n, n_all = found.n_queries, found.n_set_queries
    lines = ["", f"Standard errors in points of rating, from {n:,} of {n_all:,} queries:"]
    for what, error, on_all in (
        ("a model's mean", found.of_mean, found.of_mean_on_all),
        ("a difference of two models", found.of_difference, found.of_difference_on_all),
    ):
        more = f"   ({on_all:.3f} on all {n_all:,})" if n < n_all else ""
        lines.append(f"  {what:<28}{error:.3f}{more}")
    share = found.n_pairs_apart / found.n_pairs
    lines.append(
        f"{found.n_pairs_apart:,} of {found.n_pairs:,} pairs of models are told apart at 95 %"
        f" ({share:.0%})."
    )
    return lines
