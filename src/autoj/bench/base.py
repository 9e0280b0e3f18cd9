"""What all meta-evaluations share: rows from cases and verdicts, and the record of a result."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from autoj.errors import DataError, UnknownComponent
from autoj.jsonl import decode_as, write_records
from autoj.metrics import Row, by
from autoj.metrics.base import Rows
from autoj.records import Case, CaseOutline, Estimate, Verdict, Winner
from autoj.scenarios import group_of, scenario_names
from autoj.ties import likeliest

__all__ = [
    "Figures",
    "Result",
    "align",
    "broken_down",
    "cluster_number",
    "group_name",
    "in_paper_order",
    "lost_counts",
    "pair_row",
    "rating_rows",
    "read_result",
    "save_result",
    "set_digest",
]

Figures: TypeAlias = Callable[[Rows], tuple[Estimate, ...]]
"""The figures of some rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a meta-evaluation found about one judge."""

    bench: str
    """The meta-evaluation's name, such as "eval-p"."""
    judge: str
    source: str
    """Where the verdicts are from: a run's folder, or files of predictions."""
    n_cases: int
    estimates: tuple[Estimate, ...]
    """The figures over all cases."""
    parts: Mapping[str, Mapping[str, tuple[Estimate, ...]]] = field(default_factory=dict)
    """The same figures by breakdown ("group", "scenario", …) and part."""
    notes: tuple[str, ...] = ()
    """What a reader must know to take the figures for what they are."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What only this meta-evaluation has."""

    def estimate(self, name: str) -> Estimate | None:
        """The figure of that name over all cases; None where there is none."""
        return next((found for found in self.estimates if found.name == name), None)


def save_result(path: Path, result: Result) -> None:
    """Write a result as one JSON object, all at once.

    Raises:
        StorageFull: the disk took no more.
        DataError: nothing can be written there.
    """
    write_records(path, [result])


def read_result(path: Path) -> Result:
    """A result that was saved.

    Raises:
        DataError: the file is missing or holds none.
    """
    try:
        return decode_as(Result, path.read_bytes())
    except FileNotFoundError:
        raise DataError("there is no such file", path=path) from None
    except (OSError, ValueError) as error:
        raise DataError(f"holds no result of a meta-evaluation ({error})", path=path) from None


def cluster_number(cluster: str) -> int:
    """A number for a normalised query, the same in every process.

    >>> cluster_number("whatis22") == cluster_number("whatis22") != cluster_number("other")
    True
    """
    text = cluster.encode()
    # Two checksums tell millions of queries apart in a fifth of a digest's time.
    return zlib.crc32(text) << 31 ^ zlib.adler32(text)


def group_name(scenario: str | None) -> str | None:
    """The group of a scenario; names that the taxonomy lacks are kept together."""
    if scenario is None:
        return None
    try:
        return group_of(scenario)
    except UnknownComponent:
        return "(not in the taxonomy)"


def pair_row(case: Case | CaseOutline, verdict: Verdict, tie_band: float = 0.0) -> Row:
    """The row of a pair: judged in one order or both, or each response rated alone.

    Args:
        case: the pair; without its texts the row has no lengths.
        verdict: its verdict.
        tie_band: two ratings that differ by no more are a tie. Ratings that a calibration made
            probabilities of are compared by it, and have no other band.
    """
    # One order's probabilities are not averaged over anything.
    whole = len(verdict.winners) == 2 or bool(verdict.ratings)
    known = verdict.probabilities if whole else None
    averaged = None if known is None else likeliest(known)
    if verdict.ratings and known is None:
        averaged = _by_ratings(verdict.ratings, tie_band)
    return Row(
        cluster=cluster_number(case.cluster),
        label=case.label,
        winner=averaged if verdict.ratings else verdict.winner,
        winners=verdict.winners,
        consistent=verdict.consistent,
        scenario=case.scenario,
        subset=_subset(case) if case.meta else None,
        style=_style(case) if case.meta else None,
        averaged=averaged,
        probabilities=known,
        lengths=_lengths(case),
    )


def rating_rows(case: Case, verdict: Verdict) -> list[Row]:
    """One row per rated response; its label is its reference score, or the case's own label.

    Args:
        case: what was rated.
        verdict: its ratings; none where nothing could be read.
    """
    row = Row(
        cluster=cluster_number(case.cluster),
        label=case.label,
        winner=None,
        winners=(),
        consistent=None,
        scenario=case.scenario,
        subset=_subset(case),
    )
    ratings = verdict.ratings or (None,) * len(case.responses)
    return [
        row._replace(
            rating=rating,
            label=case.label if response.reference_score is None else response.reference_score,
        )
        for response, rating in zip(case.responses, ratings, strict=True)
    ]


