"""The sections of the leaderboards of Eval-P and Eval-C: rows whose figures may be compared."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autoj.bench.base import set_digest
from autoj.bench.eval_c.files import read_critiques
from autoj.bench.leaderboard.against_baselines import compare_with_baselines
from autoj.bench.leaderboard.baseline_rows import longer_critique_row, pair_baselines
from autoj.bench.leaderboard.board import (
    BaselineComparison,
    BoardRow,
    Measured,
    Section,
    measured_row,
    published_row,
    published_votes,
)
from autoj.bench.published import Kind, merged, published
from autoj.datasets import catalog, open_cases
from autoj.errors import DataError
from autoj.metrics.result import Result
from autoj.records import WINNERS, Case, normalise_query
from autoj.scenarios import groups

_VOTES = ("win", "tie", "lose")
_REFERENCE = "ChatGPT"
"""The critic whose critiques the release compares all others with."""
_SEEN = "seen and unseen"
_UNSEEN_GROUP = "NLP Tasks"
"""Scenarios that setting 2 leaves out; those of setting 1 are not published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections:
    """The content of a leaderboard: its figures, breakdowns and sections."""

    sections: Sequence[Section]
    against_baselines: Sequence[BaselineComparison] = ()
    messages: Sequence[str] = ()


def public_cases(name: str) -> tuple[list[Case], list[str]]:
    """The cases of a public data set; where it is not on this machine, none and the reason.

    Raises:
        DataError: a row cannot be read.
    """
    try:
        path = catalog.find(name)
    except DataError as error:
        return [], [f"The baselines need the data: {error.reason}. {error.hint or ''}".strip()]
    cases: list[Case] = []
    for row in open_cases(path).read():
        if isinstance(row.case, DataError):
            raise row.case
        cases.append(row.case)
    return cases, []


def _other_data(found: Measured, here: str | None) -> str:
    """The addition to a title where a result may be of another set; else empty.

    Args:
        found: the result.
        here: the digest of the set; None where it is not on this machine.
    """
    result, digest = found.result, found.result.details.get("set")
    if here is not None and digest == here:
        return ""
    what = "data that cannot be verified" if here is None else "other data"
    which = f"digest unknown: {found.path}" if digest is None else f"digest {digest}"
    return f" ({what}, {result.n_cases:,} cases, {which}: not comparable with other sections)"


def _unchecked(measured: Sequence[Measured], here: str | None) -> list[str]:
    if here is not None or not measured:
        return []
    return ["Without the data, no result can be verified to be of it, and none is ranked with it."]


def eval_p_sections(measured: Sequence[Measured], breakdown: str | None) -> Sections:
    """Verdicts on pairs against people's labels: a section for each set of cases.

    With seen and unseen scenarios, a section for each choice of these, too.
    """
    by_seen = breakdown == _SEEN
    found, messages = public_cases("eval-p")
    cases = [case for case in found if len(case.responses) == 2 and case.label in WINNERS]
    here = set_digest(cases) if cases else None
    baselines = pair_baselines(cases, by_group=breakdown == "group") if cases else []
    table: dict[str, list[BoardRow]] = {}
    if by_seen:
        table = _by_setting("agreement")
    else:
        table[""] = [*map(published_row, merged(published("eval-p"))), *baselines]
    against_baselines: list[BaselineComparison] = []
    for item in measured:
        other = _other_data(item, here)
        title = (_setting(item) if by_seen else "") + other
        table.setdefault(title, []).append(measured_row(item, _kind(item.result)))
        against_baselines += compare_with_baselines(
            item.result, item.path, [] if other else baselines
        )
    compared = {found.source for found in against_baselines}
    messages += _unchecked(measured, here)
    messages += [
        f"{item.result.judge} ({item.path}) is compared with no baseline: neither its run "
        "nor the data it was measured on is on this machine."
        for item in measured
        if str(item.path) not in compared
    ]
    sections = [
        Section(
            title=f"Verdicts on pairs against people's labels, in %{title}",
            figures=("agreement", "consistency", "accuracy", "averaged accuracy"),
            rows=tuple(rows),
        )
        for title, rows in table.items()
    ]
    return Sections(sections=sections, against_baselines=against_baselines, messages=messages)


