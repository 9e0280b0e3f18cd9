"""Rows of a leaderboard, from published figures and from saved results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autoj.bench.eval_c.published import OVERALL, PublishedVotes, published_eval_c
from autoj.bench.leaderboard.board import BoardRow, Figure
from autoj.bench.published import Citation, Kind, Printed, PublishedRow, Work
from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.scenarios import groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A saved result and its file."""

    path: Path
    result: Result


def by_name(estimates: Sequence[Estimate]) -> dict[str, Estimate]:
    """Estimates by their names."""
    return {estimate.name: estimate for estimate in estimates}


def in_order(parts: Mapping[str, Sequence[Estimate]]) -> dict[str, Mapping[str, Figure]]:
    """Parts with their estimates by name: groups in the paper's order, then any others."""
    known = [group for group in groups() if group in parts]
    others = [part for part in parts if part not in known]
    return {part: by_name(parts[part]) for part in (*known, *others)}


def ours(where: str) -> Citation:
    """A source of our own: a run, or the data."""
    return Citation(cite=where, work="ours")


def published_row(row: PublishedRow) -> BoardRow:
    """A row of published figures."""
    return BoardRow(
        judge=row.model,
        status="computed" if row.is_computed else "published",
        kind=row.kind,
        generative=row.generative,
        in_sample=row.in_sample,
        figures=row.figures,
        parts=row.parts,
        sources=row.sources,
        printed_as=row.printed_as,
        notes=(row.note,) if row.note else (),
    )


def measured_row(measured: Measured, kind: Kind | None) -> BoardRow:
    """A row of a saved result; the kind is None where the result does not show it."""
    result = measured.result
    return BoardRow(
        judge=result.judge,
        status="measured",
        kind=kind,
        figures=by_name(result.estimates),
        parts={breakdown: in_order(parts) for breakdown, parts in result.parts.items()},
        sources=(ours(f"{measured.path}: {result.source}, {result.n_cases:,} cases"),),
        notes=result.notes,
    )


def published_votes() -> list[tuple[str, str, BoardRow]]:
    """Published comparisons of critics: the other critic, the judge, and their rows.

    A row has the shares of wins, ties and losses, overall and, from Table 22, by group.
    """
    found: dict[tuple[str, str, str, str], dict[str, PublishedVotes]] = {}
    for votes in published_eval_c():
        work = votes.source.partition(",")[0]
        key = (work, votes.against, votes.judged_by, votes.critic)
        found.setdefault(key, {})[votes.group] = votes
    return [
        (against, judged_by, _votes_row(critic, by_group))
        for (_, against, judged_by, critic), by_group in found.items()
    ]


def _votes_row(critic: str, by_group: Mapping[str, PublishedVotes]) -> BoardRow:
    parts = {group: _shares(votes) for group, votes in by_group.items() if group != OVERALL}
    overall = by_group[OVERALL]
    return BoardRow(
        judge=critic,
        status="published",
        kind="single",
        generative=True,
        figures=_shares(overall),
        parts={"group": parts} if parts else {},
        sources=(Citation(cite=overall.source, work=_work(overall)),),
    )


def _shares(votes: PublishedVotes) -> dict[str, Figure]:
    """Win, tie and lose as printed: counts out of all cases, or percent."""
    source = Citation(cite=votes.source, work=_work(votes))
    counts = {"win": votes.win, "tie": votes.tie, "lose": votes.lose}
    total = sum(counts.values())
    return {
        name: Printed(
            value=share,
            text=f"{count:g}/{total:g}" if votes.unit == "cases" else f"{count:.1f}",
            source=source,
        )
        for (name, count), share in zip(counts.items(), votes.shares, strict=True)
    }


def _work(votes: PublishedVotes) -> Work:
    return "paper" if votes.source.startswith("paper") else "readme"
