"""The parts of a leaderboard: sections of rows, of published figures and of saved results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from autoj.bench.eval_c.published import OVERALL, PublishedVotes, published_eval_c
from autoj.bench.published import Citation, Kind, Printed, PublishedRow, Work
from autoj.metrics.result import Result
from autoj.records import Estimate
from autoj.scenarios import groups

Status: TypeAlias = Literal["published", "computed", "measured", "trivial"]
"""The origin of a row: a publication; our arithmetic on a published table; a saved result of
`autoj bench`; a baseline, which reads nothing or only lengths, computed on the data itself."""
Figure: TypeAlias = Estimate | Printed
"""Ours, with an interval, or as somebody else printed it, without one."""
Parts: TypeAlias = Mapping[str, Mapping[str, Mapping[str, Figure]]]
"""Figures by breakdown ("group", "seen and unseen"), part and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One judge's figures from one place."""

    judge: str
    status: Status
    kind: Kind | None
    """None where it is not known."""
    generative: bool | None = None
    in_sample: bool = False
    """True where a free choice, such as a tie threshold, was made on the test set itself."""
    figures: Mapping[str, Figure]
    parts: Parts = field(default_factory=dict)
    sources: tuple[Citation, ...]
    """The publications, or the origin of the verdicts."""
    printed_as: str | None = None
    """The source's spelling of the judge, where it is another."""
    notes: tuple[str, ...] = ()
    """Caveats of this row, beyond its sources' notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Rows whose figures may be compared with each other."""

    title: str
    """The section's figures and data, in words."""
    figures: tuple[str, ...]
    """The names of its columns, in order."""
    rows: tuple[BoardRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineComparison:
    """A measured judge compared with a baseline."""

    judge: str
    source: str
    """The origin of the judge's verdicts."""
    baseline: str
    figure: str
    difference: Estimate | None
    """The judge's figure less the baseline's on the same cases; None where the verdicts are not
    at hand and the two intervals were compared."""
    beats: bool
    """True where it is higher beyond chance: the interval of the difference lies above 0, or the
    judge's own interval above the baseline's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The leaderboard of one meta-evaluation."""

    bench: str
    breakdown: str | None
    """The breakdown whose parts are the columns; None has a column for each figure."""
    sort: str
    """The figure that rows are sorted by and, with a breakdown, that its columns show."""
    sections: tuple[Section, ...]
    against_baselines: tuple[BaselineComparison, ...] = ()
    messages: tuple[str, ...] = ()
    """Notes to print below the table."""


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
