"""Rich tables of a run, of a case and of judge cards; 80 columns are enough for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from autoj.metrics.win_rate import CONVENTIONS
from autoj.records import (
    Calibration,
    Case,
    Decision,
    Estimate,
    Failure,
    Judgment,
    Rating,
    Score,
    Unreadable,
    Verdict,
)
from autoj.reports.figures import figure_cell, figure_text, interval_text, value_text
from autoj.reports.summary import RunSummary
from autoj.reports.text import excerpt, visible_text
from autoj.runs import CaseRecord, RunCounts, RunSpec
from autoj.verdicts import RULES, to_winner

__all__ = [
    "case_view",
    "convention_table",
    "first_critique",
    "summary_table",
    "verdict_table",
]

_LABELS = {
    "win rate": "win rate of a (ties half)",
    "win rate, corrected by the labels": "the same, corrected by labels",
    "consistency": "consistency (both orders agree)",
    "accuracy": "accuracy (first order = label)",
    "agreement": "agreement (both orders = label)",
    "averaged accuracy": "accuracy (verdict = label)",
    "mean rating": "mean rating (1-10)",
    "mean score": "mean score (on no scale)",
}


def verdict_table(pairs: Iterable[tuple[Case, Verdict]], spec: RunSpec) -> Table:
    """One line per case: its verdict and how sure it is."""
    table = Table(box=None, header_style="bold", padding=(0, 1))
    if spec.paired:
        last = "orders" if spec.has_orders else "a, b rated"
        for name in ("case", "winner", "P(a)", "P(b)", "P(tie)", last, "query"):
            table.add_column(name, no_wrap=True)
        for case, verdict in pairs:
            shares = verdict.probabilities or (None, None, None)
            table.add_row(
                excerpt(case.id, 16),
                _winner(verdict),
                *(_share(share) for share in shares),
                _orders(verdict) if spec.has_orders else _two_ratings(verdict),
                excerpt(case.query, 23 if spec.has_orders else 19),
            )
        return table
    for name in ("case", "response", "rating", "query"):
        table.add_column(name, no_wrap=True)
    for case, verdict in pairs:
        for index, rating in enumerate(verdict.ratings):
            name = case.responses[index].model or f"{index + 1}"
            table.add_row(
                excerpt(case.id, 16),
                excerpt(name, 14),
                _rating(rating, digits=3 if spec.protocol == "scalar" else 1),
                excerpt(case.query, 32),
            )
        if not verdict.ratings:
            table.add_row(excerpt(case.id, 16), "-", "failed", excerpt(case.query, 32))
    return table


def first_critique(pairs: Iterable[tuple[Case, Verdict]]) -> list[RenderableType]:
    """The first critique among some verdicts, to show what there is to read; none where none is."""
    for case, verdict in pairs:
        for critique in verdict.critiques:
            if critique is not None:
                return _block(f"Critique of case {case.id}", critique, None)
    return []


def _winner(verdict: Verdict) -> Text:
    if verdict.winner is not None:
        return Text(verdict.winner, style="bold")
    return Text("failed" if verdict.n_failed else "unknown", style="yellow")


def _orders(verdict: Verdict) -> str:
    return {True: "agree", False: "differ", None: "-"}[verdict.consistent]


def _two_ratings(verdict: Verdict) -> str:
    return ", ".join("-" if rating is None else f"{rating:.2f}" for rating in verdict.ratings)


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"


def _rating(rating: float | None, digits: int = 1) -> Text:
    return Text("unreadable", style="yellow") if rating is None else Text(f"{rating:.{digits}f}")


def summary_table(
    summary: RunSummary, spec: RunSpec, counts: RunCounts | None = None
) -> RenderableType:
    """The figures of a run; with `counts`, also how fast this session was."""
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    rows = [("judge", f"{spec.judge.name} ({spec.protocol})"), ("cases", _cases(summary))]
    if spec.paired:
        rows.append(("wins", _wins(summary)))
    if spec.calibration is not None:
        rows.append(("probabilities", _calibrated(spec.calibration)))
    rows += [(_LABELS[estimate.name], figure_text(estimate)) for estimate in summary.estimates]
    rows.append(("unreadable, failed", f"{summary.n_unreadable:,} and {summary.n_failed:,}"))
    if summary.n_truncated:
        rows.append(("truncated", f"{summary.n_truncated:,} judgments saw a response cut to fit"))
    if counts is not None and counts.n_answered:
        rows.append(("this session", _speed(counts)))
    for label, value in rows:
        table.add_row(label, visible_text(value))
    if not summary.parts:
        return table
    return Group(table, Text(), _parts_table(summary.parts))


def _calibrated(calibration: Calibration) -> str:
    return f"calibrated: temperature {calibration.temperature:g}, tie {calibration.tie:g}" + (
        f", fitted on {calibration.fitted_on}" if calibration.fitted_on else ""
    )


def _cases(summary: RunSummary) -> str:
    missing = summary.n_cases - summary.n_judged
    return f"{summary.n_cases:,}" + (f" ({missing:,} not judged yet)" if missing else "")


def _wins(summary: RunSummary) -> str:
    won = summary.winners
    text = f"a {won.get('a', 0):,}, b {won.get('b', 0):,}, ties {won.get('tie', 0):,}"
    unknown = won.get("unknown", 0)
    return text + (f", no winner known {unknown:,}" if unknown else "")


def _speed(counts: RunCounts) -> str:
    per_minute = counts.n_answered / max(counts.seconds, 1e-9) * 60
    return (
        f"{counts.n_answered:,} judgments in {counts.seconds:,.0f} s, {per_minute:,.0f}/min; "
        f"{counts.prompt_tokens:,} tokens read, {counts.completion_tokens:,} written"
    )


def _parts_table(parts: dict[str, tuple[Estimate, ...]]) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1))
    table.add_column("", overflow="fold")
    table.add_column("n", justify="right")
    names = [estimate.name for estimate in next(iter(parts.values()))]
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for part, estimates in parts.items():
        n = str(max(estimate.n + estimate.n_unscored for estimate in estimates))
        table.add_row(excerpt(part, 30), n, *(figure_cell(estimate) for estimate in estimates))
    return table


def convention_table(rates: Mapping[str, Estimate]) -> Table:
    """The win rate of response a by the rules of other tools, side by side."""
    table = Table(box=None, header_style="bold", padding=(0, 1))
    for name in ("convention", "win rate of a"):
        table.add_column(name, no_wrap=True)
    table.add_column("rule", overflow="fold")
    for name, rate in rates.items():
        interval = f"{value_text(rate)} {interval_text(rate)}".strip()
        table.add_row(name, f"{interval} n={rate.n:,}", rate.reason or CONVENTIONS[name].says)
    return table


def case_view(record: CaseRecord, n_lines: int | None = None) -> RenderableType:
    """A case with its judgments.

    Args:
        record: what the run holds about it.
        n_lines: the most lines of the query and of each response; None shows all.
    """
    case, verdict = record.case, record.verdict
    parts: list[RenderableType] = [_heading(case)]
    parts += _block("Query", case.query, n_lines)
    names = ["Response a", "Response b"] if len(case.responses) == 2 else []
    for index, response in enumerate(case.responses):
        name = names[index] if names else f"Response {index + 1}"
        title = f"{name} ({response.model})" if response.model else name
        parts += _block(title, response.text, n_lines)
    parts += [Rule("Judgments", align="left", style="dim"), _judgments(record)]
    if verdict is None:
        parts.append(Text("This case is not judged yet.", style="yellow"))
        return Group(*parts)
    parts.append(_verdict_lines(verdict, record))
    if record.paired and any(verdict.critiques):
        parts.append(_dim("In critiques, Response 1 is a and Response 2 is b."))
    for critique in verdict.critiques:
        if critique is not None:
            parts += _block("Critique", critique, None)
    return Group(*parts)


def _heading(case: Case) -> Text:
    text = visible_text(f"Case {case.id}", style="bold")
    for name, value in (("scenario", case.scenario), ("label", case.label)):
        if value is not None:
            text.append_text(visible_text(f"  {name} {value}", style="dim"))
    return text


def _block(title: str, body: str, n_lines: int | None) -> list[RenderableType]:
    lines = body.strip("\n").split("\n")
    shown = "\n".join(lines[:n_lines]) if body.strip() else "(empty)"
    parts: list[RenderableType] = [
        Rule(visible_text(title), align="left", style="dim"),
        Padding(visible_text(shown), (0, 0, 0, 2)),
    ]
    if n_lines is not None and len(lines) > n_lines:
        parts.append(_dim(f"  … {len(lines) - n_lines} more lines; --full shows them"))
    return parts


def _dim(text: str) -> Text:
    return Text(text, style="dim")


def _judgments(record: CaseRecord) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1))
    for name in ("page shows", "reading", "tokens"):
        table.add_column(name, overflow="fold")
    for asked, outcome in record.judgments:
        page = f"response {asked.shown[0] + 1}"
        if record.paired:
            page = " then ".join("ab"[index] for index in asked.shown)
            page += " alone" if len(asked.shown) == 1 else ""
        if isinstance(outcome, Judgment):
            completion = outcome.completion
            tokens = f"{completion.prompt_tokens:,} + {completion.completion_tokens:,}"
            cut = ", truncated" if asked.truncated else ""
            table.add_row(page, _reading(outcome), tokens + cut)
        elif isinstance(outcome, Failure):
            table.add_row(page, visible_text(f"failed: {outcome.message}", style="red"), "-")
        else:
            table.add_row(page, _dim("not answered yet"), "-")
    return table


def _reading(judgment: Judgment) -> Text:
    reading = judgment.reading
    if isinstance(reading, Decision):
        text = f"Response {reading.shown}" if reading.shown != "tie" else "Tie"
        winner = to_winner(reading.shown, judgment.asked.shown)
        if winner != "tie":
            text += f", which is {winner}"
        if reading.probabilities is not None:
            text += " ({:.3f} / {:.3f} / tie {:.3f})".format(*reading.probabilities)
        return Text(text)
    if isinstance(reading, Rating):
        return Text(f"rating {reading.value:.2f}")
    if isinstance(reading, Score):
        return Text(f"score {reading.value:.4f}")
    if isinstance(reading, Unreadable):
        return visible_text(f"unreadable: {reading.reason}", style="yellow")
    return Text("critique")


def _verdict_lines(verdict: Verdict, record: CaseRecord) -> Text:
    digits = 2 if record.paired else 1
    ratings = Text(", ").join([_rating(rating, digits) for rating in verdict.ratings])
    if not record.paired:
        return Text("Rating: ").append_text(ratings)
    text = Text("Winner: ").append_text(_winner(verdict))
    if verdict.rule is not None:
        text.append(f" ({RULES[verdict.rule]})")
    if verdict.ratings:
        text.append("\nRatings of a and b: ").append_text(ratings)
    if verdict.probabilities is not None:
        a, b, tie = verdict.probabilities
        how = "Averaged over the orders" if verdict.winners else "Calibrated"
        if record.calibration is not None and len(verdict.winners) == 2:
            how += " and calibrated"
        text.append(f"\n{how}: P(a) {a:.3f}, P(b) {b:.3f}, P(tie) {tie:.3f}")
    return text
