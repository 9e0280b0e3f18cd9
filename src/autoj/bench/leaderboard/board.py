"""The parts of a leaderboard: sections of rows of published, measured judges and baselines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from autoj.bench.published import Citation, Kind, Printed
from autoj.records import Estimate

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
