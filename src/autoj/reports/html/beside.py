"""Rows of several sources on the same queries: matched, and figures of how far they agree.

The first source is compared with each of the others. These are read before it and kept, and each of
their rows is taken by the row of the first one that has the same id and the same texts.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from autoj.errors import DataError
from autoj.metrics import Difference, Row, difference, holm
from autoj.metrics.base import mean, proportion
from autoj.metrics.rows import scored_row
from autoj.records import Case, Estimate
from autoj.reports import render
from autoj.reports.html.listing import PageTable
from autoj.reports.html.sections import Section
from autoj.tasks.diff import Against

_Row = TypeVar("_Row")
_MOST_NAMES = 12
"""The most names in a row of a cross-table."""
_OTHER_NAMES = "(other names)"


class OtherRows(Generic[_Row]):
    """The rows of a source that is compared with the first one.

    Args:
        name: the source's.
        path: its folder or file.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self._left: dict[str, list[tuple[bytes | None, _Row]]] = {}
        self._n = 0
        self.n_shared = 0
        """Rows that the first source has, too."""
        self._unmatched: Counter[str] = Counter()
        """Rows of the first source by their id, for which none of that id fitted."""
        self.n_relabelled = 0
        """Shared rows with two different labels."""

    def add(self, case_id: str, content: bytes | None, row: _Row) -> None:
        """Keeps a row; `content` is a digest of its texts, None where these are not known."""
        self._left.setdefault(case_id, []).append((content, row))
        self._n += 1

    def take(self, case_id: str, content: bytes | None) -> _Row | None:
        """The row of that id and content, which no other row gets; None where there is none."""
        its = self._left.get(case_id)
        if not its:
            return None
        for at, (stored, row) in enumerate(its):
            if stored is None or content is None or stored == content:
                del its[at]
                self.n_shared += 1
                return row
        self._unmatched[case_id] += 1
        return None

    def check_shares(self, first: Path) -> None:
        """Refuses a source without a row of the first one.

        Raises:
            DataError: it is one.
        """
        if self.n_shared == 0:
            what = f"has no query in common with {first}"
            if self.n_changed:
                what += f": {self.n_changed:,} have the same id and other texts"
            raise DataError(what, path=self.path, hint="Compare runs on the same data.")

    @property
    def n_changed(self) -> int:
        """Rows with an id of the first source and other texts."""
        return sum(min(n, len(self._left[case_id])) for case_id, n in self._unmatched.items())

    @property
    def n_alone(self) -> int:
        """Rows with an id that the first source lacks."""
        return self._n - self.n_shared - self.n_changed


def matching_banners(
    first: str, n_alone: int, others: Sequence[OtherRows[_Row]], labels: str
) -> Iterator[str]:
    """Sentences about rows that not all sources have, or that contradict each other.

    Args:
        first: the name of the first source.
        n_alone: its rows that no other one has.
        others: the others, matched.
        labels: what the rows state themselves, such as "scenarios".
    """
    if n_alone:
        yield f"Queries that {first} alone has: {n_alone:,}."
    for other in others:
        if other.n_alone:
            yield f"Queries of {other.name} that {first} lacks: {other.n_alone:,}."
    if n_alone or any(other.n_alone or other.n_changed for other in others):
        for other in others:
            yield f"Queries that {first} and {other.name} share: {other.n_shared:,}."
    for other in others:
        if other.n_relabelled:
            yield (
                f"The rows' own {labels} of {first} and {other.name} contradict each other; "
                f"queries: {other.n_relabelled:,}. Figures beside each other are by those of "
                f"{first}."
            )
    if n_changed := sum(other.n_changed for other in others):
        yield f"Queries with the same id and other texts, which are not compared: {n_changed:,}."


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedMeans:
    """Two sources' mean scores on the same queries."""

    one: Estimate
    other: Estimate
    difference: Difference
    """The first source's less the other's, query by query."""
    n_one: int
    """Queries on which the first one's score is higher."""
    n_other: int
    n_level: int


