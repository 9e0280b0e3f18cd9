"""Tables of a jury: each juror's winner or rating beside the jury's, and their figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.records import Case, Estimate, Verdict
from autoj.reports import render
from autoj.reports.cost import jury_cost_record, jury_cost_text
from autoj.reports.jury_summary import JudgeFigures, JurySummary
from autoj.reports.scenario_sources import is_worth_telling, naming_table, naming_text
from autoj.reports.text import excerpt
from autoj.reports.verdict_cells import (
    figure_label,
    label_cell,
    probability_cells,
    side_names,
    wins_text,
)
from autoj.runs.cost import Cost
from autoj.tasks.jurors import Escalation, Jury
from autoj.tasks.jury import JuryRun
from autoj.verdicts.jury import JURY_RULES, NOT_ASKED, JuryVerdict

_WIDTH = 80
_MOST_NAMED = 3
"""Most jurors with names above their columns; more are numbered."""
_METHODS = {
    "mean": "mean of their probabilities",
    "majority": "majority of their votes",
    "escalate": "the second decides where the first is unsure",
}


def jury_table(pairs: Iterable[tuple[Case, JuryVerdict]], jury: Jury) -> render.Listing:
    """One line per case, or per rated response: the jury's verdict, then each juror's."""
    listed = list(pairs)
    has_shares = any(verdict.probabilities is not None for _, verdict in listed)
    width = max(6, (_WIDTH - (48 if has_shares else 38)) // len(jury.jurors) - 2)
    names = [excerpt(name, width) for name in _short_names([juror.name for juror in jury.jurors])]
    if jury.paired:
        heads = ("jury", *(("P(a)", "P(b)", "P(tie)") if has_shares else ()))
    else:
        heads = ("response", "mean")
    label = ("label",) if jury.paired and any(case.label is not None for case, _ in listed) else ()
    columns = map(render.Column.word, (*heads[:1], *label, *heads[1:], *names))
    listing = render.Listing(render.Column.text("case", 14), *columns)
    for case, verdict in listed:
        if jury.paired:
            winner = Text(verdict.winner or "unknown", "bold" if verdict.winner else "yellow")
            shares = probability_cells(verdict) if has_shares else []
            marked = [label_cell(case, verdict)] if label else []
            listing.add(case.id, winner, *marked, *shares, *map(_vote, verdict.judges))
        for index, rating in enumerate(() if jury.paired else verdict.ratings):
            name = excerpt(case.responses[index].model or f"{index + 1}", 12)
            each = (its.ratings[index] if its.ratings else None for its in verdict.judges)
            listing.add(case.id, name, *map(_rating, (rating, *each)))
    return listing


def _short_names(names: Sequence[str]) -> Sequence[str]:
    if len(names) <= _MOST_NAMED:
        return names
    return [str(number) for number in range(1, len(names) + 1)]


def _vote(verdict: Verdict) -> Text:
    """A juror's winner, or "failed", "unread" or "differ" without one."""
    if verdict.winner is not None:
        return Text(verdict.winner)
    if verdict.rule == NOT_ASKED:
        return Text(render.MISSING)
    if verdict.n_failed:
        return Text("failed", style="yellow")
    return Text("unread" if verdict.n_unreadable else "differ", style="yellow")


def _rating(rating: float | None) -> Text:
    return Text(render.number(rating, 2), style="yellow" if rating is None else "")


def jury_view(run: JuryRun, summary: JurySummary, n_shown: int) -> RenderableType:
    """A jury's first verdicts, and its figures beside its jurors'."""
    listed = list(islice(run, n_shown))
    return Group(
        render.with_more(
            jury_table(listed, run.jury), summary.n_cases - len(listed), run.path / "verdicts.jsonl"
        ),
        Text(),
        jury_summary_view(summary, run.jury, run.costs),
    )


def jury_record(run: JuryRun, summary: JurySummary) -> dict[str, Any]:
    """A jury as plain values: its judges, its figures and its verdicts."""
    judges = [
        {
            "name": juror.name,
            "protocol": juror.spec.protocol,
            "run": str(run.path / juror.folder),
        }
        for juror in run.jury.jurors
    ]
    return {
        "run": str(run.path),
        "jury": run.jury.method or "mean rating",
        "judges": judges,
        "summary": {
            name: value for name, value in asdict(summary).items() if value or name != "in_full"
        },
        "verdicts": [verdict for _, verdict in run.outlined()],
    }


def jury_session_record(run: JuryRun) -> dict[str, Any]:
    """This session's counts of a jury, and the costs of its judges, as plain values."""
    return {"session": asdict(run.counts), **jury_cost_record(run.costs)}


def jury_summary_view(
    summary: JurySummary, jury: Jury, costs: Mapping[str, Cost | None] | None = None
) -> RenderableType:
    """The figures of the jury and of each juror, and their agreement with each other."""
    parts: list[RenderableType] = [
        _head(summary, jury, costs or {}),
        Text(),
        _votes_table(summary),
        Text(),
    ]
    parts += [_figures_table(summary), Text(), _agreement_table(summary)]
    if summary.parts:
        parts += [Text(), _parts_table(summary.parts)]
    if summary.naming_parts:
        in_order = {part: summary.naming_parts[part] for part in summary.parts}
        parts += [Text(), naming_table(in_order)]
    return Group(*parts)