def _by_ratings(ratings: Sequence[float | None], tie_band: float) -> Winner | None:
    if len(ratings) != 2 or ratings[0] is None or ratings[1] is None:
        return None
    # The grid's steps are decimal: 0.3 - 0.1 must lie within a band of 0.2.
    gap = round(ratings[0] - ratings[1], 9)
    if abs(gap) <= tie_band:
        return "tie"
    return "a" if gap > 0 else "b"


def _subset(case: Case | CaseOutline) -> str | None:
    subset = case.meta.get("subset", case.meta.get("domain"))
    return subset if isinstance(subset, str) else None


def _style(case: Case | CaseOutline) -> str | None:
    """RM-Bench's three grades: each side is plain (0), detailed (1), or detailed with markup (2).

    **Source:** Y. Liu et al., "RM-Bench" (2024), section 4.2.
    """
    chosen, rejected = (case.meta.get(f"style_{side}") for side in ("chosen", "rejected"))
    if not isinstance(chosen, int) or not isinstance(rejected, int):
        return None
    if chosen == rejected:
        return "normal"
    return "easy" if chosen > rejected else "hard"


def _lengths(case: Case | CaseOutline) -> tuple[int, int] | None:
    if isinstance(case, CaseOutline) or len(case.responses) != 2:
        return None
    first, second = (len(response.text.strip()) for response in case.responses)
    return first, second


def align(
    cases: Sequence[Case], judged: Iterable[tuple[Case, Verdict]], where: Path
) -> list[Verdict]:
    """The verdicts of a run, in the order of the set's cases.

    Args:
        cases: the set.
        judged: the run's cases with their verdicts, in any order.
        where: the run, for messages.

    Raises:
        DataError: a case has no verdict, a verdict no case, or the two differ in their texts; a few
            of each are named.
    """
    found = {case.id: (case, verdict) for case, verdict in judged}
    verdicts: list[Verdict] = []
    missing: list[str] = []
    changed: list[str] = []
    for case in cases:
        there = found.pop(case.id, None)
        if there is None:
            missing.append(case.id)
        elif not _same_texts(case, there[0]):
            changed.append(case.id)
        else:
            verdicts.append(there[1])
    if missing or found or changed:
        faults = [
            _named(missing, "of the set's cases are not judged there"),
            _named(list(found), "cases there are not of the set"),
            _named(changed, "cases have other texts there"),
        ]
        raise DataError(
            f"is not a run of this set: {'; '.join(fault for fault in faults if fault)}",
            path=where,
            hint="Judge the whole set, or name the set that was judged with --data.",
        )
    return verdicts


def _same_texts(case: Case, other: Case) -> bool:
    return case.query == other.query and [response.text for response in case.responses] == [
        response.text for response in other.responses
    ]


def _named(ids: Sequence[str], what: str) -> str | None:
    if not ids:
        return None
    shown = ", ".join(map(repr, ids[:5]))
    return f"{len(ids):,} {what} ({shown}{', …' if len(ids) > 5 else ''})"


def set_digest(cases: Iterable[Case]) -> str:
    """What tells one set of cases from another: 16 hex digits of their ids and texts."""
    digest = hashlib.sha256()
    for case in cases:
        texts = [case.id, case.query, *(response.text for response in case.responses)]
        digest.update(orjson.dumps(texts))
    return digest.hexdigest()[:16]


def in_paper_order(rows: Iterable[Row]) -> list[Row]:
    """Rows by scenario: the paper's order of scenarios, then those of the user's own."""
    places = {name: place for place, name in enumerate(scenario_names())}
    return sorted(rows, key=lambda row: places.get(row.scenario or "", len(places)))


def lost_counts(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """How many judgments could not be read, failed, or saw a response cut to fit."""
    return {
        name: sum(getattr(verdict, name) for verdict in verdicts)
        for name in ("n_unreadable", "n_failed", "n_truncated")
    }


def broken_down(
    rows: Rows, figures: Figures, names: Mapping[str, Callable[[Row], str | None]]
) -> dict[str, dict[str, tuple[Estimate, ...]]]:
    """The same figures for each part of each breakdown; breakdowns without parts are left out.

    Args:
        rows: the cases.
        figures: the figures of some rows.
        names: each breakdown's name, and what names a row's part in it.
    """
    found: dict[str, dict[str, tuple[Estimate, ...]]] = {}
    for breakdown, name_of in names.items():
        parts: Mapping[str, Rows] = by(rows, name_of)
        found[breakdown] = {part: figures(its) for part, its in parts.items()}
    return {breakdown: parts for breakdown, parts in found.items() if parts}
