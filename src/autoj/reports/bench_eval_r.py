"""Tables of Eval-R: best of N beside oracle, random, longest and first; differences; correlations.

They are drawn from `Result`s alone, as `bench.eval_r` makes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.bench.eval_r.best_of_n import Comparison
from autoj.metrics import Difference
from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.reports.text import excerpt, visible_text

__all__ = ["selection_view"]

_N_COLUMNS = 3
"""Sizes that stand beside each other in 80 columns."""


def selection_view(results: Sequence[Result], trivial: Sequence[Result]) -> RenderableType:
    """The figures of some judges and of those that read nothing, on the same candidates.

    Args:
        results: of `evaluate`; may be none.
        trivial: of `trivial_results`.
    """
    parts: list[RenderableType] = [_heads(results)] if results else []
    sizes: list[int] = list(trivial[0].details["sizes"])
    bases = [None, *trivial[0].parts.get("base model", {})]
    for base in bases:
        if len(bases) == 2 and base is not None:
            continue
        for start in range(0, len(sizes), _N_COLUMNS):
            parts += [_best_of(base, sizes[start : start + _N_COLUMNS], results, trivial), Text()]
    if results:
        parts += [_differences(results), Text()]
    correlated = [*results, *(found for found in trivial if "p_values" in found.details)]
    parts.append(_correlations(correlated))
    parts += _notes(results)
    return Group(*parts)


def _heads(results: Sequence[Result]) -> RenderableType:
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for result in results:
        table.add_row("judge", visible_text(result.judge))
        table.add_row("  ratings", visible_text(result.source))
        lost = f"{result.details['n_unreadable']:,} and {result.details['n_failed']:,}"
        table.add_row("  unreadable, failed", lost)
        missing = list(_missing(result))
        if missing:
            table.add_row("  not counted", "; ".join(missing))
    table.add_row("cases", f"{results[0].n_cases:,}")
    return Group(table, Text())


def _missing(result: Result) -> Iterator[str]:
    for name, why in (
        ("n_without_pick", "no rating to pick by"),
        ("n_without_reference", "picks without a reference score"),
    ):
        counts: Mapping[str, int] = result.details[name]
        listed = ", ".join(f"{count:,} at {size}" for size, count in counts.items() if count)
        if listed:
            yield f"{why}: {listed}"


def _best_of(
    base: str | None, sizes: Sequence[int], results: Sequence[Result], trivial: Sequence[Result]
) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("all responses" if base is None else excerpt(base, 20), no_wrap=True)
    for size in sizes:
        table.add_column(f"best of {size}", justify="right", no_wrap=True)
    for result, style in (
        *((found, "") for found in results),
        *((found, "dim") for found in trivial),
    ):
        its = result.estimates if base is None else result.parts["base model"].get(base, ())
        found = {estimate.name: estimate for estimate in its}
        cells = [_cell(found[f"best of {size}"]) for size in sizes]
        table.add_row(excerpt(result.judge, 20), *cells, style=style)
    return table


def _cell(estimate: Estimate) -> str:
    if estimate.value is None:
        return "-"
    return f"{estimate.value:.3f}{_interval(estimate, 2)}"


def _interval(estimate: Estimate, digits: int) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f" [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def _differences(results: Sequence[Result]) -> Table:
    """How much higher a judge's picks are than trivial ones, on the same queries."""
    comparisons: list[tuple[str, Comparison]] = [
        (result.judge, found)
        for result in results
        for found in result.details["comparisons"]
        if found.base_model is None
    ]
    # Where only picks are graded, the mean of all candidates is not known; the first one is.
    is_known = any(found.less["random"].estimate.n for _, found in comparisons)
    others = ("random" if is_known else "first", "longest")
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("same queries", no_wrap=True)
    table.add_column("N", justify="right")
    for name in others:
        table.add_column(f"less {name}", justify="right", no_wrap=True)
        table.add_column("p", justify="right", no_wrap=True)
    for judge, found in comparisons:
        cells = [cell for name in others for cell in _less(found.less[name])]
        table.add_row(excerpt(judge, 20), str(found.size), *cells)
    return table


def _less(found: Difference) -> tuple[str, str]:
    estimate = found.estimate
    if estimate.value is None:
        return "-", "-"
    value = f"{estimate.value:+.3f}"
    if estimate.low is not None and estimate.high is not None:
        value += f" [{estimate.low:+.2f}, {estimate.high:+.2f}]"
    return value, _p(found.p_value)


def _correlations(results: Sequence[Result]) -> Table:
    """Of ratings with reference scores, by response."""
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("ratings of", no_wrap=True)
    table.add_column("over", no_wrap=True)
    for name in ("n", "Pearson", "p", "Spearman", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in results:
        found = {estimate.name: estimate for estimate in result.estimates}
        for suffix, what in (("", "picks"), (" of all responses", "all")):
            if f"pearson{suffix}" not in found:
                continue
            names = [f"{coefficient}{suffix}" for coefficient in ("pearson", "spearman")]
            cells = [
                text
                for name in names
                for text in (
                    _coefficient(found[name]),
                    _p(result.details["p_values"][name]),
                )
            ]
            style = "dim" if result.judge == "longest" else ""
            name = "length" if result.judge == "longest" else result.judge
            table.add_row(excerpt(name, 14), what, f"{found[names[0]].n:,}", *cells, style=style)
    return table


def _coefficient(estimate: Estimate) -> str:
    if estimate.value is None:
        return "-"
    return f"{estimate.value:.2f}{_interval(estimate, 2)}"


def _p(p_value: float | None) -> str:
    if p_value is None:
        return "-"
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def _notes(results: Sequence[Result]) -> list[RenderableType]:
    """What must be known, each sentence once."""
    said = list(dict.fromkeys(note for result in results for note in result.notes))
    lines = [Text()] + [visible_text(note, style="dim") for note in said]
    lines += [
        visible_text(f"{result.judge}: no {name}: {found.reason}", style="yellow")
        for result in results
        for found in result.estimates
        for name in [found.name]
        if found.value is None
    ]
    return [*lines] if said or len(lines) > 1 else []
