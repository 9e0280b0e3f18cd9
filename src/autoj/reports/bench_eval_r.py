"""Tables of Eval-R: best of N beside oracle, random, longest and first; differences; correlations.

The tables need only `Result`s of `bench.eval_r`.
"""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.eval_r.best_of_n import BestOfN
from autoj.bench.eval_r.measure import SelectionMeasurement
from autoj.metrics import Difference
from autoj.metrics.result import Result
from autoj.reports import render
from autoj.reports.text import excerpt, visible_text

_N_COLUMNS = 3
"""Sizes side by side in 80 columns."""


def best_of_n_view(results: Sequence[Result], baseline: Sequence[Result]) -> RenderableType:
    """The figures of some judges and of the baselines on the same candidates.

    Args:
        results: of `evaluate`; may be empty.
        baseline: of `baseline_results`.
    """
    parts: list[RenderableType] = [_heads(results), Text()] if results else []
    sizes: list[int] = list(baseline[0].details["sizes"])
    bases = [None, *baseline[0].parts.get("base model", {})]
    for base in bases:
        if len(bases) == 2 and base is not None:
            continue
        for start in range(0, len(sizes), _N_COLUMNS):
            parts += [_best_of(base, sizes[start : start + _N_COLUMNS], results, baseline), Text()]
    if results:
        parts += [_differences(results), Text()]
    correlated = [*results, *(found for found in baseline if "p_values" in found.details)]
    parts.append(_correlations(correlated))
    parts += _remarks(results)
    return Group(*parts)


def published_hints(found: SelectionMeasurement) -> list[str]:
    """A way to measure the ratings that a set's file has; none where a judge is measured."""
    if found.results or not found.published:
        return []
    listed = ", ".join(found.published)
    return [f"the file has ratings by {listed}; --published NAME measures them"]


def _heads(results: Sequence[Result]) -> RenderableType:
    rows: list[tuple[str, str]] = []
    for result in results:
        label, lost = render.lost(result.details["n_unreadable"], result.details["n_failed"])
        rows += [
            ("judge", result.judge),
            ("  ratings", result.source),
            (f"  {label}", lost),
        ]
        missing = list(_missing(result))
        if missing:
            rows.append(("  not counted", "; ".join(missing)))
    return render.facts([*rows, ("cases", render.count(results[0].n_cases))], "flush")


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
    base: str | None, sizes: Sequence[int], results: Sequence[Result], baseline: Sequence[Result]
) -> render.Listing:
    rows = [
        render.FigureRow(
            name=result.judge,
            estimates=result.estimates
            if base is None
            else result.parts["base model"].get(base, ()),
            style=style,
        )
        for group, style in ((results, ""), (baseline, "dim"))
        for result in group
    ]
    heading = "all responses" if base is None else excerpt(base, 20)
    columns = {f"best of {size}": f"best of {size}" for size in sizes}
    return render.figures(render.Column.text(heading, 20), columns, rows, with_n=False)


def _differences(results: Sequence[Result]) -> render.Listing:
    """Differences of a judge's picks from the baselines' picks, on the same queries."""
    comparisons: list[tuple[str, BestOfN]] = [
        (result.judge, found)
        for result in results
        for found in result.details["comparisons"]
        if found.base_model is None
    ]
    # If only picks are graded, the mean of all candidates is unknown, but not the first one.
    is_known = any(found.less["random"].estimate.n for _, found in comparisons)
    others = ("random" if is_known else "first", "longest")
    listing = render.Listing(
        render.Column.text("same queries", 20),
        render.Column.count("N"),
        *(
            column
            for name in others
            for column in (
                render.Column.number(f"less {name}"),
                render.Column.number("p", follows=True),
            )
        ),
        spacing="flush",
    )
    for judge, found in comparisons:
        listing.add(
            judge, found.size, *(cell for name in others for cell in _less(found.less[name]))
        )
    return listing


def _less(found: Difference) -> tuple[str, str]:
    cell = render.estimate_cell(found.estimate, short=True, signed=True)
    return cell, render.p_value(found.p_value)


def _correlations(results: Sequence[Result]) -> render.Listing:
    """Correlations of ratings with reference scores, by response."""
    listing = render.Listing(
        render.Column.text("ratings of", 14),
        render.Column.text("over"),
        render.Column.number("n"),
        render.Column.number("Pearson"),
        render.Column.number("p", follows=True),
        render.Column.number("Spearman"),
        render.Column.number("p", follows=True),
        spacing="tight",
    )
    for result in results:
        found = {estimate.name: estimate for estimate in result.estimates}
        is_length = result.judge == "longest"
        for suffix, over in (("", "picks"), (" of all responses", "all")):
            names = [f"{coefficient}{suffix}" for coefficient in ("pearson", "spearman")]
            if names[0] not in found:
                continue
            cells = [
                text
                for name in names
                for text in (
                    render.estimate_cell(found[name], short=True),
                    render.p_value(result.details["p_values"][name]),
                )
            ]
            judge = "length" if is_length else result.judge
            listing.add(judge, over, found[names[0]].n, *cells, style="dim" if is_length else "")
    return listing


def _remarks(results: Sequence[Result]) -> list[RenderableType]:
    """The notes of all results, each once, and the reasons of missing figures."""
    said = list(dict.fromkeys(note for result in results for note in result.notes))
    lines = render.notes(said)
    lines += [
        visible_text(f"{result.judge}: no {found.name}: {found.reason}", style="yellow")
        for result in results
        for found in result.estimates
        if found.value is None
    ]
    return [Text(), *lines] if lines else []
