"""Tables of critique quality: a critic's figures beside baselines and published ones."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.critique_quality.measure import PUBLISHED, SOURCE, CritiqueMeasurement
from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.reports import render

_COLUMNS = {
    "planted errors named": "named\n(recall)",
    "clean twins accused": "accused",
    "named, twin spared": "named,\ntwin spared",
    "precision": "precision",
    "F1": "F1",
}


def critique_quality_view(found: CritiqueMeasurement, by: str) -> RenderableType:
    """A critic's figures, by kind of error, beside the baselines and published figures.

    Args:
        found: the measurement.
        by: the breakdown to list.
    """
    parts: list[RenderableType] = []
    if (result := found.result) is not None:
        parts += [_overall(result, found.n_failed), Text()]
        if by in result.parts:
            parts += [_figures(by, result.parts[by]), Text()]
    shown = [*([] if found.result is None else [found.result]), *found.baselines]
    parts += [_figures("critic", {each.judge: each.estimates for each in shown}), Text()]
    return Group(*parts, _published())


def _overall(result: Result, n_failed: int) -> RenderableType:
    return render.facts(
        [
            ("critiques", f"of {result.judge}"),
            ("from", result.source),
            ("planted errors", render.count(result.n_cases)),
            *((each.name, render.estimate_line(each)) for each in result.estimates),
            *([("failed", render.count(n_failed))] if n_failed else []),
            *(("note", note) for note in result.notes),
        ]
    )


def _figures(title: str, parts: Mapping[str, Sequence[Estimate]]) -> render.Listing:
    return render.figures(
        render.Column.text(title, 18),
        _COLUMNS,
        [
            render.FigureRow(name=name, estimates=[each for each in its if each.name in _COLUMNS])
            for name, its in parts.items()
        ],
    )


def _published() -> RenderableType:
    listing = render.Listing(
        render.Column.text("published elsewhere", 20),
        *map(render.Column.number, ("precision", "recall", "F1")),
        spacing="flush",
    )
    for each in PUBLISHED:
        figures = map(render.percent_cell, (each.precision, each.recall, each.f1))
        listing.add(each.critic, *figures, style="dim")
    return Group(listing, *render.notes([f"{SOURCE}: the frame is the same, the figures are not."]))
