"""Tables of one scenario classifier: groups and scenarios that it confuses with others."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.scenario_classifier.confusion import UNREADABLE, Confused, GroupConfusion, Missed
from autoj.metrics.calibration import ReliabilityBin
from autoj.metrics.result import Result
from autoj.reports import render
from autoj.reports.text import visible_text

_N_WORST = 10
_N_TAKEN_FOR = 3


def classifier_view(result: Result, *, all_scenarios: bool = False) -> RenderableType:
    """Groups and scenarios that a classifier confuses with others, and its probabilities.

    Args:
        result: of `figures.evaluate`.
        all_scenarios: list all scenarios instead of the worst.
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


def _group_table(result: Result) -> render.Listing:
    """A line per group: its accuracy, and the number of its rows taken for each group."""
    confusion: GroupConfusion = result.details["confusion"]
    columns = (
        render.Column.number("?" if name == UNREADABLE else render.GROUP_HEADINGS.get(name, "else"))
        for name in confusion.guesses
    )
    listing = _right_table("group, taken for", 21, *columns)
    for group, counts in zip(confusion.labels, confusion.counts, strict=True):
        (right,) = result.parts["group"][group]
        cells = [
            Text(f"{n:,}" if n else "·", style="bold" if name == group else "")
            for name, n in zip(confusion.guesses, counts, strict=True)
        ]
        listing.add(group, right.n, render.estimate_cell(right, short=True), *cells)
    return listing


def _right_table(name: str, width: int, *columns: render.Column) -> render.Listing:
    """Groups or scenarios with their accuracy, and further columns."""
    counted = (render.Column.number("n"), render.Column.number("accuracy"))
    return render.Listing(render.Column.text(name, width), *counted, *columns, spacing="tight")


def _worst_table(result: Result) -> RenderableType:
    worst: Sequence[Missed] = result.details["missed"]
    if not worst:
        return Text("no row is taken for another scenario", style="dim")
    listing = _right_table("worst scenarios", 24, render.Column.prose("taken for"))
    for one in worst[:_N_WORST]:
        never = "" if one.can_be_named else " (cannot be named)"
        right = render.estimate_cell(one.right, short=True)
        listing.add(one.scenario, one.right.n, right, _taken_for(one.taken_for) + never)
    if len(worst) <= _N_WORST:
        return listing
    return Group(listing, *render.notes([f"{len(worst) - _N_WORST:,} more with --by scenario"]))


def _scenario_table(result: Result) -> render.Listing:
    others = {one.scenario: one.taken_for for one in result.details["missed"]}
    columns = (render.Column.number("F1"), render.Column.prose("taken for"))
    listing = _right_table("scenario", 24, *columns)
    for scenario, (right, harmonic) in result.parts["scenario"].items():
        listing.add(
            scenario,
            right.n,
            render.estimate_cell(right, short=True),
            render.percent_cell(harmonic.value),
            _taken_for(others.get(scenario, ())),
        )
    return listing


def _taken_for(found: Sequence[Confused]) -> str:
    listed = [f"{one.guess or UNREADABLE} {one.n:,}" for one in found[:_N_TAKEN_FOR]]
    rest = sum(one.n for one in found[_N_TAKEN_FOR:])
    return ", ".join([*listed, *([f"and {rest:,} more"] if rest else [])])


def _bin_table(bins: Sequence[ReliabilityBin]) -> render.Listing:
    columns = [render.Column.number(name) for name in ("n", "mean", "accuracy")]
    listing = render.Listing(render.Column.text("probability"), *columns, spacing="tight")
    for one in bins:
        shares = (render.percent_cell(share) for share in (one.confidence, one.accuracy))
        listing.add(f"{one.low:.1f} to {one.high:.1f}", one.n, *shares)
    return listing
