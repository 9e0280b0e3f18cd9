"""Two selections side by side: the picks that differ, and figures of how far they do."""

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.reports import render
from autoj.reports.diff import counts_text, diff_view, difference_text, setting_rows, source_rows
from autoj.reports.render import Cell
from autoj.tasks.diff import RunDiff
from autoj.tasks.diff_selections import DifferingPick, SelectionDiff


def diff_stored_view(diff: RunDiff | SelectionDiff, n_shown: int) -> RenderableType:
    """The cases that differ, of runs or of selections, and the figures.

    Args:
        diff: them, compared.
        n_shown: the number of cases to list.
    """
    if isinstance(diff, SelectionDiff):
        return diff_selections_view(diff, n_shown)
    return diff_view(diff, n_shown)


def diff_selections_view(diff: SelectionDiff, n_shown: int) -> RenderableType:
    """The queries with different picks, and the figures.

    Args:
        diff: two selections, compared.
        n_shown: the number of queries to list.
    """
    parts: list[RenderableType] = []
    if diff.differing and n_shown:
        parts.append(_picks(diff, n_shown))
        if (n_more := diff.n_differing - n_shown) > 0:
            parts += render.notes([f" … {n_more:,} more; --first {diff.n_differing} lists all"])
        parts.append(Text())
    return Group(*parts, render.facts(_figures(diff)))


def _picks(diff: SelectionDiff, n_shown: int) -> render.Listing:
    listing = render.Listing(
        render.Column.text("case", 16),
        render.Column.text("one", 24),
        render.Column.text("other", 24),
        render.Column.text("query", 40, grows=True),
    )
    for pick in diff.differing[:n_shown]:
        listing.add(pick.case_id, _said(pick, 0), _said(pick, 1), pick.query)
    return listing


def _said(pick: DifferingPick, at: int) -> str:
    """A pick by its number, with what is known of it: "3, gpt-4, 7.5"."""
    known = [str(1 + (pick.one, pick.other)[at])]
    if (model := pick.models[at]) is not None:
        known.append(model)
    if (score := pick.reference_scores[at]) is not None:
        known.append(render.number(score, 2))
    return ", ".join(known)


def _figures(diff: SelectionDiff) -> list[tuple[str, Cell]]:
    rows: list[tuple[str, Cell]] = [
        *source_rows(diff.paths, diff.judges),
        ("queries in both", counts_text(diff.n_both, diff.n_alone, diff.n_changed)),
        *setting_rows(diff.settings),
        ("another pick", f"{diff.n_differing:,} of {diff.n_both:,}"),
        ("same pick", render.estimate_line(diff.same)),
    ]
    if diff.by_chance is not None:
        rows.append(("by chance", f"{render.percent_cell(diff.by_chance)} %"))
    if diff.reference is not None:
        found = diff.reference
        said = difference_text(found.estimate, found.p_value)
        rows.append(("reference score, one less other", said))
    return rows
