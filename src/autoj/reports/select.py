"""The picks of a run from N responses, in figures and tables."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.jsonl import read_records
from autoj.metrics import RATINGS, Row
from autoj.metrics.base import mean
from autoj.metrics.rows import scored_row
from autoj.records import Estimate
from autoj.reports import render
from autoj.reports.cost import cost_text
from autoj.reports.scenario_sources import (
    NamedParts,
    ScenarioNaming,
    is_worth_telling,
    naming_text,
)
from autoj.reports.text import excerpt
from autoj.runs import RunSpec
from autoj.runs.cost import Cost
from autoj.runs.kind import PICKS_FILE
from autoj.tasks.run import Run
from autoj.tasks.selection_folder import PickedResponse, Selection, read_selections
from autoj.verdicts.selection import PICK_RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionSummary:
    """The figures of a run that picked."""

    n_cases: int
    n_responses: int
    n_picked: int
    """Cases with a pick."""
    rules: dict[str, int]
    """Picks by the rule of `selection.PICK_RULES` that decided them."""
    estimates: tuple[Estimate, ...]
    """The mean rating of the picks and that of all responses; empty if pairs were compared."""
    n_unrated: int
    """Responses without a readable rating."""
    n_matches: int
    """Matches of tournaments."""
    n_undecided: int
    """Matches that failed or were unreadable."""
    n_unreadable: int
    """Unreadable judgments."""
    n_failed: int
    """Requests without an answer."""
    n_truncated: int
    """Judgments of a response that was cut to fit."""
    naming: ScenarioNaming | None = None
    """Origins of the scenarios; None if no case has one."""


def summarise_selection(selections: Iterable[Selection], spec: RunSpec) -> SelectionSummary:
    """The figures of a run that picked.

    Args:
        selections: its cases.
        spec: its settings.
    """
    counts: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    picks: list[Row] = []
    everything: list[Row] = []
    named = NamedParts(None)
    for found in selections:
        named.add(found.case)
        counts["cases"] += 1
        counts["responses"] += len(found.case.responses)
        counts["unreadable"] += found.verdict.n_unreadable
        counts["failed"] += found.verdict.n_failed
        counts["truncated"] += found.verdict.n_truncated
        counts["matches"] += len(found.matches)
        counts["undecided"] += sum(match.winner is None for match in found.matches)
        if found.picked is not None:
            rules[found.picked.rule] += 1
        if spec.task == "rate":
            ratings = found.verdict.ratings
            counts["unrated"] += ratings.count(None)
            picks.append(
                scored_row(found.case, None if found.picked is None else found.picked.rating)
            )
            everything += [scored_row(found.case, rating) for rating in ratings]
    estimates: tuple[Estimate, ...] = ()
    if spec.task == "rate":
        # A reward model's scores have no fixed scale; the name decides their digits.
        scalar = spec.protocol == "scalar"
        name, span = ("mean score", None) if scalar else ("mean rating", RATINGS)
        estimates = tuple(mean(name, its, _rating, span=span) for its in (picks, everything))
    return SelectionSummary(
        n_cases=counts["cases"],
        n_responses=counts["responses"],
        n_picked=rules.total(),
        rules=dict(rules),
        estimates=estimates,
        n_unrated=counts["unrated"],
        n_matches=counts["matches"],
        n_undecided=counts["undecided"],
        n_unreadable=counts["unreadable"],
        n_failed=counts["failed"],
        n_truncated=counts["truncated"],
        naming=named.whole(),
    )


def _rating(row: Row) -> float | None:
    return row.rating


def selection_table(selections: Iterable[Selection], spec: RunSpec) -> render.Listing:
    """One line per case: its pick, with its margin."""
    by_rating = spec.task == "rate"
    digits = 3 if spec.protocol == "scalar" else 2
    listing = render.Listing(
        render.Column.text("case", 16),
        render.Column.number("N"),
        render.Column.text("pick"),
        *map(render.Column.number, ("rating", "gap") if by_rating else ("won", "last P")),
        render.Column.text("query", 24),
    )
    for found in selections:
        cells = _by_rating(found, digits) if by_rating else _by_pairs(found)
        n = len(found.case.responses)
        listing.add(found.case.id, n, _pick(found), *cells, found.case.query)
    return listing


def _pick(found: Selection) -> Text:
    if found.picked is None:
        return Text("failed" if found.verdict.n_failed else "unreadable", style="yellow")
    number = Text(f"{found.picked.selected + 1}", style="bold")
    if found.picked.model is None:
        return number
    return number.append(" ").append_text(excerpt(found.picked.model, 12))


def _by_rating(found: Selection, digits: int) -> tuple[str, str]:
    """The pick's rating, and its lead over the next best."""
    rating = None if found.picked is None else found.picked.rating
    return render.number(rating, digits), render.number(found.gap, digits)


