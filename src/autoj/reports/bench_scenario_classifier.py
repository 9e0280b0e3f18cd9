"""Tables of scenario classifiers: figures beside trivial and published ones, and what is confused.

80 columns are enough for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.bench.scenario_classifier.comparison import Comparison
from autoj.bench.scenario_classifier.confusion import UNREADABLE, Confused, GroupConfusion, Missed
from autoj.bench.scenario_classifier.evaluate import ALL, TOP
from autoj.bench.scenario_classifier.measure import SetMeasurement
from autoj.bench.scenario_classifier.published import PublishedClassifier
from autoj.bench.scenario_classifier.query_set import QuerySet
from autoj.metrics import Difference
from autoj.metrics.calibration import ReliabilityBin
from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.reports.bench_eval_p import percent_cell
from autoj.reports.text import excerpt, visible_text

__all__ = ["classifier_view", "difference_table", "published_table", "set_view", "sets_view"]

_GROUPS = {
    "Summarization": "Summ",
    "Exam Questions": "Exam",
    "Code": "Code",
    "Rewriting": "Rewr",
    "Creative Writing": "Crea",
    "Functional Writing": "Func",
    "General Communication": "Comm",
    "NLP Tasks": "NLP",
    UNREADABLE: "?",
}
"""Short names of the groups, for columns."""
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
    "in ten bins of equal width, 0 to 1. sure: the mean probability of what is named."
)
_N_WORST = 10
_N_TAKEN_FOR = 3


def set_view(
    found: QuerySet, results: Sequence[Result], trivial: Sequence[Result]
) -> RenderableType:
    """A set, and the figures of all classifiers on it.

    Args:
        found: the set.
        results: of the classifiers, from `figures.evaluate`.
        trivial: of those that read nothing.
    """
    table = _table("classifier", *("rows", *_COLUMNS.values()))
    for result in (*results, *trivial):
        style = "dim" if result in trivial else ""
        for name, estimates in result.parts["rows"].items():
            shown = excerpt(result.judge, 18) if name == ALL else Text("  without")
            table.add_row(shown, *_cells(estimates), style=style)
    parts: list[RenderableType] = [Text(_heading(found), style="bold"), table]
    parts += [visible_text(line, style="dim") for line in _remarks(found, results)]
    parts += [visible_text(f"{each.judge}: {each.source}.", style="dim") for each in trivial]
    return Group(*parts, Text(_LEGEND, style="dim"))


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


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
        yield f"Rows of the file whose query stands in training data: {counted}{kept}."
    dropped = results[0].details["dropped"] if results else ()
    if dropped:
        counts = {name: sum(case.scenario == name for case in found.cases) for name in dropped}
        listed = ", ".join(f"{name} ({n:,})" for name, n in counts.items())
        yield f"without: the rows of {listed} do not count."
    by_note: dict[str, list[str]] = {}
    for result in results:
        for note in result.notes:
            by_note.setdefault(note, []).append(result.judge)
    yield from (f"{', '.join(judges)}: {note}" for note, judges in by_note.items())
    for result in results:
        n_unreadable, n_failed = result.details["n_unreadable"], result.details["n_failed"]
        if n_unreadable or n_failed:
            yield (
                f"{result.judge}: answers that could not be read {n_unreadable:,}, which count as "
                f"wrong; failed {n_failed:,}, which are left out."
            )


def _cells(estimates: Sequence[Estimate]) -> list[str]:
    found = {estimate.name: estimate for estimate in estimates}
    first = found["accuracy"]
    cells = [f"{first.n:,}"]
    for name in _COLUMNS:
        estimate = found[name]
        if estimate.value is None:
            cells.append("-")
        elif name == "expected calibration error":
            cells.append(f"{estimate.value:.3f}")
        elif name in ("accuracy", "macro F1", "weighted F1"):
            cells.append(percent_cell(estimate))
        else:
            cells.append(f"{estimate.value * 100:.1f}")
    return cells


def published_table(published: Sequence[PublishedClassifier]) -> RenderableType:
    """What others published about the same rows, in percent; never measured here."""
    table = _table("published on these rows", "accuracy", "F1")
    table.add_column("source", overflow="fold")
    for row in published:
        table.add_row(row.model, row.accuracy, row.f1, row.source, style="dim")
    said = "F1: over which average of the scenarios is not said."
    return Group(table, Text(said, style="dim"))


def difference_table(comparisons: Sequence[Comparison]) -> RenderableType:
    """How much higher one classifier's figures are than another's, in points, by query."""
    table = _table("difference", "rows", "accuracy", "p", "macro F1", "p")
    for comparison in comparisons:
        found = {one.estimate.name: one for one in comparison.differences}
        accuracy = found["accuracy"]
        name = excerpt(f"{comparison.classifier} less {comparison.other}", 24)
        table.add_row(
            name if comparison.rows == ALL else Text("  without"),
            f"{accuracy.estimate.n:,}",
            *_difference(accuracy),
            *_difference(found["macro F1"]),
        )
    return table


def _difference(found: Difference) -> tuple[str, str]:
    estimate, p = found.estimate, found.p_value
    if estimate.value is None:
        return "-", "-"
    text = f"{estimate.value * 100:+.1f}"
    if estimate.low is not None and estimate.high is not None:
        text += f" [{estimate.low * 100:.1f}, {estimate.high * 100:.1f}]"
    return text, "-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def classifier_view(result: Result, *, all_scenarios: bool = False) -> RenderableType:
    """What one classifier takes for what: groups, the worst scenarios, how sure it is.

    Args:
        result: of `figures.evaluate`.
        all_scenarios: whether all scenarios are listed in place of the worst.
    """
    parts: list[RenderableType] = [
        visible_text(_title(result), style="bold"),
        _group_table(result),
        Text(),
        _scenario_table(result) if all_scenarios else _worst_table(result),
    ]
    bins: Sequence[ReliabilityBin] = result.details["reliability"]
    if bins:
        parts += [Text(), _bin_table(bins)]
    return Group(*parts)


def _title(result: Result) -> str:
    digest: str | None = result.details["digest"]
    shown = "" if digest is None else f", {digest[:19]}"
    return f"{result.judge} on {result.details['set_name']} ({result.source}{shown})"


def _group_table(result: Result) -> Table:
    """A line a group: its accuracy, and how many of its rows were taken for each group."""
    confusion: GroupConfusion = result.details["confusion"]
    columns = [_GROUPS.get(name, "else") for name in confusion.guesses]
    table = _table("group, taken for", "n", "accuracy", *columns)
    for group, counts in zip(confusion.labels, confusion.counts, strict=True):
        (right,) = result.parts["group"][group]
        cells = [
            Text(f"{n:,}" if n else "·", style="bold" if name == group else "")
            for name, n in zip(confusion.guesses, counts, strict=True)
        ]
        table.add_row(excerpt(group, 21), f"{right.n:,}", _rounded(right), *cells)
    return table


def _rounded(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{estimate.value * 100:.0f} {estimate.low * 100:.0f}-{estimate.high * 100:.0f}"


def _worst_table(result: Result) -> RenderableType:
    worst: Sequence[Missed] = result.details["missed"]
    if not worst:
        return Text("no row is taken for another scenario", style="dim")
    table = _table("worst scenarios", "n", "accuracy")
    table.add_column("taken for", overflow="fold")
    for one in worst[:_N_WORST]:
        never = "" if one.can_be_named else " (cannot be named)"
        table.add_row(
            excerpt(one.scenario, 24),
            f"{one.right.n:,}",
            _rounded(one.right),
            visible_text(_taken_for(one.taken_for) + never),
        )
    if len(worst) <= _N_WORST:
        return table
    more = f"{len(worst) - _N_WORST:,} more with --by scenario"
    return Group(table, Text(more, style="dim"))


def _scenario_table(result: Result) -> Table:
    others = {one.scenario: one.taken_for for one in result.details["missed"]}
    table = _table("scenario", "n", "accuracy", "F1")
    table.add_column("taken for", overflow="fold")
    for scenario, (right, harmonic) in result.parts["scenario"].items():
        table.add_row(
            excerpt(scenario, 24),
            f"{right.n:,}",
            _rounded(right),
            "-" if harmonic.value is None else f"{harmonic.value * 100:.0f}",
            visible_text(_taken_for(others.get(scenario, ()))),
        )
    return table


def _taken_for(found: Sequence[Confused]) -> str:
    listed = [f"{one.guess or UNREADABLE} {one.n:,}" for one in found[:_N_TAKEN_FOR]]
    rest = sum(one.n for one in found[_N_TAKEN_FOR:])
    return ", ".join([*listed, *([f"and {rest:,} more"] if rest else [])])


def _bin_table(bins: Sequence[ReliabilityBin]) -> Table:
    table = _table("probability", "n", "mean", "accuracy")
    for one in bins:
        table.add_row(
            f"{one.low:.1f} to {one.high:.1f}",
            f"{one.n:,}",
            f"{one.confidence * 100:.1f}",
            f"{one.accuracy * 100:.1f}",
        )
    return table


def sets_view(measured: Sequence[SetMeasurement], *, all_scenarios: bool) -> RenderableType:
    """All sets with all that is held against each other, and each classifier on the first set.

    Args:
        measured: what was found on each set.
        all_scenarios: whether every scenario is listed, and not the worst alone.
    """
    parts: list[RenderableType] = []
    for each in measured:
        parts += [set_view(each.queries, each.results, each.trivial), Text()]
        if each.published:
            parts += [published_table(each.published), Text()]
        if each.differences:
            parts += [difference_table(each.differences), Text()]
    for result in measured[0].results:
        parts += [classifier_view(result, all_scenarios=all_scenarios), Text()]
    return Group(*parts)
