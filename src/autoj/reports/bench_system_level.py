"""Tables of the system level: correlations with their intervals, ranks and their differences."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.bench.system_level.model_table import Ranked
from autoj.bench.system_level.query_ratings import Precision
from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.reports import render

_RANKS = "rank is the reference's; diff is the judge's less it: below 0 is ranked too high"
_APPROXIMATE = (
    "Intervals over queries and on all queries are approximate: in simulations 86 to 100 % of them "
    "contained the true value."
)
_COEFFICIENTS = ("spearman", "pearson", "kendall")


def ranking_view(result: Result, lengths: Result | None) -> RenderableType:
    """A judge's ranking of models beside the reference's.

    Args:
        result: of `evaluate_table` or `evaluate_ratings`.
        lengths: of `length_result`, if lengths are known.
    """
    parts: list[RenderableType] = [_rank_table(result), *render.notes([_RANKS]), Text()]
    parts += [_heads(result), Text(), _coefficient_table(result, lengths)]
    if result.estimate(f"{_COEFFICIENTS[0]} over queries") is not None:
        parts += render.notes([_APPROXIMATE])
    parts += render.notes(_published(result))
    parts += render.notes(_precision(result.details.get("precision")))
    parts += render.notes(_reasons(result), style="yellow")
    parts += render.notes(result.notes)
    return Group(*parts)


def _heads(result: Result) -> Table:
    models: Sequence[Ranked] = result.details["models"]
    rows = [
        ("judge", result.judge),
        ("ratings", result.source),
        ("models", f"{len(models):,} with a rating and a reference"),
    ]
    if "n_unreadable" in result.details:
        n_unreadable, n_failed = result.details["n_unreadable"], result.details["n_failed"]
        rows.append(("cases", render.count(result.n_cases)))
        rows.append(render.lost(n_unreadable, n_failed))
    return render.facts(rows, "flush")


def _rank_table(result: Result) -> render.Listing:
    """One line per model, the reference's best first."""
    measured = result.parts.get("model", {})
    columns = ("mean rating", "reference", "rank", "judge's", "diff")
    listing = render.Listing(
        render.Column.text("model", 27 if measured else 32),
        *map(render.Column.number, columns),
        spacing="flush",
    )
    models: Sequence[Ranked] = result.details["models"]
    for one in models:
        known = {estimate.name: estimate for estimate in measured.get(one.model, ())}
        mean = known.get("mean rating")
        listing.add(
            one.title,
            render.number(one.rating, 2)
            if mean is None
            else render.estimate_cell(mean, short=True),
            render.number(one.reference, 2),
            one.reference_rank,
            one.rank,
            f"{one.delta:+d}" if one.delta else "0",
        )
    return listing


def _coefficient_table(result: Result, lengths: Result | None) -> render.Listing:
    """Correlations with intervals over models; corrected ones with intervals over queries."""
    columns = (render.Column.number(name.capitalize()) for name in _COEFFICIENTS)
    listing = render.Listing(render.Column.text("correlation"), *columns, spacing="tight")
    listing.add("over models", *_cells(result.estimates, ""))
    for over in ("on all queries", "over queries"):
        if result.estimate(f"{_COEFFICIENTS[0]} {over}") is not None:
            listing.add(over, *_cells(result.estimates, f" {over}"))
    if lengths is not None:
        listing.add("length alone", *_cells(lengths.estimates, ""), style="dim")
    return listing


def _cells(estimates: Sequence[Estimate], suffix: str) -> list[str]:
    found = {estimate.name: estimate for estimate in estimates}
    return [render.estimate_cell(found[f"{name}{suffix}"], short=True) for name in _COEFFICIENTS]


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


def _reasons(result: Result) -> list[str]:
    """Reasons of missing figures; a reason that several share stands once."""
    reasons: dict[str, list[str]] = {}
    for estimate in result.estimates:
        if estimate.value is None:
            reasons.setdefault(str(estimate.reason), []).append(estimate.name)
    return [f"no {', '.join(names)}: {why}" for why, names in reasons.items()]


def _precision(found: Precision | None) -> list[str]:
    if found is None:
        return []
    n, n_all = found.n_queries, found.n_set_queries
    lines = ["", f"Standard errors in points of rating, from {n:,} of {n_all:,} queries:"]
    for what, error, on_all in (
        ("a model's mean", found.of_mean, found.of_mean_on_all),
        ("a difference of two models", found.of_difference, found.of_difference_on_all),
    ):
        more = f"   ({render.number(on_all, 3)} on all {n_all:,})" if n < n_all else ""
        lines.append(f"  {what:<28}{render.number(error, 3)}{more}")
    share = render.percent(found.n_pairs_apart / found.n_pairs)
    lines.append(
        f"{found.n_pairs_apart:,} of {found.n_pairs:,} pairs of models are "
        f"significantly different at 95 % ({share})."
    )
    return lines