def _by_pairs(found: Selection) -> tuple[str, str]:
    """Matches won of those played, and the probability of the last win."""
    if found.picked is None:
        return render.MISSING, render.MISSING
    picked = found.picked.selected
    mine = [match for match in found.matches if picked in match.pair]
    won = f"{sum(match.winner == picked for match in mine)} of {len(mine)}"
    shares = mine[-1].verdict.probabilities if mine else None
    return won, render.number(None if shares is None else shares[mine[-1].pair.index(picked)], 3)


def selection_view(run: Run, summary: SelectionSummary, n_shown: int) -> RenderableType:
    """A run's first picks, and its figures."""
    listed = list(islice(read_selections(run.folder), n_shown))
    n_more = summary.n_cases - len(listed)
    return Group(
        render.with_more(selection_table(listed, run.spec), n_more, run.path / PICKS_FILE),
        Text(),
        selection_summary_table(summary, run.spec, run.cost),
    )


def selection_record(run: Run, summary: SelectionSummary) -> dict[str, Any]:
    """A run that picked as plain values: its figures, its picks and its verdicts."""
    return {
        "run": str(run.path),
        "summary": asdict(summary),
        "picks": list(read_records(run.path / PICKS_FILE, PickedResponse)),
        "verdicts": list(run.folder.verdicts()),
    }


def selection_summary_table(
    summary: SelectionSummary, spec: RunSpec, cost: Cost | None = None
) -> Table:
    """The figures of a run that picked, one per line."""
    how = "each response rated" if spec.task == "rate" else "pairs, by knockout"
    rows = [
        ("judge", f"{spec.judge.name} ({spec.protocol}; {how})"),
        ("cases", f"{summary.n_cases:,} with {summary.n_responses:,} responses"),
        ("picked", _picked(summary)),
    ]
    ordered = sorted(summary.rules.items(), key=lambda item: -item[1])
    rows += [("  by rule", f"{n:,}: {PICK_RULES[rule]}") for rule, n in ordered]
    for label, estimate in zip(("of picks", "of all"), summary.estimates, strict=False):
        rows.append((f"{estimate.name} {label}", render.estimate_line(estimate)))
    if spec.task == "rate":
        rows.append(("without a rating", f"{summary.n_unrated:,} responses"))
    else:
        undecided = f"{summary.n_undecided:,} failed or unreadable"
        rows.append(("matches", f"{summary.n_matches:,}, {undecided}"))
    rows.append(render.lost(summary.n_unreadable, summary.n_failed))
    if summary.n_truncated:
        rows.append(("truncated", f"{summary.n_truncated:,} judgments had a response cut to fit"))
    if summary.naming is not None and is_worth_telling(summary.naming):
        rows.append(("scenarios", naming_text(summary.naming)))
    if (spent := cost_text(cost, spec.judge)) is not None:
        rows.append(("cost", spent))
    return render.facts(rows)


def _picked(summary: SelectionSummary) -> str:
    missing = summary.n_cases - summary.n_picked
    return render.count(summary.n_picked) + (
        f", no basis for a pick in {missing:,}" if missing else ""
    )
