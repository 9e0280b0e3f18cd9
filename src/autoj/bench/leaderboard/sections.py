"""The sections of the leaderboards of Eval-P and Eval-C: rows whose figures may be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autoj.bench.base import Result
from autoj.bench.eval_c.files import read_critiques
from autoj.bench.leaderboard.baselines import longer_critique_row, pair_baselines
from autoj.bench.leaderboard.board import BoardRow, Clearing, Section
from autoj.bench.leaderboard.clearing import clear_pairs
from autoj.bench.leaderboard.rows import Measured, measured_row, published_row, published_votes
from autoj.bench.published import Kind, merged, published
from autoj.datasets import catalog, open_cases
from autoj.errors import DataError
from autoj.records import WINNERS, Case, normalise_query

__all__ = ["Sections", "eval_c_sections", "eval_p_sections", "public_cases"]

_VOTES = ("win", "tie", "lose")
_REFERENCE = "ChatGPT"
"""Whose critiques the release compares all others with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections:
    """What a leaderboard shows."""

    sections: Sequence[Section]
    clearings: Sequence[Clearing] = ()
    messages: Sequence[str] = ()


def public_cases(name: str) -> tuple[list[Case], list[str]]:
    """The cases of a public data set; none, and why, where it is not on this machine.

    Raises:
        DataError: a row cannot be read.
    """
    try:
        path = catalog.find(name)
    except DataError as error:
        return [], [f"The trivial judges need the data: {error.reason}. {error.hint or ''}".strip()]
    cases: list[Case] = []
    for row in open_cases(path).read():
        if isinstance(row.case, DataError):
            raise row.case
        cases.append(row.case)
    return cases, []


def eval_p_sections(measured: Sequence[Measured], breakdown: str | None) -> Sections:
    """Verdicts on pairs against people's labels: one section."""
    if breakdown == "seen and unseen":
        rows = [published_row(row) for row in published("unseen") if "agreement" in row.figures]
    else:
        rows = [published_row(row) for row in merged(published("eval-p"))]
    rows += [measured_row(found, _kind(found.result)) for found in measured]
    cases, messages = public_cases("eval-p")
    pairs = [case for case in cases if len(case.responses) == 2 and case.label in WINNERS]
    baselines = pair_baselines(pairs, by_group=breakdown == "group") if pairs else []
    section = Section(
        title="Verdicts on pairs against people's labels, in %",
        figures=("agreement", "consistency", "accuracy", "averaged accuracy"),
        rows=(*rows, *baselines),
    )
    clearings = [
        clearing
        for found in measured
        for clearing in clear_pairs(found.result, found.path, baselines)
    ]
    compared = {clearing.source for clearing in clearings}
    messages += [
        f"{found.result.judge} ({found.path}) is compared with no trivial judge: neither its run "
        "nor the data it was measured on is at hand."
        for found in measured
        if str(found.path) not in compared
    ]
    return Sections(sections=[section], clearings=clearings, messages=messages)


def _kind(result: Result) -> Kind | None:
    """A judge that has no verdict in an order, and yet averaged ones, read each response alone."""
    known = {estimate.name for estimate in result.estimates if estimate.value is not None}
    if "accuracy" in known:
        return "pairwise"
    return "single" if "averaged accuracy" in known else None


def eval_c_sections(measured: Sequence[Measured], breakdown: str | None) -> Sections:
    """Critics' critiques compared: by whom they are held against, and by who judges."""
    if breakdown == "seen and unseen":
        unseen = [published_row(row) for row in published("unseen") if "win" in row.figures]
        return Sections(sections=[_votes(_REFERENCE, "gpt-4", unseen)])
    table: list[tuple[str, str, BoardRow]] = published_votes()
    for item in measured:
        against, judged_by = (
            str(item.result.details.get(name, "(not said)")) for name in ("against", "judged_by")
        )
        table.append((against, judged_by, measured_row(item, "single")))
    baselines, messages = _longer_critiques()
    table += [(_REFERENCE, "length (the longer wins)", row) for row in baselines]
    return Sections(sections=[*_by_opponent(table), *_of_one_critic(table)], messages=messages)


def _by_opponent(table: Sequence[tuple[str, str, BoardRow]]) -> list[Section]:
    """Critics against the same other, by the same judge; published pairs without rivals left out.

    Names that differ in case or punctuation alone are the same.
    """
    found: dict[tuple[str, str], list[tuple[str, str, BoardRow]]] = {}
    for against, judged_by, row in table:
        key = (normalise_query(against), normalise_query(judged_by))
        found.setdefault(key, []).append((against, judged_by, row))
    return [
        _votes(rows[0][0], rows[0][1], [row for *_, row in rows])
        for rows in sorted(found.values(), key=len, reverse=True)
        if len(rows) > 1 or rows[0][2].status != "published"
    ]


def _of_one_critic(table: Sequence[tuple[str, str, BoardRow]]) -> list[Section]:
    """Table 22: one critic against each other, a section for each judge."""
    found: dict[tuple[str, str], list[BoardRow]] = {}
    for against, judged_by, row in table:
        if row.status == "published" and row.parts:
            named = replace(row, judge=f"against {against}")
            found.setdefault((row.judge, judged_by), []).append(named)
    return [
        Section(
            title=f"Critiques of {critic} against those of others, judged by "
            f"{_people(judged_by)}, in %",
            figures=_VOTES,
            rows=tuple(rows),
        )
        for (critic, judged_by), rows in found.items()
    ]


def _votes(against: str, judged_by: str, rows: Sequence[BoardRow]) -> Section:
    return Section(
        title=f"Critiques against those of {against}, judged by {_people(judged_by)}, in %",
        figures=_VOTES,
        rows=tuple(rows),
    )


def _people(judged_by: str) -> str:
    return "people" if judged_by == "human" else judged_by


def _longer_critiques() -> tuple[list[BoardRow], list[str]]:
    cases, messages = public_cases("eval-c")
    if not cases:
        return [], messages
    if not catalog.is_here("eval-c-reference"):
        _, messages = public_cases("eval-c-reference")
        return [], messages
    first = read_critiques(catalog.find("eval-c"), cases)
    second = read_critiques(catalog.find("eval-c-reference"), cases, _REFERENCE)
    return [longer_critique_row(first, second, cases)], []
