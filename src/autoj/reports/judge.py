"""Rich tables of a run; 80 columns are enough for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.metrics.win_rate import CONVENTIONS
from autoj.records import Calibration, Case, Estimate, Verdict
from autoj.reports.case import first_critique
from autoj.reports.render import (
    figure_cell,
    figure_text,
    interval_text,
    value_text,
    with_more,
)
from autoj.reports.scenario_sources import is_worth_telling, naming_table, naming_text
from autoj.reports.summary import RunSummary
from autoj.reports.text import excerpt, visible_text
from autoj.reports.verdict_cells import (
    rating_cell,
    ratings_text,
    votes_text,
    why_unrated,
    winner_cell,
)
from autoj.runs import RunCounts, RunSpec
from autoj.tasks.run import Run

__all__ = ["convention_table", "run_view", "summary_table", "verdict_table"]

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
        # A text that is drawn has no probabilities; how its draws voted stands in their place.
        votes = spec.has_orders and spec.n_draws > 1
        sure = ("votes",) if votes else ("P(a)", "P(b)", "P(tie)")
        last = "orders" if spec.has_orders else "a, b rated"
        for name in ("case", "winner", *sure, last, "query"):
            table.add_column(name, no_wrap=True)
        for case, verdict in pairs:
            shares = verdict.probabilities or (None, None, None)
            table.add_row(
                excerpt(case.id, 16),
                winner_cell(verdict),
                *([votes_text(verdict)] if votes else map(_share, shares)),
                _orders(verdict) if spec.has_orders else ratings_text(verdict),
                excerpt(case.query, 23 if spec.has_orders else 19),
            )
        return table
    rated = "rating" if spec.n_draws == 1 else "rating ± sd"
    for name in ("case", "response", rated, "query"):
        table.add_column(name, no_wrap=True)
    for case, verdict in pairs:
        spreads = verdict.rating_sds or [None] * len(verdict.ratings)
        for index, (rating, spread) in enumerate(zip(verdict.ratings, spreads, strict=True)):
            name = case.responses[index].model or f"{index + 1}"
            table.add_row(
                excerpt(case.id, 16),
                excerpt(name, 14),
                rating_cell(
                    rating,
                    3 if spec.protocol == "scalar" else 1,
                    spread,
                    missing=why_unrated(verdict),
                ),
                excerpt(case.query, 32 if spec.n_draws == 1 else 26),
            )
        if not verdict.ratings:
            table.add_row(excerpt(case.id, 16), "-", "failed", excerpt(case.query, 32))
    return table


def _orders(verdict: Verdict) -> str:
    return {True: "agree", False: "differ", None: "-"}[verdict.consistent]


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"


def run_view(run: Run, summary: RunSummary, n_shown: int) -> RenderableType:
    """A run after it judged: its first verdicts, its figures with its speed, and a critique."""
    listed = list(islice(run, n_shown))
    return Group(
        with_more(verdict_table(listed, run.spec), summary.n_judged - len(listed), run.path),
        Text(),
        summary_table(summary, run.spec, run.counts),
        Text(),
        *first_critique(listed),
    )


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
    if spec.n_draws > 1:
        rows.append(("draws", _draws(summary, spec)))
    rows += [(_LABELS[estimate.name], figure_text(estimate)) for estimate in summary.estimates]
    rows.append(("unreadable, failed", f"{summary.n_unreadable:,} and {summary.n_failed:,}"))
    if summary.n_truncated:
        rows.append(("truncated", f"{summary.n_truncated:,} judgments saw a response cut to fit"))
    if summary.naming is not None and is_worth_telling(summary.naming, bool(summary.parts)):
        rows.append(("scenarios", naming_text(summary.naming)))
    if counts is not None and counts.n_answered:
        rows.append(("this session", _speed(counts)))
    for label, value in rows:
        table.add_row(label, visible_text(value))
    if not summary.parts:
        return table
    tables: list[RenderableType] = [table, Text(), _parts_table(summary.parts)]
    if summary.naming_parts:
        tables += [
            Text(),
            naming_table({part: summary.naming_parts[part] for part in summary.parts}),
        ]
    return Group(*tables)


def _calibrated(calibration: Calibration) -> str:
    return (
        f"calibrated: temperature {calibration.temperature:g}, tie {calibration.tie:g}"
        + (", with the surface of the responses" if calibration.surface else "")
        + (f", fitted on {calibration.fitted_on}" if calibration.fitted_on else "")
    )


def _draws(summary: RunSummary, spec: RunSpec) -> str:
    text = f"{spec.n_draws:,} of each question"
    if summary.vote_share is not None:
        text += f"; {summary.vote_share:.1%} of those that can be read agree with their vote"
    if summary.n_split:
        text += f"; {summary.n_split:,} votes without a majority"
    if summary.rating_sd is not None:
        text += f"; standard deviation of a rating {summary.rating_sd:.2f} on average"
    return text


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
