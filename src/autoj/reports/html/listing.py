"""The rows of a page that holds no verdicts on pairs: queries, their picks, rows of a construction.

A row says itself by which values it is filtered and by which numbers it is ordered, so that one
script shows rows of every kind. Of many rows the page holds a sample, and the rest is beside it.
"""

import hashlib
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autoj.jsonl import encode
from autoj.reports.text import PageText, page_text


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """A table of texts; its first column names the rows."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_texts: int = 1
    """The first columns that hold words; numbers are aligned at their right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryText:
    """A text of a row with its heading, such as a response."""

    heading: str
    text: PageText
    chosen: bool = False
    """True for what was picked; its heading says so, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEntry:
    """A row of the list."""

    id: str
    """Unique within the page."""
    query: PageText | None
    summary: str
    """The line below its query in the list."""
    values: Mapping[str, tuple[str, ...]]
    """By filter, the values under which it is found."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """By order, a number that is large where it comes first."""
    tags: tuple[tuple[str, bool], ...] = ()
    """Words above it, each with True where it tells of a fault."""
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[PageTable, ...] = ()
    texts: tuple[EntryText, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilter:
    """A filter: a field that offers the values that the page's rows have."""

    name: str
    """A word of ours, unique within the page."""
    label: str
    words: Mapping[str, str] = field(default_factory=dict)
    """Values as they are shown, in their order; others stand for themselves, by the alphabet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The rows of a page with their filters and orders."""

    noun: str
    """Their name, such as "queries"."""
    filters: tuple[ListFilter, ...]
    orders: Mapping[str, str]
    """Per order, its words."""
    entries: Sequence[PageEntry]

    @property
    def offered(self) -> list[ListFilter]:
        """The filters that have something to choose."""
        return [each for each in self.filters if self.options(each)]

    def options(self, which: ListFilter) -> list[tuple[str, str]]:
        """The values that a filter offers, each in words with the number of its rows."""
        counts = Counter(value for entry in self.entries for value in entry.values[which.name])
        known = [value for value in which.words if value in counts]
        others = sorted(counts.keys() - set(known))
        return [
            (value, f"{which.words.get(value, value)} ({counts[value]:,})")
            for value in (*known, *others)
        ]

    def data(self) -> dict[str, Any]:
        """The data of the page's script."""
        return {
            "noun": self.noun,
            "filters": [each.name for each in self.offered],
            "orders": list(self.orders),
            "entries": self.entries,
        }


class CaseSample:
    """Chooses about a number of rows by a digest of their ids, the same ones each time."""

    def __init__(self, n_wanted: int, n_cases: int) -> None:
        self._below = 2**32 if n_cases <= n_wanted else int(2**32 * n_wanted / n_cases)

    def __call__(self, case_id: str) -> bool:
        """True for a row that the page holds."""
        return id_digest(case_id) < self._below


def id_digest(case_id: str) -> int:
    """A number of 32 bits that an id is drawn by."""
    digest = hashlib.blake2b(case_id.encode(errors="surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest)


class LeftRows:
    """The file of the rows that a page does not hold; it appears when it is whole.

    Args:
        page: the page's file, beside which it is; None keeps none of them.
    """

    def __init__(self, page: Path | None) -> None:
        self.path = None if page is None else page.with_suffix(".cases.jsonl")
        self.n = 0
        self._stream: io.BufferedWriter | None = None

    def add(self, row: Any) -> None:
        """Writes a row."""
        self.n += 1
        if self.path is None:
            return
        if self._stream is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self._draft(self.path).open("wb")
        self._stream.write(encode(row))

    def finish(self) -> None:
        """Puts the file in its place, or removes one of an earlier report."""
        if self.path is None:
            return
        if self._stream is None:
            self.path.unlink(missing_ok=True)
            return
        self._stream.close()
        self._draft(self.path).replace(self.path)

    def discard(self) -> None:
        """Removes what is not finished."""
        if self.path is not None and self._stream is not None:
            self._stream.close()
            self._draft(self.path).unlink(missing_ok=True)

    def banner(self, noun: str, n_held: int) -> list[str]:
        """A sentence that says where the rows are that the page does not hold."""
        if not self.n:
            return []
        others = f"the other {self.n:,} are "
        others += "not shown" if self.path is None else f"in {self.path.name}"
        return [
            f"The figures are of all {noun}. The page holds {n_held:,} of them, drawn at random by "
            f"their ids; {others}."
        ]

    @staticmethod
    def _draft(path: Path) -> Path:
        return path.with_name(f"{path.name}.draft")


def named_apart(entries: Sequence[PageEntry]) -> list[PageEntry]:
    """The rows with ids of their own: an equal one gets a number, so that a link finds each."""
    ids = apart([entry.id for entry in entries])
    return [replace(entry, id=its) for entry, its in zip(entries, ids, strict=True)]


def apart(names: Sequence[str]) -> list[str]:
    """Names of which no two are equal: a repeated one gets the next number that is free.

    >>> apart(["x", "x (2)", "x"])
    ['x', 'x (2)', 'x (3)']
    """
    taken, counts = set(names), Counter[str]()
    found = []
    for name in names:
        counts[name] += 1
        own = name
        while counts[name] > 1 and (own := f"{name} ({counts[name]})") in taken:
            counts[name] += 1
        taken.add(own)
        found.append(own)
    return found


def shown(text: str) -> str:
    """A short text of a run, as a page shows it."""
    return page_text(text).text
