"""The table of what asking the second order only where the first is unsure would give."""

import math

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.reports import render
from autoj.tasks.second_order import FittedSecondOrder, SecondOrderPlan, SecondOrderPoint


def second_order_view(found: SecondOrderPlan) -> RenderableType:
    """A line a threshold: the questions that it takes, and what becomes of the winners."""
    points = found.points
    has_labels = any(point.accuracy is not None for point in points)
    has_models = all(point.same_ranking is not None for point in points)
    has_prices = all(point.usd is not None for point in points)
    listing = render.Listing(
        render.Column.number("second order\nbelow"),
        render.Column.number("calls"),
        render.Column.number("same winner\n[95 % interval]"),
        render.Column.number("conflicts\nseen"),
        *([render.Column.number("accuracy\n[95 % interval]")] if has_labels else []),
        *([render.Column.word("ranking")] if has_models else []),
        *([render.Column.number("dollars")] if has_prices else []),
        spacing="tight",
    )
    for point in points:
        listing.add(*_cells(point, has_labels, has_models, has_prices))
    left_out = (
        f"; {found.n_left_out:,} more have no winner, or an order without a readable answer"
        if found.n_left_out
        else ""
    )
    rows = [
        ("judge", f"{found.judge} ({found.protocol})"),
        ("pairs", f"{found.n:,}, asked in both orders{left_out}"),
    ]
    note = (
        "Same winner: as by both orders of all pairs. Conflicts seen: of the pairs whose orders "
        "disagree, those whose second order is asked. Nothing was asked for this table."
    )
    if has_models:
        note += " Ranking: the models' order by win rate, kept or another than by both orders."
    parts = [render.facts(rows), Text(), listing, Text(), *render.notes([note])]
    if found.fitted is None:
        hint = "Add --at-most 0.01 to fit the threshold that gives 1 % of pairs another winner."
        return Group(*parts, Text(), Text(hint, style="dim"))
    return Group(*parts, Text(), _fitted(found.fitted))


_MOVED = {"winner": "other winner", "accuracy": "accuracy lost"}


def _fitted(found: FittedSecondOrder) -> RenderableType:
    """The threshold with what it moves, on its pairs and held out, and the flag that uses it."""
    point, what = found.point, _MOVED[found.figure]
    rows = [(f"at most {render.percent(found.at_most)}", what)]
    if point.below is None:
        rows.append(("threshold", "none: each one moves more, so ask both orders of all pairs"))
        return render.facts(rows)
    # Rounded up: a lower threshold would leave out the pairs that it was fitted to ask.
    below = math.ceil(point.below * 1e4) / 1e4
    rows += [
        ("threshold", f"{below:g}, which asks {render.percent(point.calls)} of the calls"),
        (what, render.estimate_line(point.moved) if point.moved is not None else render.MISSING),
        ("held out", render.estimate_line(found.held_out)),
        ("use it by", f"--second-order unsure:{below:g}"),
    ]
    return render.facts(rows)


def _cells(
    point: SecondOrderPoint, has_labels: bool, has_models: bool, has_prices: bool
) -> list[render.Cell]:
    cells: list[render.Cell] = [
        _below(point),
        render.percent(point.calls),
        render.estimate_cell(point.same),
        render.percent(point.conflicts.value),
    ]
    if has_labels:
        cells.append(render.estimate_cell(point.accuracy))
    if has_models:
        cells.append("kept" if point.same_ranking else "other")
    if has_prices and point.usd is not None:
        cells.append(render.usd(point.usd))
    return cells


def _below(point: SecondOrderPoint) -> str:
    if point.below is None:
        return "all"
    return "none" if point.n_second == 0 else render.number(point.below, 3)
