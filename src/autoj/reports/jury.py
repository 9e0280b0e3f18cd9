"""Tables of a jury: each judge's winner or rating beside the jury's, and the same in figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.records import Case, Estimate, Verdict
from autoj.reports.jury_summary import JudgeFigures, JurySummary
from autoj.reports.render import figure_cell, figure_text, with_more
from autoj.reports.scenario_sources import is_worth_telling, naming_table, naming_text
from autoj.reports.text import excerpt, visible_text
from autoj.tasks.jury import JuryRun
from autoj.tasks.jury_folder import Jury
from autoj.verdicts.jury import JURY_RULES, JuryVerdict

__all__ = ["jury_summary_view", "jury_table", "jury_view"]

_WIDTH = 80
_MOST_NAMED = 3
"""Judges whose names stand above their columns; more are numbered."""
_COLUMNS = {
    "win rate": "win rate of a",
    "verdict accuracy": "verdict = label",
    "agreement": "both orders = it",
    "consistency": "orders agree",
    "mean rating": "mean rating",
    "correlation": "with labels",
    "same winner": "same winner",
    "kappa": "Cohen's kappa",
    "pearson": "Pearson",
    "spearman": "Spearman",
}
"""Figures and their columns' headings."""
_LABELS = {
    "win rate": "win rate of a (ties half)",
    "verdict accuracy": "accuracy (verdict = label)",
    "mean rating": "mean rating (1-10)",
    "correlation": "Pearson with the labels",
}