class PairedScores:
    """Scores that two sources have on the same queries, in the order in which they came."""

    def __init__(self) -> None:
        self.rows: tuple[list[Row], list[Row]] = ([], [])

    def add(self, case: Case, one: float | None, other: float | None) -> None:
        """Adds a query; one that a source has no score of, which is None, counts for neither."""
        if one is None or other is None:
            one = other = None
        for rows, score in zip(self.rows, (one, other), strict=True):
            rows.append(scored_row(case, score))

    @property
    def has_both(self) -> bool:
        """True where some query has scores of both sources."""
        return any(
            one.rating is not None and other.rating is not None
            for one, other in zip(*self.rows, strict=True)
        )

    def shares(self, name: str) -> Against:
        """Of scores that are 0 or 1: the two shares, and their paired difference."""
        counts = Counter(
            (row.rating, its.rating)
            for row, its in zip(*self.rows, strict=True)
            if row.rating is not None and its.rating is not None
        )
        one, other = (proportion(name, rows, rating) for rows in self.rows)
        return Against(
            one=one,
            other=other,
            difference=difference(name, *self.rows, rating, span=(0.0, 1.0)),
            both=counts[1.0, 1.0],
            one_alone=counts[1.0, 0.0],
            other_alone=counts[0.0, 1.0],
            neither=counts[0.0, 0.0],
        )

    def means(self, name: str) -> PairedMeans:
        """Of scores on any scale: the two means, and their paired difference."""
        signs = Counter(
            (row.rating > its.rating) - (row.rating < its.rating)
            for row, its in zip(*self.rows, strict=True)
            if row.rating is not None and its.rating is not None
        )
        one, other = (mean(name, rows, rating, span=None) for rows in self.rows)
        return PairedMeans(
            one=one,
            other=other,
            difference=difference(name, *self.rows, rating, span=None),
            n_one=signs[1],
            n_other=signs[-1],
            n_level=signs[0],
        )


def rating(row: Row) -> float | None:
    """A row's score."""
    return row.rating


def difference_cells(found: Mapping[str, Difference]) -> dict[str, tuple[str, str, str]]:
    """Paired differences by their tests' names: each with its interval, p, and p by Holm."""
    p_values = {name: its.p_value for name, its in found.items() if its.p_value is not None}
    corrected = holm(p_values)
    return {
        name: (
            render.estimate_cell(its.estimate, signed=True),
            render.p_value(its.p_value),
            render.p_value(corrected.get(name)),
        )
        for name, its in found.items()
    }


def against_section(first: str, known: Mapping[str, Against], title: str, note: str) -> Section:
    """The first source's and each other one's shares of what equals a label.

    Args:
        first: the name of the first source.
        known: by the names of the others.
        title: the section's.
        note: a sentence that says what is right.
    """
    cells = difference_cells({name: found.difference for name, found in known.items()})
    rows = tuple(
        (
            name,
            render.estimate_cell(found.one),
            render.estimate_cell(found.other),
            *cells[name],
            f"{found.both:,}",
            f"{found.one_alone:,}",
            f"{found.other_alone:,}",
            f"{found.neither:,}",
        )
        for name, found in known.items()
    )
    headings = (
        "run", f"{first}, %", "run, %", f"{first} less run, points", "p", "p (Holm)",
        "both right", f"only {first}", "only run", "neither",
    )  # fmt: skip
    return Section(title=title, note=note, tables=(PageTable(headings=headings, rows=rows),))


def cross_table(first: str, other: str, counts: Counter[tuple[str, str]]) -> PageTable:
    """Queries by the names that two sources gave them, the most frequent names first.

    Args:
        first: the name of the source whose names are the rows.
        other: that of the columns.
        counts: queries by (the first one's name, the other one's).
    """
    totals = Counter[str]()
    for names, n in counts.items():
        for name in names:
            totals[name] += n
    ordered = sorted(totals, key=lambda name: (-totals[name], name))
    if len(ordered) > _MOST_NAMES:
        kept = set(ordered[: _MOST_NAMES - 1])
        merged = Counter[tuple[str, str]]()
        for (one, its), n in counts.items():
            merged[one if one in kept else _OTHER_NAMES, its if its in kept else _OTHER_NAMES] += n
        counts, ordered = merged, [*ordered[: _MOST_NAMES - 1], _OTHER_NAMES]
    rows = tuple((one, *(f"{counts[one, its]:,}" for its in ordered)) for one in ordered)
    return PageTable(headings=(f"{first} \\ {other}", *ordered), rows=rows)