def _by_setting(figure: str) -> dict[str, list[BoardRow]]:
    """Published figures on seen and unseen scenarios, by what a title adds for their setting."""
    found: dict[str, list[BoardRow]] = {}
    for row in published("unseen"):
        if figure in row.figures:
            found.setdefault(f"; {row.sources[0].cite}", []).append(published_row(row))
    return found


def _setting(found: Measured) -> str:
    """The addition to a title for the scenarios that a measured judge has not seen."""
    unseen = found.result.details.get("unseen")
    if not isinstance(unseen, list):
        return f"; unseen scenarios unknown: {found.path}"
    if unseen == sorted(groups()[_UNSEEN_GROUP]):
        return next(title for title in _by_setting("agreement") if _UNSEEN_GROUP in title)
    return f"; unseen: {', '.join(map(str, unseen))}"


def _kind(result: Result) -> Kind | None:
    """A judge that has no verdict in an order, and yet averaged ones, read each response alone."""
    known = {estimate.name for estimate in result.estimates if estimate.value is not None}
    if "accuracy" in known:
        return "pairwise"
    return "single" if "averaged accuracy" in known else None


def eval_c_sections(measured: Sequence[Measured], breakdown: str | None) -> Sections:
    """Critics' critiques compared: by the other critic, by the judge, and by data."""
    if breakdown == _SEEN:
        found = _by_setting("win").items()
        sections = [_votes(_REFERENCE, "gpt-4", rows, setting) for setting, rows in found]
        return Sections(sections=sections)
    cases, messages = public_cases("eval-c")
    here = set_digest(cases) if cases else None
    baselines, missing = _longer_critiques(cases)
    messages += [*missing, *_unchecked(measured, here)]
    public = published_votes()
    public += [(_REFERENCE, "length (the longer wins)", row) for row in baselines]
    tables = {"": public}
    for item in measured:
        against, judged_by = (
            str(item.result.details.get(name, "(unknown)")) for name in ("against", "judged_by")
        )
        table = tables.setdefault(_other_data(item, here), [])
        table.append((against, judged_by, measured_row(item, "single")))
    sections = [found for data, table in tables.items() for found in _by_opponent(table, data)]
    return Sections(sections=[*sections, *_of_one_critic(public)], messages=messages)


def _by_opponent(table: Sequence[tuple[str, str, BoardRow]], data: str) -> list[Section]:
    """Critics against the same other, by the same judge; published pairs without rivals left out.

    Names that differ in case or punctuation alone are the same.
    """
    found: dict[tuple[str, str], list[tuple[str, str, BoardRow]]] = {}
    for against, judged_by, row in table:
        key = (normalise_query(against), normalise_query(judged_by))
        found.setdefault(key, []).append((against, judged_by, row))
    return [
        _votes(rows[0][0], rows[0][1], [row for *_, row in rows], data)
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


def _votes(against: str, judged_by: str, rows: Sequence[BoardRow], more: str) -> Section:
    return Section(
        title=f"Critiques against those of {against}, judged by {_people(judged_by)}, in %{more}",
        figures=_VOTES,
        rows=tuple(rows),
    )


def _people(judged_by: str) -> str:
    return "people" if judged_by == "human" else judged_by


def _longer_critiques(cases: Sequence[Case]) -> tuple[list[BoardRow], list[str]]:
    if not cases:
        return [], []
    if not catalog.is_here("eval-c-reference"):
        _, messages = public_cases("eval-c-reference")
        return [], messages
    first = read_critiques(catalog.find("eval-c"), cases)
    second = read_critiques(catalog.find("eval-c-reference"), cases, _REFERENCE)
    return [longer_critique_row(first, second, cases)], []
