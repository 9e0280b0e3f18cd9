"""Tables of Eval-C: whose critiques win, beside what was published; 80 columns are enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.bench.eval_c.measure import CriticMeasurement
from autoj.bench.eval_c.published import OVERALL, PublishedVotes
from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.reports.render import figure_cell, figure_text
from autoj.reports.text import excerpt, visible_text

__all__ = ["critic_view", "critique_parts_table", "critique_view", "published_table"]

_LABELS = {
    "win": "win (wins by all)",
    "win rate": "win rate (ties half)",
    "consistency": "consistency of the orders",
}
_JUDGES = {"gpt-4": "GPT-4", "human": "people"}
_SHARES = ("win", "tie", "lose")


def critique_view(result: Result) -> RenderableType:
    """The figures over all cases, one a line, with what must be known of them."""
    details = result.details
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    rows = [
        ("critiques", f"of {result.judge}, against those of {details['against']}"),
        ("compared by", str(details["judged_by"])),
        ("verdicts", result.source),
        ("cases", f"{result.n_cases:,}"),
        *((_LABELS.get(each.name, each.name), figure_text(each)) for each in result.estimates),
        (
            "unreadable, failed",
            f"{details['n_unreadable']:,} and {details['n_failed']:,} judgments",
        ),
        *(("note", note) for note in result.notes),
    ]
    if details["n_truncated"]:
        rows.append(("truncated", f"{details['n_truncated']:,} judgments saw a text cut to fit"))
    for label, value in rows:
        table.add_row(label, visible_text(value))
    return table


def published_table(result: Result, published: Sequence[PublishedVotes]) -> RenderableType:
    """The result beside what was published of comparisons with the same critic, in percent.

    Args:
        result: of Eval-C.
        published: figures of any group; those over all cases are shown.
    """
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("critic", no_wrap=True)
    table.add_column("judged by", no_wrap=True)
    for name in _SHARES:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("source", overflow="fold")
    ours = {estimate.name: estimate for estimate in result.estimates}
    table.add_row(
        excerpt(result.judge, 26),
        excerpt(str(result.details["judged_by"]), 10),
        *(_percent(ours[name].value) for name in _SHARES),
        "this result",
        style="bold",
    )
    for row in published:
        if row.group == OVERALL:
            shares = (_percent(share) for share in row.shares)
            judge = _JUDGES.get(row.judged_by, row.judged_by)
            table.add_row(row.critic, judge, *shares, row.source, style="dim")
    title = visible_text(f"all cases, against {result.details['against']} (published rows are dim)")
    return Group(title, table)


def critique_parts_table(
    title: str,
    parts: Mapping[str, Sequence[Estimate]],
    published: Sequence[PublishedVotes] = (),
) -> RenderableType:
    """Shares of each part in percent, the wins with 95 % intervals, beside what was published.

    Args:
        title: what the parts are.
        parts: each part's estimates.
        published: figures of groups; each judge's get a column of win/tie/lose.
    """
    by_judge: dict[str, dict[str, PublishedVotes]] = {}
    for row in published:
        if row.group in parts:
            by_judge.setdefault(row.judged_by, {})[row.group] = row
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(title, no_wrap=True)
    table.add_column("n", justify="right")
    for name in _SHARES:
        table.add_column(name, justify="right", no_wrap=True)
    if len(parts) and "consistency" in {each.name for each in next(iter(parts.values()))}:
        table.add_column("agree", justify="right", no_wrap=True)
    for judge in by_judge:
        table.add_column(_JUDGES.get(judge, judge), justify="right", no_wrap=True, style="dim")
    for part, estimates in parts.items():
        found = {estimate.name: estimate for estimate in estimates}
        win = found["win"]
        cells = [figure_cell(win), *(_percent(found[name].value) for name in ("tie", "lose"))]
        if "consistency" in found:
            cells.append(_percent(found["consistency"].value))
        cells += [_shares(rows.get(part)) for rows in by_judge.values()]
        table.add_row(excerpt(part, 24), f"{win.n + win.n_unscored:,}", *cells)
    if not by_judge:
        return table
    row = next(iter(next(iter(by_judge.values())).values()))
    judges = " and ".join(_JUDGES.get(judge, judge) for judge in by_judge)
    said = f"Right: {row.critic} against {row.against}, win/tie/lose by {judges} ({row.source})."
    return Group(table, Text(said, style="dim"))


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share * 100:.1f}"


def _shares(row: PublishedVotes | None) -> str:
    return "-" if row is None else "/".join(f"{share * 100:.0f}" for share in row.shares)


def critic_view(found: CriticMeasurement, by: str) -> RenderableType:
    """A critic's shares of wins, beside what was published of others.

    Args:
        found: what was measured.
        by: the breakdown that is listed.
    """
    result, published = found.result, found.published
    parts: list[RenderableType] = [
        critique_view(result),
        Text(),
        published_table(result, published),
    ]
    if by in result.parts:
        parts += [Text(), critique_parts_table(by, result.parts[by], published)]
    return Group(*parts)
