"""Tables of Eval-C: wins of critiques, beside published figures."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.eval_c.measure import CriticMeasurement
from autoj.bench.eval_c.published import OVERALL, PublishedVotes
from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.reports import render
from autoj.reports.text import visible_text

_LABELS = {
    "win": "win (wins by all)",
    "win rate": "win rate (ties half)",
    "consistency": "consistency of the orders",
}
_JUDGES = {"gpt-4": "GPT-4", "human": "people"}
_SHARES = ("win", "tie", "lose")


def critique_view(result: Result) -> RenderableType:
    """The figures over all cases, one per line, with their notes."""
    details = result.details
    rows = [
        ("critiques", f"of {result.judge}, against those of {details['against']}"),
        ("compared by", str(details["judged_by"])),
        ("verdicts", result.source),
        ("cases", render.count(result.n_cases)),
        *(
            (_LABELS.get(each.name, each.name), render.estimate_line(each))
            for each in result.estimates
        ),
        render.lost(details["n_unreadable"], details["n_failed"]),
        *(("note", note) for note in result.notes),
    ]
    if details["n_truncated"]:
        rows.append(("truncated", f"{details['n_truncated']:,} judgments had a text cut to fit"))
    return render.facts(rows)


def published_table(result: Result, published: Sequence[PublishedVotes]) -> RenderableType:
    """The result beside published comparisons with the same critic, in percent.

    Args:
        result: of Eval-C.
        published: figures of any group; those over all cases are shown.
    """
    listing = render.Listing(
        render.Column.text("critic", 26),
        render.Column.text("judged by", 10),
        *map(render.Column.number, _SHARES),
        render.Column.prose("source"),
        spacing="tight",
    )
    ours = {estimate.name: estimate for estimate in result.estimates}
    listing.add(
        result.judge,
        str(result.details["judged_by"]),
        *(render.percent_cell(ours[name].value) for name in _SHARES),
        "this result",
        style="bold",
    )
    for row in published:
        if row.group == OVERALL:
            judge = _JUDGES.get(row.judged_by, row.judged_by)
            listing.add(
                row.critic, judge, *map(render.percent_cell, row.shares), row.source, style="dim"
            )
    title = visible_text(f"all cases, against {result.details['against']} (published rows are dim)")
    return Group(title, listing)


def critique_parts_table(
    title: str,
    parts: Mapping[str, Sequence[Estimate]],
    published: Sequence[PublishedVotes] = (),
) -> RenderableType:
    """Shares of each part in percent, the wins with 95 % intervals, beside published ones.

    Args:
        title: name of the breakdown.
        parts: each part's estimates.
        published: figures of groups; each judge has a column of win/tie/lose.
    """
    by_judge: dict[str, dict[str, PublishedVotes]] = {}
    for row in published:
        if row.group in parts:
            by_judge.setdefault(row.judged_by, {})[row.group] = row
    found = {part: {each.name: each for each in its} for part, its in parts.items()}
    agree = ["consistency"] if any("consistency" in its for its in found.values()) else []
    judges = [_JUDGES.get(judge, judge) for judge in by_judge]
    listing = render.Listing(
        render.Column.text(title, 24),
        render.Column.count("n"),
        *map(render.Column.number, (*_SHARES, *("agree" for _ in agree))),
        *(render.Column.number(judge, style="dim") for judge in judges),
        spacing="tight",
    )
    for part, its in found.items():
        win = its["win"]
        shares = (
            render.percent_cell(its[name].value if name in its else None)
            for name in ("tie", "lose", *agree)
        )
        cited = (_shares(rows.get(part)) for rows in by_judge.values())
        listing.add(
            part, win.n + win.n_unscored, render.estimate_cell(win, short=True), *shares, *cited
        )
    if not by_judge:
        return listing
    row = next(iter(next(iter(by_judge.values())).values()))
    said = f"win/tie/lose by {' and '.join(judges)} ({row.source})."
    return Group(listing, *render.notes([f"Right: {row.critic} against {row.against}, {said}"]))


def _shares(row: PublishedVotes | None) -> str:
    if row is None:
        return render.MISSING
    return "/".join(map(render.percent_cell, row.shares))


def critic_view(found: CriticMeasurement, by: str) -> RenderableType:
    """A critic's shares of wins, beside published ones of others.

    Args:
        found: the measurement.
        by: the breakdown to list.
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