def _head(summary: JurySummary, jury: Jury, costs: Mapping[str, Cost | None]) -> Table:
    how = "mean rating" if jury.method is None else _METHODS[jury.method]
    rows = [("jury", f"{len(jury.jurors)} judges, {how}"), ("cases", render.count(summary.n_cases))]
    if jury.escalation is not None:
        rows.append(("unsure", escalation_text(jury.escalation)))
    if jury.paired:
        rows.append(("wins", wins_text(summary.jury.winners)))
        if (names := side_names(summary.authors)) is not None:
            rows.append(("a and b", names))
    rule_label = "decided" if jury.paired else "no rating"
    for rule, n in sorted(summary.rules.items(), key=lambda item: -item[1]):
        rows.append((rule_label, f"{n:,}: {JURY_RULES[rule]}"))
    for each in (*summary.jury.estimates, *summary.in_full):
        if each.value is not None:
            rows.append((figure_label(each, summary.authors), render.estimate_line(each)))
    if summary.naming is not None and is_worth_telling(summary.naming, bool(summary.parts)):
        rows.append(("scenarios", naming_text(summary.naming)))
    if (spent := jury_cost_text(costs)) is not None:
        rows.append(("cost", spent))
        if jury.escalation is not None:
            rows += [
                (f"of {name}", render.usd(cost.run_usd))
                for name, cost in costs.items()
                if cost is not None
            ]
    return render.facts(rows)


def escalation_text(rule: Escalation) -> str:
    """The sentence that says of which pairs the second judge is asked.

    >>> escalation_text(Escalation(below=0.6, always_full=0.1))
    'orders that differ, no winner, or a confidence below 0.6; and a random 10.0 % of all pairs'
    """
    confidence = "no winner" if rule.below is None else "no winner, or a confidence below "
    confidence += "" if rule.below is None else f"{rule.below:g}"
    share = render.percent(rule.always_full)
    return f"orders that differ, {confidence}; and a random {share} of all pairs"


def _votes_table(summary: JurySummary) -> render.Listing:
    """A line per juror and one for the jury: its votes, and its unreadable and failed judgments."""
    votes = ("a", "b", "tie", "unknown") if summary.jury.winners else ()
    headings = ("no vote" if vote == "unknown" else vote for vote in votes)
    listing = render.Listing(
        render.Column.text("judge"),
        render.Column.text("asked", 20),
        *map(render.Column.number, (*headings, "unreadable", "failed")),
        spacing="flush",
    )
    for line, figures in _lines(summary):
        counts = [figures.winners.get(vote, 0) for vote in votes]
        counts += [figures.n_unreadable, figures.n_failed]
        listing.add(line, figures.protocol or "", *counts, style=_style(figures, summary))
    return listing


def _lines(summary: JurySummary) -> Iterator[tuple[Text, JudgeFigures]]:
    """The jurors, numbered as their columns are, and then the jury."""
    numbered = len(summary.judges) > _MOST_NAMED
    for number, figures in enumerate(summary.judges, start=1):
        yield excerpt(f"{number} {figures.name}" if numbered else figures.name, 16), figures
    yield Text("jury"), summary.jury


def _style(figures: JudgeFigures, summary: JurySummary) -> str:
    return "bold" if figures is summary.jury else ""


def _figures_table(summary: JurySummary) -> render.Listing:
    """The figures of each juror and of the jury; a case without a vote does not count as wrong."""
    rows = [
        render.FigureRow(name=line, estimates=figures.estimates, style=_style(figures, summary))
        for line, figures in _lines(summary)
    ]
    names = (each.name for row in rows for each in row.estimates)
    return render.figures(render.Column.text("judge"), _columns(names), rows, with_n=False)


def _columns(names: Iterable[str]) -> dict[str, str]:
    return {name: render.ESTIMATE_HEADINGS[name] for name in names}


def _agreement_table(summary: JurySummary) -> RenderableType:
    """The agreement of each two jurors; n counts the cases, or responses, with a vote of both."""
    agreements = summary.agreements
    headings = _columns(each.name for each in agreements[0].estimates).values()
    listing = render.Listing(
        render.Column.text("two judges"),
        *map(render.Column.number, (*headings, "n")),
        spacing="flush",
    )
    names = [figures.name for figures in summary.judges]
    shorts = dict(zip(names, _short_names(names), strict=True))
    for found in agreements:
        pair = Text(" and ").join(excerpt(shorts[name], 15) for name in found.judges)
        listing.add(pair, *map(render.estimate_cell, found.estimates), found.estimates[0].n)
    reasons = dict.fromkeys(
        each.reason for found in agreements for each in found.estimates if each.value is None
    )
    if not reasons:
        return listing
    return Group(listing, *render.notes(["; ".join(f"-: {reason}" for reason in reasons)]))


def _parts_table(parts: Mapping[str, tuple[Estimate, ...]]) -> render.Listing:
    names = (each.name for its in parts.values() for each in its if each.value is not None)
    rows = [render.FigureRow(name=part, estimates=its) for part, its in parts.items()]
    return render.figures(render.Column.prose("the jury on", 30), _columns(names), rows)
