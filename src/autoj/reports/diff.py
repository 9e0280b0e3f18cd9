"""Two runs, or two selections, side by side: what differs, and figures of how far it does."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.records import Estimate
from autoj.reports import render
from autoj.reports.render import Cell
from autoj.reports.text import excerpt, visible_text
from autoj.reports.verdict_cells import side_names, wins_text
from autoj.tasks.diff import Against, Diff, DifferingCase, RunDiff
from autoj.tasks.diff_selections import DifferingPick, SelectionDiff

_MOST_SETTINGS = 6
_LABELS = {
    "same winner": "same winner",
    "kappa": "Cohen's kappa",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "mean rating": "mean rating",
}


def diff_view(diff: RunDiff, n_shown: int) -> RenderableType:
    """The cases with different verdicts, and the figures.

    Args:
        diff: two runs, compared.
        n_shown: the number of cases to list.
    """
    parts: list[RenderableType] = []
    if diff.differing and n_shown:
        parts += [_cases(diff, n_shown)]
        if (n_more := diff.n_differing - n_shown) > 0:
            parts += render.notes([f" … {n_more:,} more; --first {diff.n_differing} lists all"])
        parts.append(Text())
    return Group(*parts, render.facts(_figures(diff)))


def _cases(diff: RunDiff, n_shown: int) -> render.Listing:
    labelled = any(case.label is not None for case in diff.differing)
    rated = diff.mean_difference is not None
    listing = render.Listing(
        render.Column.text("case", 16),
        *([render.Column.word("response")] if rated else []),
        render.Column.word("one"),
        render.Column.word("other"),
        *([render.Column.word("label")] if labelled else []),
        render.Column.text("query", 40, grows=True),
    )
    for case in diff.differing[:n_shown]:
        listing.add(
            case.case_id,
            *([str(1 + (case.response or 0))] if rated else []),
            _said(case.one, case),
            _said(case.other, case),
            *([_plain(case.label)] if labelled else []),
            case.query,
        )
    return listing


def _said(verdict: Any, case: DifferingCase) -> Text:
    """A winner or rating; a winner that is not the label is marked."""
    if verdict is None:
        return Text("unknown", style="yellow")
    if isinstance(case.label, str) and verdict != case.label:
        return Text(f"{verdict} ✗", style="red")
    return Text(_plain(verdict))


def _plain(value: Any) -> str:
    if value is None:
        return render.MISSING
    return value if isinstance(value, str) else render.number(value, 2)


def _figures(diff: RunDiff) -> list[tuple[str, Cell]]:
    rows = _compared("cases in both", diff)
    if (names := side_names(diff.authors)) is not None and diff.mean_difference is None:
        rows.append(("a and b", names))
    if diff.mean_difference is None:
        rows.append(("different winner", f"{diff.n_differing:,} of {diff.n_both:,}"))
        for name, winners in zip(("one", "other"), diff.winners, strict=True):
            rows.append((f"wins, {name}", wins_text(winners)))
    else:
        rows.append(("1 point apart or more", f"{diff.n_differing:,}"))
    rows += [
        (_label(each, at), render.estimate_line(each)) for at, each in enumerate(diff.estimates)
    ]
    if diff.mean_difference is not None:
        found = diff.mean_difference
        rows.append(("one less other", difference_text(found.estimate, found.p_value)))
    if diff.labelled is not None:
        rows += _against(diff.labelled)
    return rows


def _compared(name: str, diff: Diff) -> list[tuple[str, Cell]]:
    """The rows of what is compared: folders, judges, the cases of both, settings that differ."""
    return [
        *source_rows(diff.paths, diff.judges),
        (name, counts_text(diff.n_both, diff.n_alone, diff.n_changed)),
        *setting_rows(diff.settings),
    ]


def source_rows(paths: tuple[str, str], judges: tuple[str, str]) -> list[tuple[str, Cell]]:
    """The two folders, each with its judge."""
    return [
        (name, visible_text(f"{path} ").append_text(excerpt(f"({judge})", 40)))
        for name, path, judge in zip(("one", "other"), paths, judges, strict=True)
    ]


def setting_rows(settings: Sequence[tuple[str, Any, Any]]) -> list[tuple[str, Cell]]:
    """The first settings that differ, and the number of the others."""
    rows: list[tuple[str, Cell]] = [
        ("setting", _setting(found)) for found in settings[:_MOST_SETTINGS]
    ]
    if (n_more := len(settings) - _MOST_SETTINGS) > 0:
        rows.append(("setting", f"{n_more} more differ; --json has all"))
    return rows


def _label(estimate: Estimate, at: int) -> str:
    label = _LABELS[estimate.name]
    return f"{label}, {'one' if at == 2 else 'other'}" if estimate.name == "mean rating" else label


def counts_text(n_both: int, n_alone: tuple[int, int], n_changed: int) -> str:
    """The cases of both, and those that are not compared."""
    alone = [
        f"only in {name} {n:,}" for name, n in zip(("one", "other"), n_alone, strict=True) if n
    ]
    if n_changed:
        alone.append(f"same id but other texts {n_changed:,}, not compared")
    return "; ".join([f"{n_both:,}", *alone])


def _setting(found: tuple[str, Any, Any]) -> Text:
    name, one, other = found
    return excerpt(f"{name}: one {one!r}, other {other!r}", 200)


def _against(labelled: Against) -> list[tuple[str, Cell]]:
    found = labelled.difference
    return [
        ("accuracy, one", render.estimate_line(labelled.one)),
        ("accuracy, other", render.estimate_line(labelled.other)),
        ("one less other", difference_text(found.estimate, found.p_value)),
        (
            "equal the label",
            f"both {labelled.both:,}, only one {labelled.one_alone:,}, only the other "
            f"{labelled.other_alone:,}, neither {labelled.neither:,}",
        ),
    ]


def difference_text(estimate: Estimate, p_value: float | None) -> str:
    """A paired difference with its interval and test."""
    text = render.estimate_cell(estimate, signed=True)
    unit = " points" if render.is_share(estimate.name) else ""
    test = "" if p_value is None else f", p {render.p_value(p_value)}"
    return f"{text}{unit}{test}  n={estimate.n:,}"


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
    return Group(*parts, render.facts(_pick_figures(diff)))


def _picks(diff: SelectionDiff, n_shown: int) -> render.Listing:
    listing = render.Listing(
        render.Column.text("case", 16),
        render.Column.text("one", 24),
        render.Column.text("other", 24),
        render.Column.text("query", 40, grows=True),
    )
    for pick in diff.differing[:n_shown]:
        listing.add(pick.case_id, _pick_text(pick, 0), _pick_text(pick, 1), pick.query)
    return listing


def _pick_text(pick: DifferingPick, at: int) -> str:
    """A pick by its number, with what is known of it: "3, gpt-4, 7.5"."""
    known = [str(1 + (pick.one, pick.other)[at])]
    if (model := pick.models[at]) is not None:
        known.append(model)
    if (score := pick.reference_scores[at]) is not None:
        known.append(render.number(score, 2))
    return ", ".join(known)


def _pick_figures(diff: SelectionDiff) -> list[tuple[str, Cell]]:
    rows: list[tuple[str, Cell]] = [
        *_compared("queries in both", diff),
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
