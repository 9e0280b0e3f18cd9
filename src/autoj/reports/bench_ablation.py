"""Tables of an ablation: judges on the same pairs, differences from the first, published rows."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.ablation.measure import AblationMeasurement, Variant
from autoj.bench.published import PublishedRow
from autoj.reports import render
from autoj.reports.bench_eval_p import parts_table
from autoj.reports.text import excerpt

_DIFFERENCES = ("points [95 % interval]", "p")


def ablation_view(found: AblationMeasurement) -> RenderableType:
    """The figures of each judge, their paired differences, and those that the paper published."""
    first, *others = found.variants
    figures = {each.result.judge: each.result.estimates for each in found.variants}
    sources = [f"{each.result.judge}: {each.result.source}" for each in found.variants]
    lost = [
        f"{each.result.judge}: {n} judgments failed"
        for each in found.variants
        if (n := each.result.details["n_failed"])
    ]
    return Group(
        parts_table("judge", figures),
        *render.notes([*sources, *lost]),
        Text(),
        _differences(first, others),
        Text(),
        _published(found.published),
        *render.notes(["Published figures are of the paper's judges on the paper's own sets."]),
    )


def _differences(first: Variant, others: Sequence[Variant]) -> RenderableType:
    """Each judge less the first on the same pairs, in points."""
    listing = render.Listing(
        render.Column.prose(f"less {first.result.judge}"),
        *map(render.Column.number, _DIFFERENCES),
        spacing="flush",
    )
    for each in others:
        listing.add(Text(each.result.judge, "bold"), "", "")
        for found in each.differences:
            overall = found.overall
            listing.add(
                Text("  ").append_text(excerpt(found.figure, 30)),
                render.estimate_cell(overall.estimate, signed=True),
                render.p_value(overall.p_value),
            )
    return listing


def _published(rows: Sequence[PublishedRow]) -> RenderableType:
    """The paper's own figures, as printed."""
    listing = render.Listing(
        render.Column.prose("published"),
        render.Column.text("figure"),
        render.Column.number("value"),
        render.Column.text("source"),
        spacing="flush",
    )
    for row in rows:
        of_base = "" if row.base_model is None else f", {row.base_model}"
        for name, printed in row.figures.items():
            listing.add(row.model, name + of_base, printed.text, printed.source.cite)
    return listing
