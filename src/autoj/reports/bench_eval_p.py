"""Tables of the meta-evaluations on pairs: figures overall, by part, beside the baselines."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.eval_p.measure import PairMeasurement
from autoj.bench.eval_p.paired import FigureDifference
from autoj.metrics import Difference
from autoj.metrics.result import Result
from autoj.metrics.risk_coverage import RiskCoverage
from autoj.records import Estimate
from autoj.reports import render
from autoj.reports.text import excerpt

_COLUMNS = {
    "accuracy": "accuracy",
    "agreement": "agreement",
    "consistency": "consistency",
    "averaged accuracy": "averaged\naccuracy",
}
"""Headings of the four figures of pairs, in the order of their columns."""


def result_view(result: Result) -> RenderableType:
    """The figures over all cases, one per line, with their notes."""
    n_unreadable, n_failed = (result.details.get(name, 0) for name in ("n_unreadable", "n_failed"))
    return render.facts(
        [
            ("judge", result.judge),
            ("verdicts", result.source),
            ("cases", render.count(result.n_cases)),
            *((each.name, render.estimate_line(each)) for each in result.estimates),
            render.lost(n_unreadable, n_failed),
            *(("note", note) for note in result.notes),
        ]
    )


def parts_table(title: str, parts: Mapping[str, Sequence[Estimate]]) -> render.Listing:
    """The four figures of each part, in percent, with 95 % intervals."""
    known = {each.name for its in parts.values() for each in its if each.value is not None}
    return render.figures(
        render.Column.text(title, 23),
        {name: heading for name, heading in _COLUMNS.items() if name in known},
        [render.FigureRow(name=part, estimates=its) for part, its in parts.items()],
    )


def baseline_table(results: Sequence[Result]) -> render.Listing:
    """The figures of the baselines on the same cases."""
    return parts_table("baseline", {result.judge: result.estimates for result in results})


def comparison_table(comparisons: Sequence[FigureDifference], other: str) -> RenderableType:
    """Differences of the judge's figures from another's, in points, with their p-values."""
    columns = [render.Column.number(name) for name in ("points [95 % interval]", "p", "p (Holm)")]
    listing = render.Listing(render.Column.prose(f"less {other}"), *columns, spacing="flush")
    for comparison in comparisons:
        listing.add(Text(comparison.figure, "bold"), *_difference(comparison.overall), "")
        for part, found in comparison.parts.items():
            name = Text("  ").append_text(excerpt(part, 30))
            corrected = render.p_value(comparison.corrected.get(part))
            listing.add(name, *_difference(found), corrected)
    return listing


def _difference(found: Difference) -> tuple[str, str]:
    return render.estimate_cell(found.estimate, signed=True), render.p_value(found.p_value)


def coverage_table(found: RiskCoverage) -> render.Listing:
    """Accuracy where only the most confident verdicts are kept, a line a coverage."""
    listing = render.Listing(
        render.Column.number("coverage"),
        render.Column.number("pairs"),
        render.Column.number("confidence from"),
        render.Column.number("accuracy [95 % interval]"),
    )
    for point in found.points:
        listing.add(
            render.percent(point.coverage),
            point.accuracy.n,
            render.number(point.confidence, 3),
            render.estimate_cell(point.accuracy),
        )
    return listing


def _area(found: RiskCoverage) -> list[RenderableType]:
    area = " ".join(render.estimate_line(found.area).split())
    text = (
        f"Area under risk (1 - accuracy) over coverage: {area}; {found.area_at_random:.3f} if the "
        f"confidence said nothing, {found.area_at_best:.3f} at best. Lower is better."
    )
    return render.notes([text])


def pairs_view(found: PairMeasurement, by: str) -> RenderableType:
    """A judge's figures beside those of the baselines, and their differences from another judge's.

    Args:
        found: the measurement.
        by: the breakdown to list.
    """
    result = found.result
    parts: list[RenderableType] = [result_view(result), Text()]
    if found.in_sample is not None:
        parts += [parts_table("tie band chosen in-sample", {"all": found.in_sample.estimates})]
        parts += [Text(f"{found.in_sample.notes[0]} It is optimistic.", style="dim"), Text()]
    for breakdown in dict.fromkeys([by, "seen and unseen"]):
        if breakdown in result.parts:
            parts += [parts_table(breakdown, result.parts[breakdown]), Text()]
    parts.append(baseline_table(found.baselines))
    if found.risk_coverage is not None:
        parts += [Text(), coverage_table(found.risk_coverage), *_area(found.risk_coverage)]
    if (other := found.other) is not None:
        table = comparison_table(found.differences, f"{other.judge} ({other.source})")
        parts += [Text(), table]
    return Group(*parts)
