"""The common ground of all meta-evaluations: verdicts beside their cases, and figures by part."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import orjson

from autoj.errors import DataError, UnknownComponent
from autoj.metrics import Row, by
from autoj.metrics.base import Rows
from autoj.records import Case, Estimate, Verdict
from autoj.scenarios import group_of, scenario_names

Figures: TypeAlias = Callable[[Rows], tuple[Estimate, ...]]
"""The figures of some rows."""


def group_name(scenario: str | None) -> str | None:
    """The group of a scenario; names that the taxonomy lacks are kept together."""
    if scenario is None:
        return None
    try:
        return group_of(scenario)
    except UnknownComponent:
        return "(not in the taxonomy)"


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
            _named(missing, "of the set's cases are not judged in it"),
            _named(list(found), "of its cases are not in the set"),
            _named(changed, "of its cases have other texts than in the set"),
        ]
        raise DataError(
            f"is not a run of this set: {'; '.join(fault for fault in faults if fault)}",
            path=where,
            hint="Judge the whole set, or give the set that was judged with --data.",
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
    """A fingerprint of a set of cases: 16 hex digits of a hash of their ids and texts."""
    digest = hashlib.sha256()
    for case in cases:
        texts = [case.id, case.query, *(response.text for response in case.responses)]
        digest.update(orjson.dumps(texts))
    return digest.hexdigest()[:16]


def in_paper_order(rows: Iterable[Row]) -> list[Row]:
    """Rows by scenario: the paper's order of scenarios, then the user's own."""
    places = {name: place for place, name in enumerate(scenario_names())}
    return sorted(rows, key=lambda row: places.get(row.scenario or "", len(places)))


def lost_counts(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """The numbers of judgments that could not be read, failed, or saw a response cut to fit."""
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