def jury_table(pairs: Iterable[tuple[Case, JuryVerdict]], jury: Jury) -> Table:
    """One line per case, or per rated response: the jury's verdict, then each judge's."""
    listed = list(pairs)
    table = Table(box=None, header_style="bold", padding=(0, 1))
    has_shares = any(verdict.probabilities is not None for _, verdict in listed)
    heads = ["case", "jury", *(_SHARES if has_shares else ())]
    for name in heads if jury.paired else ("case", "response", "mean"):
        table.add_column(name, no_wrap=True)
    n_left = _WIDTH - (48 if has_shares else 38)
    width = max(6, n_left // len(jury.seats) - 2)
    for name in _short_names([seat.name for seat in jury.seats]):
        table.add_column(excerpt(name, width), no_wrap=True)
    for case, verdict in listed:
        if not jury.paired:
            _add_ratings(table, case, verdict)
            continue
        shares = verdict.probabilities or (None, None, None)
        table.add_row(
            excerpt(case.id, 14),
            Text(verdict.winner or "unknown", style="bold" if verdict.winner else "yellow"),
            *("-" if share is None else f"{share:.3f}" for share in shares if has_shares),
            *(_vote(its) for its in verdict.judges),
        )
    return table


_SHARES = ("P(a)", "P(b)", "P(tie)")


def _add_ratings(table: Table, case: Case, verdict: JuryVerdict) -> None:
    for index, rating in enumerate(verdict.ratings):
        table.add_row(
            excerpt(case.id, 14),
            excerpt(case.responses[index].model or f"{index + 1}", 12),
            _rating(rating),
            *(_rating(its.ratings[index] if its.ratings else None) for its in verdict.judges),
        )


def _short_names(names: Sequence[str]) -> Sequence[str]:
    if len(names) <= _MOST_NAMED:
        return names
    return [str(number) for number in range(1, len(names) + 1)]


def _vote(verdict: Verdict) -> Text:
    """A judge's winner, or why it has no vote; "differ" is of its two orders, or of its draws."""
    if verdict.winner is not None:
        return Text(verdict.winner)
    if verdict.n_failed:
        return Text("failed", style="yellow")
    return Text("unread" if verdict.n_unreadable else "differ", style="yellow")


def _rating(rating: float | None) -> Text:
    return Text("-", style="yellow") if rating is None else Text(f"{rating:.2f}")


def jury_view(run: JuryRun, summary: JurySummary, n_shown: int) -> RenderableType:
    """A jury's first verdicts, and its figures beside its judges'."""
    listed = list(islice(run, n_shown))
    return Group(
        with_more(jury_table(listed, run.jury), summary.n_cases - len(listed), run.path),
        Text(),
        jury_summary_view(summary, run.jury),
    )


def jury_summary_view(summary: JurySummary, jury: Jury) -> RenderableType:
    """What the jury came to, each judge's figures beside its own, and how far the judges agree."""
    parts: list[RenderableType] = [_head(summary, jury), Text(), _votes_table(summary), Text()]
    parts += [_figures_table(summary), Text(), _agreement_table(summary)]
    if summary.parts:
        parts += [Text(), _parts_table(summary.parts)]
    if summary.naming_parts:
        in_order = {part: summary.naming_parts[part] for part in summary.parts}
        parts += [Text(), naming_table(in_order)]
    return Group(*parts)


def _head(summary: JurySummary, jury: Jury) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    how = "mean rating" if jury.method is None else _METHODS[jury.method]
    table.add_row("jury", f"{len(jury.seats)} judges, {how}")
    table.add_row("cases", f"{summary.n_cases:,}")
    if jury.paired:
        table.add_row("wins", _wins(summary.jury))
    for rule, n in sorted(summary.rules.items(), key=lambda item: -item[1]):
        table.add_row("decided" if jury.paired else "no rating", f"{n:,}: {JURY_RULES[rule]}")
    for estimate in summary.jury.estimates:
        if estimate.value is not None:
            table.add_row(_LABELS.get(estimate.name, estimate.name), figure_text(estimate))
    if summary.naming is not None and is_worth_telling(summary.naming, bool(summary.parts)):
        table.add_row("scenarios", visible_text(naming_text(summary.naming)))
    return table


_METHODS = {"mean": "mean of their probabilities", "majority": "majority of their votes"}


def _wins(figures: JudgeFigures) -> str:
    won = figures.winners
    text = f"a {won.get('a', 0):,}, b {won.get('b', 0):,}, ties {won.get('tie', 0):,}"
    unknown = won.get("unknown", 0)
    return text + (f", no winner known {unknown:,}" if unknown else "")


def _votes_table(summary: JurySummary) -> Table:
    """A line per judge and one for the jury: how it voted, and what could not be had of it."""
    is_paired = bool(summary.jury.winners)
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("judge", no_wrap=True)
    table.add_column("asked", no_wrap=True)
    votes = ("a", "b", "tie", "unknown") if is_paired else ()
    for name in (*("no vote" if vote == "unknown" else vote for vote in votes), *_LOST):
        table.add_column(name, justify="right", no_wrap=True)
    for line, figures in _lines(summary):
        counts = [figures.winners.get(vote, 0) for vote in votes]
        counts += [figures.n_unreadable, figures.n_failed]
        table.add_row(
            line,
            excerpt(figures.protocol or "", 20),
            *(f"{count:,}" for count in counts),
            style="bold" if figures is summary.jury else "",
        )
    return table


_LOST = ("unreadable", "failed")


def _lines(summary: JurySummary) -> Iterator[tuple[Text, JudgeFigures]]:
    """The judges, numbered where their columns are, and then the jury."""
    numbered = len(summary.judges) > _MOST_NAMED
    for number, figures in enumerate(summary.judges, start=1):
        yield excerpt(f"{number} {figures.name}" if numbered else figures.name, 16), figures
    yield Text("jury"), summary.jury


def _figures_table(summary: JurySummary) -> Table:
    """The figures of each judge and of the jury; a case without a vote is not counted as wrong."""
    names = list(
        dict.fromkeys(
            estimate.name for _, figures in _lines(summary) for estimate in figures.estimates
        )
    )
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("judge", no_wrap=True)
    for name in names:
        table.add_column(_COLUMNS[name], justify="right", no_wrap=True)
    for line, figures in _lines(summary):
        found = {estimate.name: estimate for estimate in figures.estimates}
        cells = [_cell(found.get(name)) for name in names]
        table.add_row(line, *cells, style="bold" if figures is summary.jury else "")
    return table


def _cell(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "-"
    if estimate.name not in _SIGNED:
        return figure_cell(estimate)
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


_SIGNED = ("kappa", "correlation", "pearson", "spearman")


def _agreement_table(summary: JurySummary) -> Table:
    """How far each two judges agree; n are the cases, or responses, that both have a say on."""
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("two judges", no_wrap=True)
    agreements = summary.agreements
    for estimate in agreements[0].estimates:
        table.add_column(_COLUMNS[estimate.name], justify="right", no_wrap=True)
    table.add_column("n", justify="right")
    names = [figures.name for figures in summary.judges]
    shorts = dict(zip(names, _short_names(names), strict=True))
    for found in agreements:
        one, other = (excerpt(shorts[name], 15) for name in found.judges)
        table.add_row(
            Text(" and ").join([one, other]),
            *(_cell(estimate) for estimate in found.estimates),
            f"{found.estimates[0].n:,}",
        )
    reasons = dict.fromkeys(
        estimate.reason
        for found in agreements
        for estimate in found.estimates
        if estimate.reason is not None
    )
    if reasons:
        table.caption = visible_text("; ".join(f"-: {reason}" for reason in reasons))
        table.caption_justify = "left"
    return table


def _parts_table(parts: dict[str, tuple[Estimate, ...]]) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("the jury on", overflow="fold")
    table.add_column("n", justify="right")
    names = list(
        dict.fromkeys(
            estimate.name
            for estimates in parts.values()
            for estimate in estimates
            if estimate.value is not None
        )
    )
    for name in names:
        table.add_column(_COLUMNS[name], justify="right", no_wrap=True)
    for part, estimates in parts.items():
        found = {estimate.name: estimate for estimate in estimates}
        n = max(estimate.n + estimate.n_unscored for estimate in estimates)
        table.add_row(excerpt(part, 30), f"{n:,}", *(_cell(found.get(name)) for name in names))
    return table
