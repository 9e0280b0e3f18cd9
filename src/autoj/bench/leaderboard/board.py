"""What a leaderboard is made of: rows of published, measured and trivial judges in sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from autoj.bench.published import Citation, Kind, Printed
from autoj.records import Estimate

__all__ = ["Board", "BoardRow", "Clearing", "Figure", "Parts", "Section", "Status"]

Status: TypeAlias = Literal["published", "computed", "measured", "trivial"]
"""Where a row is from: a publication; our arithmetic on a published table; a saved result of
`autoj bench`; a judge that reads nothing or only lengths, computed on the data itself."""

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
    """Whether a free choice, such as a tie threshold, was made on the test set itself."""
    figures: Mapping[str, Figure]
    parts: Parts = field(default_factory=dict)
    sources: tuple[Citation, ...]
    """The publications, or where the verdicts are from."""
    printed_as: str | None = None
    """The source's spelling of the judge, where it is another."""
    notes: tuple[str, ...] = ()
    """What must be known of this row, beyond its sources' notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Rows whose figures may be compared with each other."""

    title: str
    """What the figures of this section are, and on which data."""
    figures: tuple[str, ...]
    """The names of its columns, in order."""
    rows: tuple[BoardRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clearing:
    """Whether a measured judge is better than a trivial one."""

    judge: str
    source: str
    """Where the judge's verdicts are from."""
    trivial: str
    figure: str
    difference: Estimate | None
    """The judge's figure less the trivial one's on the same cases; None where the verdicts are not
    at hand and the two intervals were compared."""
    clears: bool
    """Whether it is higher beyond chance: the interval of the difference lies above 0, or the
    judge's own interval above the trivial judge's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The leaderboard of one meta-evaluation."""

    bench: str
    breakdown: str | None
    """What the columns are: parts of this breakdown, or figures where it is None."""
    sort: str
    """The figure that rows are sorted by and, with a breakdown, that its columns show."""
    sections: tuple[Section, ...]
    clearings: tuple[Clearing, ...] = ()
    messages: tuple[str, ...] = ()
    """What a reader must be told in words."""
