"""Tables of scenario classifiers: their figures beside baselines and published ones."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.scenario_classifier.comparison import ClassifierDifference
from autoj.bench.scenario_classifier.evaluate import ALL, TOP
from autoj.bench.scenario_classifier.measure import SetMeasurement
from autoj.bench.scenario_classifier.published import PublishedClassifier
from autoj.bench.scenario_classifier.query_set import QuerySet
from autoj.metrics import Difference
from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.reports import render
from autoj.reports.bench_scenario_classifier_confusion import classifier_view
from autoj.reports.text import visible_text

_COLUMNS = {
    "accuracy": "accuracy",
    "macro F1": "macro F1",
    "weighted F1": "weighted F1",
    f"top-{TOP} accuracy": f"top-{TOP}",
    "expected calibration error": "ECE",
    "mean confidence": "sure",
}
_LEGEND = (
    "Percent with 95 % intervals over queries. ECE: the mean gap between probability and accuracy "
    "in ten bins of equal width, 0 to 1. sure: the mean probability of the named scenario."
)


def set_view(
    found: QuerySet, results: Sequence[Result], baseline: Sequence[Result]
) -> RenderableType:
    """A set, and the figures of all classifiers on it.

    Args:
        found: the set.
        results: of the classifiers, from `figures.evaluate`.
        baseline: of the baselines.
    """
    columns = [render.Column.number(name) for name in ("rows", *_COLUMNS.values())]
    listing = render.Listing(render.Column.text("classifier", 18), *columns, spacing="tight")
    for group, style in ((results, ""), (baseline, "dim")):
        for result in group:
            for name, estimates in result.parts["rows"].items():
                shown = result.judge if name == ALL else Text("  without")
                listing.add(shown, *_cells(estimates), style=style)
    return Group(
        visible_text(_heading(found), style="bold"),
        listing,
        *render.notes(_remarks(found, results)),
        *render.notes(f"{each.judge}: {each.source}." for each in baseline),
        *render.notes([_LEGEND]),
    )


def _heading(found: QuerySet) -> str:
    n_queries = len({case.cluster for case in found.cases})
    n_scenarios = len({case.scenario for case in found.cases})
    return (
        f"{found.name}: {len(found.cases):,} rows, {n_queries:,} queries, {n_scenarios:,} scenarios"
    )


def _remarks(found: QuerySet, results: Sequence[Result]) -> Iterator[str]:
    if found.n_left_out:
        yield f"{found.n_left_out:,} of the file's {found.n_rows:,} rows are left out."
    if found.seen:
        counted = ", ".join(f"{seen.name} {seen.n_rows:,}" for seen in found.seen)
        kept = "; they are kept" if found.keeps_seen else ""
        yield f"Rows of the file whose query is in training data: {counted}{kept}."
    dropped = results[0].details["dropped"] if results else ()
    if dropped:
        counts = {name: sum(case.scenario == name for case in found.cases) for name in dropped}
        listed = ", ".join(f"{name} ({n:,})" for name, n in counts.items())
        yield f"without: the rows of {listed} are left out."
    by_note: dict[str, list[str]] = {}
    for result in results:
        for note in result.notes:
            by_note.setdefault(note, []).append(result.judge)
    yield from (f"{', '.join(judges)}: {note}" for note, judges in by_note.items())
    for result in results:
        n_unreadable, n_failed = result.details["n_unreadable"], result.details["n_failed"]
        if n_unreadable or n_failed:
            yield (
                f"{result.judge}: {n_unreadable:,} unreadable answers count as "
                f"wrong; {n_failed:,} failed requests are left out."
            )


def _cells(estimates: Sequence[Estimate]) -> list[str | int]:
    found = {estimate.name: estimate for estimate in estimates}
    return [found["accuracy"].n, *(_cell(found[name]) for name in _COLUMNS)]


def _cell(estimate: Estimate) -> str:
    if estimate.name == "expected calibration error":
        return render.number(estimate.value, 3)
    if estimate.name in ("accuracy", "macro F1", "weighted F1"):
        return render.estimate_cell(estimate, short=True)
    return render.percent_cell(estimate.value)


def published_table(published: Sequence[PublishedClassifier]) -> RenderableType:
    """Figures that others published on the same rows, in percent, not measured here."""
    columns = (
        render.Column.number("accuracy"),
        render.Column.number("F1"),
        render.Column.prose("source"),
    )
    listing = render.Listing(
        render.Column.text("published on these rows"), *columns, spacing="tight"
    )
    for row in published:
        listing.add(row.model, row.accuracy, row.f1, row.source, style="dim")
    return Group(
        listing, *render.notes(["F1: the source does not give the average over scenarios."])
    )


def difference_table(comparisons: Sequence[ClassifierDifference]) -> RenderableType:
    """Differences of one classifier's figures from another's, in points, by query."""
    columns = (
        render.Column.number("rows"),
        render.Column.number("accuracy"),
        render.Column.number("p", follows=True),
        render.Column.number("macro F1"),
        render.Column.number("p", follows=True),
    )
    listing = render.Listing(render.Column.text("difference", 24), *columns, spacing="tight")
    for comparison in comparisons:
        found = {one.estimate.name: one for one in comparison.differences}
        accuracy = found["accuracy"]
        name = f"{comparison.classifier} less {comparison.other}"
        listing.add(
            name if comparison.rows == ALL else Text("  without"),
            accuracy.estimate.n,
            *_difference(accuracy),
            *_difference(found["macro F1"]),
        )
    return listing


def _difference(found: Difference) -> tuple[str, str]:
    return render.estimate_cell(found.estimate, signed=True), render.p_value(found.p_value)


def sets_view(measured: Sequence[SetMeasurement], *, all_scenarios: bool) -> RenderableType:
    """All sets with their comparisons, and each classifier on the first set.

    Args:
        measured: the measurements on each set.
        all_scenarios: list every scenario instead of the worst only.
    """
    parts: list[RenderableType] = []
    for each in measured:
        parts += [set_view(each.queries, each.results, each.baseline), Text()]
        if each.published:
            parts += [published_table(each.published), Text()]
        if each.differences:
            parts += [difference_table(each.differences), Text()]
    for result in measured[0].results:
        parts += [classifier_view(result, all_scenarios=all_scenarios), Text()]
    return Group(*parts)
